package irdma4j.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.Gid;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaDevice;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.SqWqe;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.RoceFrame;
import irdma4j.uapi.DmaPlacement;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a function sees and does reaches watchers, the text trace and Flight Recorder. */
class WatchTest {
  private static final int BYTES = 12;
  private static final long WR_ID = 7;

  private record Seen(long nanos, int function, DeviceEvent event) {}

  /** A queue pair that is connected with another of the same function. */
  private static QueuePair connected(
      RdmaDevice device, ProtectionDomain domain, CompletionQueue queue) {
    var left = domain.createQueuePair(QueuePairConfig.of(queue));
    var right = domain.createQueuePair(QueuePairConfig.of(queue));
    var gid = Gid.of("10.0.0.1");
    left.connect(RcPath.of(gid, gid, device.macAddress(), right.qpn(), 1, 2));
    right.connect(RcPath.of(gid, gid, device.macAddress(), left.qpn(), 2, 1));
    return left;
  }

  /** Two queue pairs of one function; the one writes into the other's region. */
  private static FunctionStatistics write(Simulation.Builder described) {
    Simulation simulation = described.functions(1).seed(1).stepped().build();
    try (simulation;
        var device = RdmaDevice.open(simulation.function(0));
        var memory = device.allocateMemory(8192, DmaPlacement.SCATTERED)) {
      var domain = device.allocateProtectionDomain();
      var region = domain.registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
      var queue = device.createCompletionQueue(16);
      var left = connected(device, domain, queue);
      long from = region.address();
      queue.arm();
      left.postWrite(
          WR_ID, region.lkey(), from, BYTES, from + 4096, region.rkey(), QueuePair.SIGNALED);
      left.ring();
      for (var done = new Completion(); !queue.poll(done); ) {
        device.function().clock().pause(1000);
      }
    }
    return simulation.statistics(0);
  }

  private static List<Seen> seen() {
    List<Seen> seen = new ArrayList<>();
    write(
        Simulation.builder()
            .watch((nanos, function, event) -> seen.add(new Seen(nanos, function, event))));
    return seen;
  }

  private static <T extends DeviceEvent> List<T> of(List<Seen> seen, Class<T> type) {
    return seen.stream().map(Seen::event).filter(type::isInstance).map(type::cast).toList();
  }

  /** Fails if one of the places where the device counts something does not report it. */
  @Test
  void eachEventIsToldOnce() {
    List<Seen> seen = new ArrayList<>();
    FunctionStatistics counted =
        write(
            Simulation.builder()
                .watch((nanos, function, event) -> seen.add(new Seen(nanos, function, event))));
    assertEquals(counted.framesSent(), of(seen, DeviceEvent.FrameSent.class).size());
    assertEquals(counted.framesReceived(), of(seen, DeviceEvent.FrameReceived.class).size());
    assertEquals(counted.completions(), of(seen, DeviceEvent.CompletionWritten.class).size());
    assertEquals(counted.completionEvents(), of(seen, DeviceEvent.CompletionEvent.class).size());
    assertEquals(counted.interrupts(), of(seen, DeviceEvent.Interrupt.class).size());
    assertEquals(counted.controlOperations(), of(seen, DeviceEvent.ControlDone.class).size());
    List<DeviceEvent.RegisterWrite> writes = of(seen, DeviceEvent.RegisterWrite.class);
    assertEquals(
        counted.doorbells(),
        writes.stream().filter(e -> e.offset() == Registers.PFPE_WQEALLOC.offset()).count());
    assertEquals(
        counted.controlOperations() + counted.sendWqes() + counted.receiveWqes(),
        of(seen, DeviceEvent.WqeFetched.class).size());
    assertTrue(of(seen, DeviceEvent.RegisterRead.class).size() > 4);
    assertEquals(0, of(seen, DeviceEvent.HostRefused.class).size());
    for (int i = 1; i < seen.size(); i++) {
      assertTrue(seen.get(i - 1).nanos() <= seen.get(i).nanos(), "time goes back at event " + i);
    }
  }

