package irdma4j.simulator;

import irdma4j.hwregs.ControlCqe;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.Decoded;
import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.FpmQueryBuffer;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.Register;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CommitFpm;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.QueryFpm;
import irdma4j.simulator.device.Iommu;
import irdma4j.uapi.Bar;
import irdma4j.uapi.PciFunction;
import irdma4j.uapi.trace.DeviceTrace;
import irdma4j.uapi.trace.TraceException;
import irdma4j.uapi.trace.TraceLine;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Does to a simulated device what a trace says that a driver did to its own, and looks for the
 * first answer that is another.
 *
 * <p>A trace of a stepped simulation is replayed in the same virtual time with the same seed, so
 * that every answer, every byte that the device writes and the time of every action must agree. A
 * device that runs by itself has a time of its own: then a register may show its older value for a
 * while, an interrupt may come earlier or later, bytes that changed between two actions are the
 * device's if the simulated device wrote them and the driver's otherwise, and what a device keeps
 * in its Host Memory Cache is its own business.
 */
public final class Replay {
  /** How long a device that runs by itself is waited for, in nanoseconds of virtual time. */
  private static final long PATIENCE = 100_000_000;

  private static final long STEP = 10_000;

  /** In this time a device does what a register write asks of it at once. */
  private static final long REACTION = 1_000;

  private static final int CONTEXT = 8;
  private static final int STRUCTURES = 1024;
  private static final int SHOWN = 32;
  private static final int DEVICE_LINE = 2;

  private final DeviceTrace trace;
  private final boolean exact;
  private final Simulation simulation;
  private final List<ReplayedHost> hosts = new ArrayList<>();
  private final List<TraceLine.DeviceBytes> shown = new ArrayList<>();
  private final ArrayDeque<String> recent = new ArrayDeque<>();
  private final LinkedHashMap<Place, Structure> structures = new LinkedHashMap<>();
  private final Map<Place, Owed> owed = new TreeMap<>();
  private final Map<Place, Integer> early = new HashMap<>();
  private long start = Long.MIN_VALUE;
  private int lastAction;

  /**
   * The first difference.
   *
   * @param line of the trace
   * @param what was compared, with the hardware's names
   * @param expected what the trace says
   * @param got what the simulated device did
   * @param before what the simulated device did last, as lines of a {@link TextTrace}
   */
  public record Difference(
      int line, String what, String expected, String got, List<String> before) {
    /** Keeps a copy of the list. */
    public Difference {
      before = List.copyOf(before);
    }
  }

  /**
   * How it ended.
   *
   * @param exact whether the trace is of a stepped simulation
   * @param actions how many actions of the driver were replayed
   * @param difference the first, or null if there is none
   */
  public record Outcome(boolean exact, int actions, @Nullable Difference difference) {}

  /** An offset in BAR 0 or an IOVA of a function, or one of its vectors. */
  private record Place(int function, long at) implements Comparable<Place> {
    @Override
    public int compareTo(Place other) {
      int byFunction = Integer.compare(function, other.function);
      return byFunction != 0 ? byFunction : Long.compare(at, other.at);
    }
  }

  private record Structure(Layout layout, String name) {}

  /** An answer that the trace's device still owes, since the simulated one has given it. */
  private record Owed(int line, String what, String expected, String got) {}

  /** Leads from where a difference was found to the end. */
  private static final class Found extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient Difference difference;

