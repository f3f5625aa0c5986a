package irdma4j.simulator;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.ControlCqe;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.Decoded;
import irdma4j.hwregs.ExtendedCqe;
import irdma4j.hwregs.Register;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.RqWqe;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.simulator.wire.FrameSummary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Writes each event as a line for people: the simulation's time in microseconds, the function, the
 * kind, and the event with the hardware's names for what is in it.
 *
 * <pre>
 *      41.000  sim:0  register     write PFPE_CQPDB = 0x5
 *      41.000  sim:0  wqe          control slot 4 cqp/create-cq: OPCODE=0x3 (CREATE_CQ) ...
 * </pre>
 *
 * <p>An error of the target does not disturb the simulation: writing stops there, and {@link
 * #check} throws it.
 */
public final class TextTrace implements DeviceWatcher {
  private final Appendable out;
  private final List<TraceFilter> filters;
  private volatile boolean failed;
  private IOException failure = new IOException();

  /**
   * A trace.
   *
   * @param out takes the lines
   * @param filters an event that one of them passes is written; none passes all
   */
  public TextTrace(Appendable out, List<TraceFilter> filters) {
    this.out = out;
    this.filters = List.copyOf(filters);
  }

  @Override
  public void event(long nanos, int function, DeviceEvent event) {
    if (failed
        || (!filters.isEmpty() && filters.stream().noneMatch(f -> f.test(function, event)))) {
      return;
    }
    try {
      out.append(line(nanos, function, event) + '\n');
    } catch (IOException e) {
      failure = e;
      failed = true;
    }
  }

  /**
   * Fails if a line could not be written; once the simulation is closed.
   *
   * @throws UncheckedIOException the first error of the target
   */
  public void check() {
    if (failed) {
      throw new UncheckedIOException(failure);
    }
  }

  static String line(long nanos, int function, DeviceEvent event) {
    return String.format(
        Locale.ROOT,
        "%11d.%03d  sim:%d  %-11s  %s",
        nanos / 1000,
        nanos % 1000,
        function,
        event.kind().name().toLowerCase(Locale.ROOT),
        text(event));
  }

  private static String text(DeviceEvent event) {
    return switch (event) {
      case DeviceEvent.RegisterRead e -> "read  " + register(e.offset(), e.value());
      case DeviceEvent.RegisterWrite e -> "write " + register(e.offset(), e.value());
      case DeviceEvent.ControlDone e ->
          "slot %d %s: %s"
              .formatted(
                  e.index(),
                  name(CqpOpcode.of(e.opcode()), e.opcode()),
                  e.major() == 0 && e.minor() == 0
                      ? "done, value 0x%x".formatted(e.value())
                      : "refused, major 0x%x minor 0x%x".formatted(e.major(), e.minor()));
      case DeviceEvent.WqeFetched e -> wqe(e);
      case DeviceEvent.RegionTranslated e ->
          "stag 0x%x address 0x%x + %d -> %s"
              .formatted(e.stag(), e.address(), e.bytes(), iova(e.iova()));
      case DeviceEvent.ObjectTranslated e ->
          "FPM 0x%x -> %s".formatted(e.address(), iova(e.iova()));
      case DeviceEvent.HostRead e -> "read  0x%x + %d".formatted(e.iova(), e.bytes());
      case DeviceEvent.HostWrite e -> "write 0x%x + %d".formatted(e.iova(), e.bytes());
      case DeviceEvent.HostRefused e ->
          "%s 0x%x refused: not mapped".formatted(e.write() ? "write" : "read ", e.iova());
      case DeviceEvent.FrameSent e -> "sent     " + frame(e.bytes());
      case DeviceEvent.FrameReceived e -> "received " + frame(e.bytes());
      case DeviceEvent.CompletionWritten e -> completion(e);
      case DeviceEvent.CompletionEvent e -> "CEQ %d: CQ %d".formatted(e.eventQueue(), e.queue());
      case DeviceEvent.AsyncEvent e ->
          "AEQ: %s from %s, id %d, WQE %d, context 0x%x%s"
              .formatted(
                  name(AeCode.of(e.code()), e.code()),
                  name(AeSource.of(e.source()), e.source()),
                  e.id(),
                  e.wqeIndex(),
                  e.context(),
                  e.written() ? "" : ", lost: the queue is full");
      case DeviceEvent.Interrupt e -> "MSI-X vector %d".formatted(e.vector());
    };
  }

  private static String register(int offset, int value) {
    String name = Registers.nameOf(offset);
    String text = "%s = 0x%x".formatted(name, value);
    Register register = Registers.at(offset);
    if (register == null || register.fields().isEmpty() || value == 0) {
      return text;
    }
    return text + "  " + Decoded.of(register, name, value).line();
  }

  private static String wqe(DeviceEvent.WqeFetched event) {
    MemorySegment bytes = event.bytes();
    int size = (int) bytes.byteSize();
    Decoded decoded =
        switch (event.ring()) {
          case CONTROL -> Decoded.controlWqe(bytes);
          case SEND -> Decoded.sendWqe(bytes, size);
          case RECEIVE -> Decoded.of(RqWqe.LAYOUT, bytes, size);
        };
    String where =
        switch (event.ring()) {
          case CONTROL -> "slot %d".formatted(event.index());
          case SEND -> "QP %d SQ[%d]".formatted(event.queuePair(), event.index());
          case RECEIVE -> "QP %d RQ[%d]".formatted(event.queuePair(), event.index());
        };
    return where
        + (event.pushed() ? " pushed " : " ")
        + (decoded == null ? "unknown opcode" : decoded.kind() + ": " + decoded.line());
  }

  private static String completion(DeviceEvent.CompletionWritten event) {
    MemorySegment bytes = event.bytes();
    String first =
        Decoded.of(event.queue() == 0 ? ControlCqe.LAYOUT : Cqe.LAYOUT, bytes, Cqe.SIZE).line();
    String second =
        bytes.byteSize() == Cqe.SIZE
            ? ""
            : " | "
                + Decoded.of(ExtendedCqe.LAYOUT, bytes.asSlice(Cqe.SIZE), ExtendedCqe.LAYOUT.size())
                    .line();
    return "CQ %d at 0x%x: ".formatted(event.queue(), event.iova()) + first + second;
  }

  private static String frame(MemorySegment bytes) {
    FrameSummary frame = FrameSummary.of(bytes);
    if (frame.destinationQp() < 0) {
      return "%s %s > %s, %d bytes"
          .formatted(frame.opcode(), frame.source(), frame.destination(), frame.payload());
    }
    return "%s %s > %s QP %d PSN %d payload %d%s"
        .formatted(
            frame.opcode(),
            frame.source(),
            frame.destination(),
            frame.destinationQp(),
            frame.psn(),
            frame.payload(),
            frame.more().isEmpty() ? "" : ": " + frame.more());
  }

  private static String iova(long iova) {
    return iova == -1 ? "nothing" : "0x%x".formatted(iova);
  }

  private static String name(@Nullable Object known, int code) {
    return known == null ? "0x%x".formatted(code) : known.toString();
  }
}