  /** Fails if the bytes are not the WQE's and the completion's, or an address is wrong. */
  @Test
  void theWriteCanBeFollowed() {
    List<Seen> seen = seen();
    DeviceEvent.WqeFetched wqe =
        of(seen, DeviceEvent.WqeFetched.class).stream()
            .filter(e -> e.ring() == DeviceEvent.Ring.SEND)
            .findFirst()
            .orElseThrow();
    assertEquals(SqOpcode.RDMA_WRITE.code(), SqWqe.OPCODE.get(wqe.bytes(), 0));
    assertEquals(BYTES, SqWqe.FRAG_LEN.get(wqe.bytes(), 0));
    List<DeviceEvent.RegionTranslated> translated = of(seen, DeviceEvent.RegionTranslated.class);
    assertEquals(2, translated.size());
    DeviceEvent.RegionTranslated read = translated.get(0);
    DeviceEvent.RegionTranslated written = translated.get(1);
    assertEquals(SqWqe.FRAG_TO.get(wqe.bytes(), 0), read.address());
    assertEquals(read.address() + 4096, written.address());
    assertTrue(
        of(seen, DeviceEvent.HostRead.class)
            .contains(new DeviceEvent.HostRead(read.iova(), BYTES)));
    assertTrue(
        of(seen, DeviceEvent.HostWrite.class)
            .contains(new DeviceEvent.HostWrite(written.iova(), BYTES)));
    DeviceEvent.CompletionWritten completion =
        of(seen, DeviceEvent.CompletionWritten.class).stream()
            .filter(e -> e.queue() != 0)
            .findFirst()
            .orElseThrow();
    assertEquals(wqe.queuePair(), Cqe.QPID.get(completion.bytes(), 0));
    assertEquals(wqe.index(), Cqe.WQEIDX.get(completion.bytes(), 0));
    assertThrows(
        IllegalArgumentException.class, () -> completion.bytes().fill((byte) 0), "not a copy");
  }

  /** The lines of one run for each set of filters. */
  private static List<List<String>> traces(List<List<String>> filters) {
    List<StringBuilder> texts = new ArrayList<>();
    Simulation.Builder builder = Simulation.builder();
    for (List<String> set : filters) {
      texts.add(new StringBuilder());
      builder.watch(new TextTrace(texts.getLast(), set.stream().map(TraceFilter::parse).toList()));
    }
    write(builder);
    return texts.stream().map(text -> text.toString().lines().toList()).toList();
  }

  /** Fails if a line lacks the hardware's names, or a filter passes what it should not. */
  @Test
  void theTextNamesThingsAndFiltersChoose() {
    List<List<String>> traces =
        traces(
            List.of(
                List.of(),
                List.of("wqe"),
                List.of("frame,completion"),
                List.of("reg=dyn_ctl"),
                List.of("sim=1"),
                List.of("wqe", "frame"),
                List.of("qp=3,wqe,register,completion")));
    List<String> all = traces.getFirst();
    assertTrue(all.stream().anyMatch(line -> line.contains("write PFPE_CQPDB = 0x1")));
    assertTrue(all.stream().anyMatch(line -> line.contains("sq/write: ")));
    assertTrue(all.stream().anyMatch(line -> line.contains("cqp/create-qp: ")));
    assertTrue(all.stream().anyMatch(line -> line.contains("sent     WRITE_ONLY 10.0.0.1 > ")));
    List<Predicate<String>> expected =
        List.of(
            line -> line.contains("  wqe "),
            line -> line.contains("  frame ") || line.contains("  completion "),
            line -> line.contains("DYN_CTL"),
            line -> false,
            line -> line.contains("  wqe ") || line.contains("  frame "));
    for (int i = 0; i < expected.size(); i++) {
      List<String> chosen = all.stream().filter(expected.get(i)).toList();
      assertEquals(String.join("\n", chosen), String.join("\n", traces.get(i + 1)));
      assertEquals(i == 3, chosen.isEmpty());
    }
    List<String> ofOne = traces.getLast();
    assertEquals(
        List.of("register", "wqe", "completion"),
        ofOne.stream().map(line -> line.strip().split("\\s+", -1)[2]).distinct().toList(),
        ofOne.toString());
    assertTrue(ofOne.stream().noneMatch(line -> line.contains("QP 4 ")), ofOne.toString());
  }