    Found(Difference difference) {
      super(difference.what, null, false, false);
      this.difference = difference;
    }
  }

  private Replay(DeviceTrace trace, Simulation.Builder described, boolean exact) {
    this.trace = trace;
    this.exact = exact;
    this.simulation =
        described.functions(trace.functions()).stepped().iovaBase(0).watch(this::happened).build();
    for (int i = 0; i < trace.functions(); i++) {
      hosts.add(new ReplayedHost(simulation.simulated(i), exact));
    }
  }

  /**
   * Replays a trace.
   *
   * @param card what the simulated card says of itself, if the trace is not of a simulated one
   * @throws TraceException if the trace describes a simulation that there cannot be, or maps memory
   *     where the simulator has no addresses; nothing was done then
   */
  public static Outcome run(DeviceTrace trace, CardProfile card) {
    Replay replay = of(trace, card);
    try {
      return replay.run();
    } finally {
      replay.hosts.forEach(ReplayedHost::close);
      replay.simulation.close();
    }
  }

  private static void checkAddresses(DeviceTrace trace) {
    for (TraceLine line : trace.lines()) {
      if (line instanceof TraceLine.Map map) {
        for (long page : map.pages()) {
          if (page < 0 || page >= (long) Iommu.PAGES * Iommu.PAGE) {
            throw new TraceException(
                map.number(),
                "IOVA 0x%x: the simulator maps addresses below 1 TiB".formatted(page));
          }
        }
      }
    }
  }

  private static Replay of(DeviceTrace trace, CardProfile card) {
    checkAddresses(trace);
    try {
      SimulationDescription described = SimulationDescription.parse(trace.device());
      return described == null
          ? new Replay(trace, Simulation.builder().profile(card), false)
          : new Replay(trace, described.builder(), described.stepped());
    } catch (IllegalArgumentException e) {
      throw new TraceException(DEVICE_LINE, "device: " + e.getMessage());
    }
  }

  private Outcome run() {
    int actions = 0;
    try {
      for (TraceLine line : trace.lines()) {
        if (line instanceof TraceLine.Action action) {
          settle();
          begin(action);
          act(action);
          lastAction = action.number();
          actions++;
        } else {
          memory(line);
        }
      }
      settle();
      if (!owed.isEmpty()) {
        Owed first = owed.values().iterator().next();
        throw found(first.line, first.what, first.expected, first.got);
      }
      for (ReplayedHost host : hosts) {
        checkAll(host);
      }
      return new Outcome(exact, actions, null);
    } catch (Found found) {
      return new Outcome(exact, actions, found.difference);
    }
  }

  private Found found(int line, String what, String expected, String got) {
    return new Found(new Difference(line, what, expected, got, List.copyOf(recent)));
  }

  // What the simulated device does.

  private void happened(long nanos, int function, DeviceEvent event) {
    switch (event) {
      case DeviceEvent.HostWrite write -> hosts.get(function).wrote(write.iova(), write.bytes());
      case DeviceEvent.HostRead _, DeviceEvent.ObjectTranslated _ -> {}
      case DeviceEvent.CompletionWritten completion -> {
        Layout layout = completion.queue() == 0 ? ControlCqe.LAYOUT : Cqe.LAYOUT;
        know(function, completion.iova(), layout, "completion of CQ " + completion.queue());
        remember(nanos, function, event);
      }
      case DeviceEvent.WqeFetched wqe -> {
        if (wqe.ring() == DeviceEvent.Ring.CONTROL) {
          switch (CqpCommand.decode(wqe.bytes(), 0)) {
            case QueryFpm query ->
                know(function, query.bufferAddress(), FpmQueryBuffer.LAYOUT, "answer of QUERY_FPM");
            case CommitFpm commit ->
                know(
                    function,
                    commit.bufferAddress(),
                    FpmCommitBuffer.LAYOUT,
                    "answer of COMMIT_FPM");
            case null, default -> {}
          }
        }
        remember(nanos, function, event);
      }
      default -> remember(nanos, function, event);
    }
  }

  private void know(int function, long iova, Layout layout, String name) {
    if (structures.size() == STRUCTURES) {
      structures.pollFirstEntry();
    }
    structures.putLast(new Place(function, iova), new Structure(layout, name));
  }

  private void remember(long nanos, int function, DeviceEvent event) {
    if (recent.size() == CONTEXT) {
      recent.removeFirst();
    }
    recent.add(TextTrace.line(nanos, function, event));
  }

  // Actions.

  private void begin(TraceLine.Action action) {
    PciFunction function = hosts.get(action.function()).function;
    if (exact) {
      if (function.clock().nanos() != action.nanos()) {
        throw found(
            action.number(),
            "time of this action",
            action.nanos() + " ns",
            function.clock().nanos() + " ns");
      }
      return;
    }
    if (start == Long.MIN_VALUE) {
      start = action.nanos() - function.clock().nanos();
    }
    long behind = action.nanos() - start - function.clock().nanos();
    if (behind > 0) {
      simulation.advance(behind);
    }
  }

  private void act(TraceLine.Action action) {
    ReplayedHost host = hosts.get(action.function());
    PciFunction function = host.function;
    try {
      switch (action) {
        case TraceLine.Write write -> {
          write(function.bar(0), write);
          if (!exact) {
            // The driver has seen no sign yet, but it may go by what it sees in memory next.
            simulation.advance(REACTION);
          }
        }
        case TraceLine.Read read -> read(function.bar(0), read);
        case TraceLine.Pause pause -> function.clock().pause(pause.duration());
        case TraceLine.Await await -> await(function, await);
        case TraceLine.Fired fired -> fired(function, fired);
        case TraceLine.Vectors vectors -> {
          if (vectors.count() == 0) {
            function.interrupts().disable();
          } else {
            function.interrupts().enable(vectors.count());
          }
        }
        case TraceLine.BusMaster master -> function.setBusMaster(master.enabled());
        case TraceLine.Reset _ -> function.reset();
        case TraceLine.Close _ -> {
          checkAll(host);
          host.close();
        }
      }
    } catch (IndexOutOfBoundsException | IllegalArgumentException | IllegalStateException e) {
      throw found(
          action.number(),
          "the simulated function refuses this action",
          "done",
          String.valueOf(e.getMessage()));
    }
  }

  private static void write(Bar bar, TraceLine.Write write) {
    if (write.width() == 64) {
      bar.write64(write.offset(), write.value());
    } else {
      bar.write32(write.offset(), (int) write.value());
    }
  }

  private static long value(Bar bar, TraceLine.Read read) {
    return read.width() == 64
        ? bar.read64(read.offset())
        : Integer.toUnsignedLong(bar.read32(read.offset()));
  }

  private void read(Bar bar, TraceLine.Read read) {
    long got = value(bar, read);
    Place place = new Place(read.function(), read.offset());
    Long before = host(read).lastRead.put(read.offset(), read.value());
    owed.remove(place);
    if (got == read.value()) {
      return;
    }
    if (!exact) {
      if (before != null && before == read.value()) {
        owed.put(
            place,
            new Owed(read.number(), register(read), show(read, read.value()), show(read, got)));
        return;
      }
      long end = hosts.get(read.function()).function.clock().nanos() + PATIENCE;
      while (hosts.get(read.function()).function.clock().nanos() < end) {
        simulation.advance(STEP);
        got = value(bar, read);
        if (got == read.value()) {
          return;
        }
      }
    }
    throw found(read.number(), register(read), show(read, read.value()), show(read, got));
  }

  private ReplayedHost host(TraceLine line) {
    return hosts.get(line.function());
  }

  private static String register(TraceLine.Read read) {
    return "register %s at 0x%x".formatted(Registers.nameOf((int) read.offset()), read.offset());
  }

  private static String show(TraceLine.Read read, long value) {
    Register register = Registers.at((int) read.offset());
    String fields =
        register == null || register.fields().isEmpty() || read.width() == 64
            ? ""
            : Decoded.of(register, register.name(), (int) value).line();
    return "0x%x".formatted(value) + (fields.isEmpty() ? "" : "  " + fields);
  }

  private void await(PciFunction function, TraceLine.Await await) {
    boolean fired =
        await.timeout() == 0
            ? function.interrupts().poll(await.vector())
            : function.interrupts().await(await.vector(), await.timeout());
    if (fired == await.fired()) {
      return;
    }
    if (!exact) {
      Place place = new Place(await.function(), await.vector());
      if (fired) {
        early.merge(place, 1, Integer::sum);
        return;
      }
      if (early.getOrDefault(place, 0) > 0) {
        early.merge(place, -1, Integer::sum);
        return;
      }
      if (function.interrupts().await(await.vector(), PATIENCE)) {
        return;
      }
    }
    throw found(
        await.number(),
        "interrupt of vector " + await.vector(),
        await.fired() ? "fired" : "quiet",
        fired ? "fired" : "quiet");
  }

  private void fired(PciFunction function, TraceLine.Fired fired) {
    long got = function.interrupts().fired(fired.vector());
    if (exact && got != fired.count()) {
      throw found(
          fired.number(),
          "how often vector " + fired.vector() + " has fired",
          Long.toString(fired.count()),
          Long.toString(got));
    }
  }

  // Memory.

  private void memory(TraceLine line) {
    switch (line) {
      case TraceLine.Map map -> {
        settle();
        host(map).map(map);
      }
      case TraceLine.Unmap unmap -> {
        settle();
        ReplayedMemory memory = host(unmap).memory(unmap.id());
        if (!exact) {
          checkAll(host(unmap), memory);
        }
        host(unmap).unmap(unmap.id());
      }
      case TraceLine.HostBytes bytes -> {
        settle();
        hostBytes(host(bytes), bytes);
      }
      case TraceLine.DeviceBytes bytes -> {
        host(bytes).memory(bytes.id()).deviceWrote(bytes.offset(), bytes.bytes());
        shown.add(bytes);
      }
      case TraceLine.Action _ -> throw new IllegalStateException("an action is no memory");
    }
  }

  /**
   * What the trace's device wrote during an action has been read as a whole: the simulated device
   * must have written it; and in an exact replay nothing else.
   */
  private void settle() {
    for (TraceLine.DeviceBytes bytes : shown) {
      compare(host(bytes), bytes);
    }
    shown.clear();
    if (!exact) {
      return;
    }
    for (ReplayedHost host : hosts) {
      for (ReplayedHost.Range range : host.takeWritten()) {
        ReplayedMemory memory = range.memory();
        long at = memory.firstDifference(range.offset(), range.bytes());
        if (at >= 0) {
          throw differs(lastAction, host, memory, at, "the device also wrote ");
        }
      }
    }
  }

  private void hostBytes(ReplayedHost host, TraceLine.HostBytes line) {
    ReplayedMemory memory = host.memory(line.id());
    if (exact) {
      memory.hostWrote(line.offset(), line.bytes());
      return;
    }
    long wrong = memory.hostOrDeviceWrote(line.offset(), line.bytes());
    if (wrong >= 0 && !host.isObject(memory.iova(wrong))) {
      throw differs(line.number(), host, memory, wrong, "");
    }
  }

  private void compare(ReplayedHost host, TraceLine.DeviceBytes line) {
    ReplayedMemory memory = host.memory(line.id());
    long bytes = line.bytes().byteSize();
    long end = host.function.clock().nanos() + (exact ? 0 : PATIENCE);
    long wrong = memory.firstDifference(line.offset(), bytes);
    while (wrong >= 0
        && !(host.isObject(memory.iova(wrong)) && !exact)
        && host.function.clock().nanos() < end) {
      simulation.advance(STEP);
      wrong = memory.firstDifference(line.offset(), bytes);
    }
    if (wrong >= 0 && (exact || !host.isObject(memory.iova(wrong)))) {
      throw differs(line.number(), host, memory, wrong, "");
    }
  }

  /** What the simulated device wrote must have come by the end. */
  private void checkAll(ReplayedHost host) {
    if (!exact) {
      host.memories().forEach(memory -> checkAll(host, memory));
    }
  }

  private void checkAll(ReplayedHost host, ReplayedMemory memory) {
    long at = 0;
    while (at < memory.bytes()) {
      long wrong = memory.firstDifference(at, memory.bytes() - at);
      if (wrong < 0) {
        return;
      }
      if (!host.isObject(memory.iova(wrong))) {
        throw differs(lastAction, host, memory, wrong, "the trace never shows ");
      }
      at = (wrong & -Iommu.PAGE) + Iommu.PAGE;
    }
  }

  private Found differs(
      int line, ReplayedHost host, ReplayedMemory memory, long offset, String prefix) {
    long iova = memory.iova(offset);
    int index = hosts.indexOf(host);
    for (Map.Entry<Place, Structure> entry : structures.entrySet()) {
      Place place = entry.getKey();
      Layout layout = entry.getValue().layout;
      long from = place.at - iova + offset;
      if (place.function == index
          && iova >= place.at
          && iova < place.at + layout.size()
          && from >= 0
          && from + layout.size() <= memory.bytes()) {
        Decoded expected = Decoded.of(layout, memory.expected(from, layout.size()), layout.size());
        Decoded got = Decoded.of(layout, memory.got(from, layout.size()), layout.size());
        return found(
            line,
            "%s%s, %s at 0x%x".formatted(prefix, entry.getValue().name, layout.name(), place.at),
            other(expected, got),
            other(got, expected));
      }
    }
    long from = offset & -Long.BYTES;
    long shownBytes = Math.min(SHOWN, memory.bytes() - from);
    return found(
        line,
        "%smemory %d of sim:%d at 0x%x, IOVA 0x%x"
            .formatted(prefix, memory.id(), index, offset, iova),
        words(memory.expected(from, shownBytes)),
        words(memory.got(from, shownBytes)));
  }

  /** The fields whose values are not those of the other. */
  private static String other(Decoded one, Decoded other) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < one.values().size(); i++) {
      Decoded.Value value = one.values().get(i);
      if (value.value() != other.values().get(i).value()) {
        text.append(text.isEmpty() ? "" : " ")
            .append(String.format(Locale.ROOT, "%s=0x%x", value.field().name(), value.value()))
            .append(value.says().isEmpty() ? "" : " (" + value.says() + ")");
      }
    }
    return text.isEmpty() ? one.line() : text.toString();
  }

  private static String words(MemorySegment bytes) {
    StringBuilder text = new StringBuilder();
    for (long at = 0; at < bytes.byteSize(); at += Long.BYTES) {
      text.append(at == 0 ? "" : " ").append("%016x".formatted(LittleEndian.getLong(bytes, at)));
    }
    return text.toString();
  }
}
