package irdma4j.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.StageListener;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciFunction;
import irdma4j.uapi.trace.DeviceTrace;
import irdma4j.uapi.trace.Recorder;
import irdma4j.uapi.trace.TraceException;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.junit.jupiter.api.Test;

/** A recorded driver, replayed against the simulator. */
class ReplayProperties {
  private static final Gid[] GIDS = {Gid.of("10.0.0.1"), Gid.of("fd00::2")};
  private static final int DEPTH = 16;
  private static final int BYTES = 16384;

  /** One end of a connection. */
  private record Side(
      RdmaDevice device,
      DmaMemory memory,
      MemoryRegion region,
      CompletionQueue queue,
      QueuePair pair) {
    static Side open(PciFunction function, int index, long seed) {
      RdmaDevice device =
          RdmaDevice.open(
              function,
              DeviceConfig.defaults()
                  .withQueuePairs(4)
                  .withPbleChunkPages(1)
                  .withMacAddress(0x0200_0000_000aL + index)
                  .withSeed(seed),
              StageListener.none());
      DmaMemory memory = device.allocateMemory(BYTES, DmaPlacement.SCATTERED);
      var domain = device.allocateProtectionDomain();
      MemoryRegion region =
          domain.registerMemory(
              memory, Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
      CompletionQueue queue = device.createCompletionQueue(4 * DEPTH);
      return new Side(
          device,
          memory,
          region,
          queue,
          domain.createQueuePair(QueuePairConfig.of(queue).withRequests(DEPTH, DEPTH)));
    }

    void close() {
      device.close();
      memory.close();
    }
  }

  /** A bring-up, verbs and a teardown, all drawn from a seed, as the text of a trace. */
  private static List<String> record(long seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    StringWriter text = new StringWriter();
    Simulation.Builder builder =
        Simulation.builder()
            .functions(2)
            .seed(seed)
            .stepped()
            .profile(CardProfile.small())
            .lossPercent(random.nextInt(10));
    try (Simulation simulation = builder.build();
        Recorder recorder = Recorder.to(text, builder.describe(), 2)) {
      Side a = Side.open(recorder.record(simulation.function(0)), 0, seed);
      Side b = Side.open(recorder.record(simulation.function(1)), 1, seed);
      Gid left = GIDS[random.nextInt(GIDS.length)];
      Gid right = left.isIpv4() ? Gid.of("10.0.0.9") : Gid.of("fd00::9");
      a.pair.connect(RcPath.of(left, right, b.device.macAddress(), b.pair.qpn(), 1, 2));
      b.pair.connect(RcPath.of(right, left, a.device.macAddress(), a.pair.qpn(), 2, 1));
      work(a, b, random);
      a.close();
      b.close();
    }
    return text.toString().lines().toList();
  }

  private static void work(Side a, Side b, SplittableRandom random) {
    int receives = 0;
    for (int i = 0; i < DEPTH; i++) {
      b.pair.postReceive(i, b.region.lkey(), b.region.address(), 4096);
    }
    int messages = 1 + random.nextInt(12);
    Completion done = new Completion();
    for (int i = 0; i < messages; i++) {
      int bytes = random.nextInt(4096);
      long at = a.region.address() + random.nextInt(4096);
      long there = b.region.address() + 8192 + random.nextInt(4096);
      a.memory.segment().asSlice(random.nextInt(BYTES - 8), 8).fill((byte) random.nextInt());
      int kind = random.nextInt(3);
      if (kind == 0 && receives < DEPTH) {
        receives++;
        a.pair.postSend(i, a.region.lkey(), at, bytes, QueuePair.SIGNALED);
      } else if (kind == 1) {
        a.pair.postRead(
            i, a.region.lkey(), at + 8192, bytes, there, b.region.rkey(), QueuePair.SIGNALED);
      } else {
        a.pair.postWrite(i, a.region.lkey(), at, bytes, there, b.region.rkey(), QueuePair.SIGNALED);
      }
      a.pair.ring();
      if (random.nextBoolean()) {
        a.queue.arm();
      }
      while (!a.queue.poll(done)) {
        a.device.processEvents(0, 20_000);
        b.device.processEvents(0, 0);
      }
      assertTrue(done.isSuccess(), done.toString());
    }
  }

  private static Replay.Outcome replay(List<String> lines) throws IOException {
    return Replay.run(
        DeviceTrace.read(new StringReader(String.join("\n", lines) + "\n")), CardProfile.e810());
  }

  /** Fails if the device depends on anything but its inputs, or recorder and replay disagree. */
  @Property(tries = 8, shrinking = ShrinkingMode.OFF)
  void theSimulatorAnswersItself(@ForAll long seed) throws IOException {
    Replay.Outcome outcome = replay(record(seed));
    assertNull(outcome.difference(), String.valueOf(outcome.difference()));
    assertTrue(outcome.exact());
    assertTrue(outcome.actions() > 100, outcome.actions() + " actions");
  }

  /** Two wrong answers. Fails if the later one is reported, or both as one. */
  @Property(tries = 8, shrinking = ShrinkingMode.OFF)
  void theFirstOfTwoDifferencesIsReported(@ForAll long seed) throws IOException {
    List<String> lines = record(seed);
    SplittableRandom random = new SplittableRandom(seed);
    int first = pick(lines, "read32", random);
    int second = pick(lines, "(read32|device|await)", random);
    lines = new ArrayList<>(lines);
    lines.set(first, flipped(lines.get(first), random));
    if (second != first) {
      lines.set(second, flipped(lines.get(second), random));
    }
    assertEquals(Math.min(first, second) + 1, replay(lines).difference().line());
  }

  /** Fails if an answer, a byte of the device or a time is not compared. */
  @Property(tries = 8, shrinking = ShrinkingMode.OFF)
  void aWrongAnswerIsFoundOnItsLine(@ForAll long seed) throws IOException {
    List<String> lines = record(seed);
    SplittableRandom random = new SplittableRandom(seed);
    for (String verb : List.of("read32", "await", "device", "pause")) {
      int index = pick(lines, verb, random);
      List<String> wrong = new ArrayList<>(lines);
      wrong.set(index, flipped(lines.get(index), random));
      Replay.Outcome outcome = replay(wrong);
      assertNotNull(outcome.difference(), lines.get(index) + " became " + wrong.get(index));
      assertEquals(index + 1, outcome.difference().line(), outcome.difference().toString());
    }
  }

  /**
   * Fails if a doorbell or bytes of the device can be missing. A doorbell's absence is seen at the
   * next answer that depends on it.
   */
  @Property(tries = 8, shrinking = ShrinkingMode.OFF)
  void aMissingLineIsFound(@ForAll long seed) throws IOException {
    List<String> lines = record(seed);
    SplittableRandom random = new SplittableRandom(seed);
    for (String verb :
        List.of(
            "device",
            // Bring-up clears this doorbell, which is clear then.
            "write32 [0-9]+ [01] 0x500800(?! 0x0$)",
            "await [0-9]+ [01] [0-9]+ 20000",
            "read32")) {
      int index = pick(lines, verb, random);
      List<String> shorter = new ArrayList<>(lines);
      shorter.remove(index);
      Replay.Outcome outcome = replay(shorter);
      assertNotNull(outcome.difference(), "without " + lines.get(index));
      int action = index;
      while (!lines.get(action - 1).matches("(read|write|await|pause|vectors|master|reset).*")) {
        action--;
      }
      assertTrue(outcome.difference().line() >= action, outcome.difference().toString());
      if (verb.equals("device")) {
        assertEquals(action, outcome.difference().line(), outcome.difference().toString());
      }
    }
  }

  private static int pick(List<String> lines, String verb, SplittableRandom random) {
    List<Integer> found = new ArrayList<>();
    // The second line says which device it was.
    for (int i = 2; i < lines.size(); i++) {
      if (lines.get(i).matches(verb + " .*")) {
        found.add(i);
      }
    }
    assertTrue(!found.isEmpty(), "no " + verb);
    return found.get(random.nextInt(found.size()));
  }

  /** The line with another answer; of a pause, with another time. */
  private static String flipped(String line, SplittableRandom random) {
    String[] words = line.split(" ", -1);
    int last = words.length - 1;
    switch (words[0]) {
      case "await" -> words[last] = words[last].equals("fired") ? "quiet" : "fired";
      case "pause" -> words[1] = Long.toString(Long.parseLong(words[1]) ^ 1);
      case "device" -> {
        int at = random.nextInt(words[last].length());
        int digit = Character.digit(words[last].charAt(at), 16) ^ 1 << random.nextInt(4);
        words[last] =
            words[last].substring(0, at)
                + Character.forDigit(digit, 16)
                + words[last].substring(at + 1);
      }
      default ->
          words[last] =
              "0x"
                  + Long.toHexString(Long.decode(words[last]) ^ 1L << random.nextInt(Integer.SIZE));
    }
    return String.join(" ", words);
  }

  /** Fails if nonsense is replayed, or the wrong line is blamed. */
  @Test
  void badTracesAreRefusedByLine() {
    String head = "irdma4j-trace 1\ndevice pci:1\nfunctions 1\n";
    Map<String, Integer> bad =
        Map.ofEntries(
            Map.entry("", 1),
            Map.entry("irdma4j-trace 2\n", 1),
            Map.entry("irdma4j-trace 1\ndevice x\nfunctions 0\n", 3),
            Map.entry(head, 4),
            Map.entry(head + "# a remark\n\nread32 0 0 0x500880\nend\n", 6),
            Map.entry(head + "read32 0 1 0x500880 0x0\nend\n", 4),
            Map.entry(head + "read32 0 0 0x500881 0x0\nend\n", 4),
            Map.entry(head + "read32 0 0 0x500880 0x100000000\nend\n", 4),
            Map.entry(head + "write32 0 0 0x500880 0x0 more\nend\n", 4),
            Map.entry(head + "jump 0 0\nend\n", 4),
            Map.entry(head + "map 0 0 4097 contiguous 0x10000\nend\n", 4),
            Map.entry(head + "map 0 0 8192 contiguous 0x10001\nend\n", 4),
            Map.entry(head + "map 0 0 8192 scattered 0x10000 0x10000\nend\n", 4),
            Map.entry(head + "map 0 0 99999999999744 contiguous 0x10000\nend\n", 4),
            Map.entry(head + "map 0 0 4096 contiguous 0x10000\nhost 0 0 0xfff 0011\nend\n", 5),
            Map.entry(head + "map 0 0 4096 contiguous 0x10000\nhost 0 0 0x0 001\nend\n", 5),
            Map.entry(head + "host 0 0 0x0 00\nend\n", 4),
            Map.entry(head + "await 0 0 1 5 perhaps\nend\n", 4),
            Map.entry(head + "pause 0 0 -1\nend\n", 4));
    bad.forEach(
        (text, line) -> {
          TraceException refused =
              assertThrows(
                  TraceException.class, () -> DeviceTrace.read(new StringReader(text)), text);
          assertEquals(line, refused.line(), text + refused.getMessage());
        });
  }

  /** Fails if a trace that the simulator cannot follow is begun, or crashes it. */
  @Test
  void whatTheSimulatorCannotBeIsRefused() throws IOException {
    List<String> devices =
        List.of(
            "simulated soon card=e810",
            "simulated stepped x",
            "simulated stepped card=e810 seed=z gigabits=100",
            "simulated stepped card=big seed=1 gigabits=100 loss=0 duplicate=0 reorder=0 delay=0"
                + " corrupt=0 mark=0");
    for (String device : devices) {
      List<String> lines = List.of(DeviceTrace.MAGIC, "device " + device, "functions 1", "end");
      TraceException refused = assertThrows(TraceException.class, () -> replay(lines), device);
      assertEquals(2, refused.line(), refused.getMessage());
    }
    List<String> far =
        List.of(
            DeviceTrace.MAGIC,
            "device x",
            "functions 1",
            "map 0 0 4096 contiguous 0x10000000000",
            "end");
    assertEquals(4, assertThrows(TraceException.class, () -> replay(far)).line());
    List<String> closed =
        List.of(
            DeviceTrace.MAGIC,
            "device x",
            "functions 1",
            "close 0 0",
            "read32 5 0 0x500880 0x0",
            "end");
    assertEquals(5, replay(closed).difference().line());
  }
}