  @Test
  void aWrongFilterSaysWhy() {
    for (String text : List.of("wq", "qp=x", "foo=1", "reg=NOTHING", "", "wqe,,frame")) {
      String message =
          assertThrows(IllegalArgumentException.class, () -> TraceFilter.parse(text), text)
              .getMessage();
      assertFalse(message.isEmpty());
    }
  }

  /** Fails if an error of the file stops the simulation, or is forgotten. */
  @Test
  void aFullDiskDoesNotDisturbTheDevice() {
    Appendable full =
        new Appendable() {
          private int lines;

          @Override
          public Appendable append(CharSequence text) throws IOException {
            if (++lines > 3) {
              throw new IOException("no space left");
            }
            return this;
          }

          @Override
          public Appendable append(CharSequence text, int start, int end) throws IOException {
            return append(text);
          }

          @Override
          public Appendable append(char one) throws IOException {
            return append(String.valueOf(one));
          }
        };
    TextTrace trace = new TextTrace(full, List.of());
    write(Simulation.builder().watch(trace));
    assertThrows(UncheckedIOException.class, trace::check);
  }

  /** Fails if a kind of event is not recorded, or one that nobody asked for is. */
  @Test
  void flightRecorderHasTheSameEvents(@TempDir Path folder) throws IOException {
    List<String> names = List.of("irdma4j.RegisterWrite", "irdma4j.WqeFetch", "irdma4j.FrameSent");
    assertTrue(Simulation.flightEvents().containsAll(names));
    Path file = folder.resolve("device.jfr");
    FunctionStatistics counted;
    try (Recording recording = new Recording()) {
      names.forEach(recording::enable);
      recording.start();
      counted = write(Simulation.builder());
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events =
        RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().startsWith("irdma4j."))
            .toList();
    assertEquals(
        Set.copyOf(names),
        events.stream().map(e -> e.getEventType().getName()).collect(Collectors.toSet()));
    List<RecordedEvent> frames =
        events.stream().filter(e -> e.getEventType().getName().endsWith("FrameSent")).toList();
    assertEquals(counted.framesSent(), frames.size());
    assertEquals("WRITE_ONLY", frames.getFirst().getString("operation"));
    assertEquals(0, frames.getFirst().getInt("function"));
    assertEquals(
        List.of("WRITE_ONLY", "ACKNOWLEDGE"),
        frames.stream().map(e -> e.getString("operation")).toList());
    assertTrue(
        events.stream()
            .anyMatch(
                e ->
                    e.getEventType().getName().endsWith("RegisterWrite")
                        && e.getString("register").equals("PFPE_WQEALLOC")));
  }

  /** A write, then one from memory that was given back under its region. */
  private static void writeFromNowhere(Simulation.Builder described) {
    try (Simulation simulation = described.functions(1).seed(1).stepped().build();
        var device = RdmaDevice.open(simulation.function(0));
        var memory = device.allocateMemory(8192, DmaPlacement.SCATTERED)) {
      var domain = device.allocateProtectionDomain();
      var region = domain.registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
      var gone = device.allocateMemory(4096, DmaPlacement.SCATTERED);
      var lost = domain.registerMemory(gone, Access.LOCAL_WRITE);
      var queue = device.createCompletionQueue(16);
      var left = connected(device, domain, queue);
      gone.close();
      for (var from : List.of(region, lost)) {
        queue.arm();
        left.postWrite(
            WR_ID,
            from.lkey(),
            from.address(),
            BYTES,
            region.address() + 4096,
            region.rkey(),
            QueuePair.SIGNALED);
        left.ring();
        for (var done = new Completion(); !queue.poll(done); ) {
          device.processEvents(0, 1000);
        }
      }
    }
  }

