package irdma4j.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.Gid;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaDevice;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.SqWqe;
import irdma4j.uapi.DmaPlacement;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

  /** Two queue pairs of one function; the one writes into the other's region. */
  private static FunctionStatistics write(Simulation.Builder described) {
    Simulation simulation = described.functions(1).seed(1).stepped().build();
    try (simulation;
        var device = RdmaDevice.open(simulation.function(0));
        var memory = device.allocateMemory(8192, DmaPlacement.SCATTERED)) {
      var domain = device.allocateProtectionDomain();
      var region = domain.registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
      var queue = device.createCompletionQueue(16);
      var left = domain.createQueuePair(QueuePairConfig.of(queue));
      var right = domain.createQueuePair(QueuePairConfig.of(queue));
      var gid = Gid.of("10.0.0.1");
      left.connect(RcPath.of(gid, gid, device.macAddress(), right.qpn(), 1, 2));
      right.connect(RcPath.of(gid, gid, device.macAddress(), left.qpn(), 2, 1));
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
}
