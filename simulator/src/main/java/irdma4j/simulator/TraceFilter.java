package irdma4j.simulator;

import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.Register;
import irdma4j.hwregs.Registers;
import irdma4j.simulator.wire.FrameSummary;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Chooses events. Written as terms between commas, all of which an event must meet:
 *
 * <ul>
 *   <li>{@code register}, {@code wqe}, ...: the event is of that {@link DeviceEvent.Kind}; of
 *       several, one is enough
 *   <li>{@code qp=N}: it is of that queue pair: its WQEs, completions, doorbells and asynchronous
 *       events, and frames whose BTH names it as their destination
 *   <li>{@code cq=N}: it is of that completion queue
 *   <li>{@code reg=NAME}: it is an access to a register whose name contains this
 *   <li>{@code sim=N}: it is of that function
 * </ul>
 */
public final class TraceFilter {
  private static final int ANY = -1;

  private final Set<DeviceEvent.Kind> kinds;
  private final int queuePair;
  private final int completionQueue;
  private final int function;
  private final String register;

  private TraceFilter(
      Set<DeviceEvent.Kind> kinds,
      int queuePair,
      int completionQueue,
      int function,
      String register) {
    this.kinds = kinds;
    this.queuePair = queuePair;
    this.completionQueue = completionQueue;
    this.function = function;
    this.register = register;
  }

  /**
   * Reads a filter.
   *
   * @throws IllegalArgumentException which says what is wrong with the text
   */
  public static TraceFilter parse(String text) {
    Set<DeviceEvent.Kind> kinds = EnumSet.noneOf(DeviceEvent.Kind.class);
    int queuePair = ANY;
    int completionQueue = ANY;
    int function = ANY;
    String register = "";
    for (String term : text.split(",", -1)) {
      int equals = term.indexOf('=');
      String name = equals < 0 ? term : term.substring(0, equals);
      String value = equals < 0 ? "" : term.substring(equals + 1);
      switch (equals < 0 ? "" : name) {
        case "" -> kinds.add(kind(term));
        case "qp" -> queuePair = number(term, value);
        case "cq" -> completionQueue = number(term, value);
        case "sim" -> function = number(term, value);
        case "reg" -> register = register(value);
        default ->
            throw new IllegalArgumentException(
                "'" + name + "' is none of qp, cq, sim and reg, which take a value");
      }
    }
    return new TraceFilter(kinds, queuePair, completionQueue, function, register);
  }

  private static DeviceEvent.Kind kind(String term) {
    for (DeviceEvent.Kind kind : DeviceEvent.Kind.values()) {
      if (kind.name().equalsIgnoreCase(term)) {
        return kind;
      }
    }
    throw new IllegalArgumentException(
        "'"
            + term
            + "' is no kind of event; there are "
            + Arrays.stream(DeviceEvent.Kind.values())
                .map(kind -> kind.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", ")));
  }

  private static int number(String term, String value) {
    try {
      return Integer.parseUnsignedInt(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + term + "': a number is expected", e);
    }
  }

  private static String register(String value) {
    String name = value.toUpperCase(Locale.ROOT);
    String array = name.replaceFirst("\\[.*", "");
    for (Register register : Registers.ALL) {
      if (!array.isEmpty() && register.name().contains(array)) {
        return name;
      }
    }
    throw new IllegalArgumentException("no register's name contains '" + value + "'");
  }

  /** Whether the filter passes an event of a function. */
  public boolean test(int ofFunction, DeviceEvent event) {
    return (kinds.isEmpty() || kinds.contains(event.kind()))
        && (function == ANY || function == ofFunction)
        && (queuePair == ANY || isOfQueuePair(event))
        && (completionQueue == ANY || isOfCompletionQueue(event))
        && (register.isEmpty() || isOfRegister(event));
  }

  private boolean isOfQueuePair(DeviceEvent event) {
    return switch (event) {
      case DeviceEvent.RegisterWrite e ->
          e.offset() == Registers.PFPE_WQEALLOC.offset()
              && Registers.WQEALLOC_QPID.decode(e.value()) == queuePair;
      case DeviceEvent.WqeFetched e ->
          e.ring() != DeviceEvent.Ring.CONTROL && e.queuePair() == queuePair;
      case DeviceEvent.CompletionWritten e ->
          e.queue() != 0 && Cqe.QPID.get(e.bytes(), 0) == queuePair;
      case DeviceEvent.AsyncEvent e -> e.source() != AeSource.CQ.code() && e.id() == queuePair;
      case DeviceEvent.FrameSent e -> FrameSummary.of(e.bytes()).destinationQp() == queuePair;
      case DeviceEvent.FrameReceived e -> FrameSummary.of(e.bytes()).destinationQp() == queuePair;
      default -> false;
    };
  }

  private boolean isOfCompletionQueue(DeviceEvent event) {
    return switch (event) {
      case DeviceEvent.RegisterWrite e ->
          (e.offset() == Registers.PFPE_CQARM.offset()
                  && Registers.CQARM_CQID.decode(e.value()) == completionQueue)
              || (e.offset() == Registers.PFPE_CQACK.offset()
                  && Registers.CQACK_CQID.decode(e.value()) == completionQueue);
      case DeviceEvent.CompletionWritten e -> e.queue() == completionQueue;
      case DeviceEvent.CompletionEvent e -> e.queue() == completionQueue;
      case DeviceEvent.AsyncEvent e ->
          e.source() == AeSource.CQ.code() && e.id() == completionQueue;
      default -> false;
    };
  }

  private boolean isOfRegister(DeviceEvent event) {
    return switch (event) {
      case DeviceEvent.RegisterRead e -> Registers.nameOf(e.offset()).contains(register);
      case DeviceEvent.RegisterWrite e -> Registers.nameOf(e.offset()).contains(register);
      default -> false;
    };
  }
}