  /** What Flight Recorder is to hold of an event: its name, then its fields and their values. */
  private static String flight(Seen seen) {
    return switch (seen.event()) {
      case DeviceEvent.RegisterRead e -> register("RegisterRead", e.offset(), e.value());
      case DeviceEvent.RegisterWrite e -> register("RegisterWrite", e.offset(), e.value());
      case DeviceEvent.ControlDone e ->
          "ControlOperation operation=%s slot=%d majorCode=%d minorCode=%d returned=%d"
              .formatted(CqpOpcode.of(e.opcode()), e.index(), e.major(), e.minor(), e.value());
      case DeviceEvent.WqeFetched e ->
          "WqeFetch ring=%s queuePair=%d wqeIndex=%d pushed=%s operation=%s size=%d"
              .formatted(
                  e.ring(),
                  e.queuePair(),
                  e.index(),
                  e.pushed(),
                  switch (e.ring()) {
                    case CONTROL -> CqpOpcode.of((int) CqpWqe.OPCODE.get(e.bytes(), 0));
                    case SEND -> SqOpcode.of((int) SqWqe.OPCODE.get(e.bytes(), 0));
                    case RECEIVE -> SqOpcode.RECEIVE;
                  },
                  e.bytes().byteSize());
      case DeviceEvent.RegionTranslated e ->
          "RegionTranslation stag=%d address=%d iova=%d size=%d found=%s"
              .formatted(e.stag(), e.address(), e.iova(), e.bytes(), e.iova() != -1);
      case DeviceEvent.ObjectTranslated e ->
          "ObjectTranslation address=%d iova=%d found=%s"
              .formatted(e.address(), e.iova(), e.iova() != -1);
      case DeviceEvent.HostRead e -> "HostRead iova=%d size=%d".formatted(e.iova(), e.bytes());
      case DeviceEvent.HostWrite e -> "HostWrite iova=%d size=%d".formatted(e.iova(), e.bytes());
      case DeviceEvent.HostRefused e ->
          "HostRefusal iova=%d write=%s".formatted(e.iova(), e.write());
      case DeviceEvent.FrameSent e -> frame("FrameSent", e.bytes());
      case DeviceEvent.FrameReceived e -> frame("FrameReceived", e.bytes());
      case DeviceEvent.CompletionWritten e -> completion(e);
      case DeviceEvent.CompletionEvent e ->
          "CompletionEvent eventQueue=%d completionQueue=%d".formatted(e.eventQueue(), e.queue());
      case DeviceEvent.AsyncEvent e ->
          "AsyncEvent code=%s origin=%s queue=%d wqeIndex=%d written=%s"
              .formatted(
                  AeCode.of(e.code()), AeSource.of(e.source()), e.id(), e.wqeIndex(), e.written());
      case DeviceEvent.Interrupt e -> "Interrupt vector=%d".formatted(e.vector());
    };
  }

  private static String register(String kind, int offset, int value) {
    return "%s register=%s offset=%d value=%d"
        .formatted(kind, Registers.nameOf(offset), offset, value);
  }

  private static String frame(String kind, MemorySegment bytes) {
    RoceFrame frame = new RoceFrame();
    assertTrue(frame.parse(bytes, (int) bytes.byteSize()));
    return "%s operation=%s origin=10.0.0.1 destination=10.0.0.1 queuePair=%d psn=%d size=%d"
        .formatted(
            kind, BthOpcode.name(frame.opcode), frame.destinationQp, frame.psn, bytes.byteSize());
  }

  private static String completion(DeviceEvent.CompletionWritten event) {
    MemorySegment entry = event.bytes();
    boolean control = event.queue() == 0;
    return "Completion completionQueue=%d queuePair=%d wqeIndex=%d operation=%s error=%s majorCode=%d minorCode=%d iova=%d"
        .formatted(
            event.queue(),
            control ? 0 : Cqe.QPID.get(entry, 0),
            Cqe.WQEIDX.get(entry, 0),
            control ? "" : SqOpcode.of((int) Cqe.OP.get(entry, 0)),
            Cqe.ERROR.get(entry, 0) != 0,
            Cqe.MAJERR.get(entry, 0),
            Cqe.MINERR.get(entry, 0),
            event.iova());
  }

