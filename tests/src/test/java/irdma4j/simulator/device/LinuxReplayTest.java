package irdma4j.simulator.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.CqpHostContext;
import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.Registers;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.Replay;
import irdma4j.uapi.trace.DeviceTrace;
import java.io.IOException;
import java.io.StringReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * What Linux's own driver did, as a trace of a device that runs by itself. The recorder and the
 * driver here had no part in it.
 */
final class LinuxReplayTest {
  private static final long MEMORY = 0xa5_0000_0000L;
  private static final long RING = 20L << 20;
  private static final long CONTROL_CONTEXT = 0x100_0000_ad00L;
  private static final Pattern EVENT = Pattern.compile("\\{\"op\":[^{}]*}");

  /** Fails if the simulated device answers Linux otherwise, or a wrong answer is not found. */
  @TestFactory
  List<DynamicTest> linuxsTraceReplays() {
    List<String> lines = Vectors.lines("bringup.jsonl.gz", "\"full_bringup_teardown\"");
    assertFalse(lines.isEmpty());
    return lines.stream()
        .map(line -> DynamicTest.dynamicTest(Vectors.text(line, "id"), () -> replay(line)))
        .toList();
  }

  private static void replay(String line) throws IOException {
    Converter converter = new Converter(line);
    List<String> trace = converter.trace();
    Replay.Outcome outcome = run(trace);
    // The vector does not say which features the firmware answered; all else is there.
    Replay.Difference missing = outcome.difference();
    assertNotNull(missing);
    assertEquals(trace.size() - 1, missing.line(), missing.toString());
    assertTrue(
        missing
            .what()
            .startsWith(
                "the trace never shows memory 0 of sim:0 at 0x%x,".formatted(converter.features)),
        missing.toString());
    assertFalse(outcome.exact());
    assertTrue(outcome.actions() > 40, outcome.actions() + " actions");
    int lastRead = last(trace, "read32 ");
    Replay.Difference read = wrong(trace, lastRead);
    assertEquals(lastRead + 1, read.line());
    assertTrue(read.what().startsWith("register "), read.toString());
    int lastBytes = last(trace, "device ");
    assertEquals(lastBytes + 1, wrong(trace, lastBytes).line());
  }

  private static Replay.Outcome run(List<String> trace) throws IOException {
    return Replay.run(
        DeviceTrace.read(new StringReader(String.join("\n", trace))), CardProfile.small());
  }

  private static Replay.Difference wrong(List<String> trace, int line) throws IOException {
    List<String> changed = new ArrayList<>(trace);
    String text = changed.get(line);
    int at = text.length() - 1;
    changed.set(line, text.substring(0, at) + (text.charAt(at) == '7' ? '6' : '7'));
    Replay.Difference difference = run(changed).difference();
    assertNotNull(difference, text);
    return difference;
  }

  private static int last(List<String> trace, String verb) {
    for (int i = trace.size() - 1; i >= 0; i--) {
      if (trace.get(i).startsWith(verb)) {
        return i;
      }
    }
    throw new AssertionError("no " + verb);
  }

  /** Writes the recorded events as a trace; what lay in host memory is taken from the WQEs. */
  private static final class Converter {
    private final String line;
    private final List<String> trace = new ArrayList<>();
    private int nanos;
    private int doorbell;
    private long ccq;
    private long features;

    Converter(String line) {
      this.line = line;
    }

    List<String> trace() {
      trace.add(DeviceTrace.MAGIC);
      trace.add("device Linux 6.1 irdma with a firmware made up for it");
      trace.add("functions 1");
      trace.add("map 0 0 " + (24L << 20) + " contiguous 0x" + Long.toHexString(MEMORY));
      trace.add("master 0 0 on");
      Matcher events = EVENT.matcher(line);
      while (events.find()) {
        event(events.group());
      }
      trace.add("end");
      return trace;
    }

    private void event(String event) {
      switch (Vectors.text(event, "op")) {
        case "W" -> {
          int register = (int) Vectors.number(event, "reg");
          int value = (int) Vectors.number(event, "val");
          if (register == Registers.PFPE_CCQPLOW.offset() && value != 0) {
            context((0xa5L << 32 | Integer.toUnsignedLong(value)) - MEMORY);
          }
          // The recorder shows a doorbell before the WQEs that it announces.
          if (register == Registers.PFPE_CQPDB.offset() && value != 0) {
            doorbell = value;
          } else {
            write(register, value);
          }
        }
        case "cqp_wqe" -> wqe(Vectors.number(event, "idx"), Vectors.bytes(event, "hex"));
        case "R" ->
            action(
                "read32", (int) Vectors.number(event, "reg"), (int) Vectors.number(event, "val"));
        case "fw_ccqe" ->
            bytes("device", ccq + 32 * Vectors.number(event, "pos"), Vectors.bytes(event, "hex"));
        default -> {}
      }
    }

    private void wqe(long slot, byte[] wqe) {
      MemorySegment words = MemorySegment.ofArray(wqe);
      int opcode = wqe[28] & 0x3f;
      long buffer = words.get(ValueLayout.JAVA_LONG_UNALIGNED, 32) - MEMORY;
      bytes("host", RING + slot * 64, wqe);
      if (opcode == 0x03) {
        ccq = buffer;
      } else if (opcode == 0x12) {
        features = buffer;
      } else if (opcode == 0x21) {
        for (HmcObject object : HmcObject.values()) {
          if (object.isCommitted()) {
            word("host", buffer + object.commitOffset(), value(object, "cnt"));
          }
        }
      }
      write(Registers.PFPE_CQPDB.offset(), doorbell);
      if (opcode == 0x20) {
        bytes("device", buffer, Vectors.bytes(line, "query_buf"));
      } else if (opcode == 0x21) {
        for (HmcObject object : HmcObject.values()) {
          word(
              "device",
              buffer + object.commitOffset(),
              value(object, "cnt") | FpmCommitBuffer.BASE.encode(value(object, "base") / 512));
        }
      }
    }

    private void context(long at) {
      word("host", at, CqpHostContext.SQSIZE.encode(10));
      word("host", at + 8, MEMORY + RING);
      word("host", at + 24, CONTROL_CONTEXT);
    }

    private void write(int register, int value) {
      action("write32", register, value);
    }

    private void action(String verb, int register, int value) {
      nanos += 1000;
      trace.add(
          "%s %d 0 0x%x 0x%x".formatted(verb, nanos, register, Integer.toUnsignedLong(value)));
    }

    private void word(String who, long offset, long value) {
      bytes(who, offset, ByteBuffer.allocate(Long.BYTES).putLong(Long.reverseBytes(value)).array());
    }

    private void bytes(String who, long offset, byte[] bytes) {
      trace.add("%s 0 0 0x%x %s".formatted(who, offset, HexFormat.of().formatHex(bytes)));
    }

    private long value(HmcObject object, String name) {
      Matcher found = Pattern.compile('"' + object.name() + "\": ?(\\{[^{}]*})").matcher(line);
      assertTrue(found.find(), object.name());
      return Vectors.number(found.group(1), name);
    }
  }
}