  private static String flight(RecordedEvent event) {
    StringBuilder text = new StringBuilder(event.getEventType().getName().substring(8));
    Set<String> ofAll = Set.of("startTime", "eventThread", "stackTrace", "duration");
    for (var field : event.getFields()) {
      String name = field.getName();
      if (!ofAll.contains(name) && !name.equals("function") && !name.equals("deviceTime")) {
        text.append(' ').append(name).append('=').append(event.<Object>getValue(name));
      }
    }
    return text + " at " + event.getValue("deviceTime") + " of " + event.getValue("function");
  }

  /**
   * All kinds of events are in a recording that asks for all, with the values that a watcher is
   * told. Fails if a kind is not committed, is committed twice, or a field holds another's value.
   */
  @Test
  void flightRecorderHoldsEachFieldOfEachEvent(@TempDir Path folder) throws IOException {
    List<Seen> seen = new ArrayList<>();
    Path file = folder.resolve("all.jfr");
    try (Recording recording = new Recording()) {
      Simulation.flightEvents().forEach(recording::enable);
      recording.start();
      writeFromNowhere(
          Simulation.builder()
              .tap((time, from, frame, bytes, dropped) -> {})
              .watch((nanos, function, event) -> seen.add(new Seen(nanos, function, event))));
      recording.stop();
      recording.dump(file);
    }
    List<String> recorded =
        RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().startsWith("irdma4j."))
            .map(WatchTest::flight)
            .sorted()
            .toList();
    List<String> expected =
        seen.stream()
            .map(each -> flight(each) + " at " + each.nanos() + " of " + each.function())
            .sorted()
            .toList();
    assertEquals(String.join("\n", expected), String.join("\n", recorded));
    assertEquals(
        Set.copyOf(Simulation.flightEvents()),
        recorded.stream()
            .map(text -> "irdma4j." + text.substring(0, text.indexOf(' ')))
            .collect(Collectors.toSet()));
  }

  /** Fails if a recording that names no event of ours gets one. */
  @Test
  void nothingIsRecordedUnasked(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("none.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("jdk.ThreadSleep");
      recording.start();
      write(Simulation.builder());
      recording.stop();
      recording.dump(file);
    }
    assertEquals(
        List.of(),
        RecordingFile.readAllEvents(file).stream()
            .map(event -> event.getEventType().getName())
            .filter(name -> name.startsWith("irdma4j."))
            .toList());
  }

  /** Each kind by itself, and the completion queue. Fails if a filter passes another's event. */
  @Test
  void filtersChooseByKindAndCompletionQueue() {
    List<List<String>> filters = new ArrayList<>();
    filters.add(List.of());
    for (DeviceEvent.Kind kind : DeviceEvent.Kind.values()) {
      filters.add(List.of(kind.name().toLowerCase(Locale.ROOT)));
    }
    filters.add(List.of("cq=3"));
    List<List<String>> traces = traces(filters);
    int lines = 0;
    for (int i = 1; i <= DeviceEvent.Kind.values().length; i++) {
      String kind = filters.get(i).getFirst();
      assertFalse(traces.get(i).isEmpty(), kind);
      assertEquals(
          traces.getFirst().stream()
              .filter(line -> line.strip().split("\\s+", -1)[2].equals(kind))
              .toList(),
          traces.get(i));
      lines += traces.get(i).size();
    }
    assertEquals(traces.getFirst().size(), lines);
    List<String> queue =
        traces.getLast().stream().map(line -> line.replaceFirst(" at 0x.*| =.*", "")).toList();
    assertEquals(
        List.of("write PFPE_CQARM", "CQ 3", "CEQ 0: CQ 3", "write PFPE_CQACK"),
        queue.stream().map(line -> line.replaceFirst(".*sim:0 +\\w+ +", "")).toList(),
        traces.getLast().toString());
  }
}
