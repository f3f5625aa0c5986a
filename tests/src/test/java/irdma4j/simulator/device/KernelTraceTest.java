package irdma4j.simulator.device;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.CqpHostContext;
import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.FpmQueryBuffer;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.Registers;
import irdma4j.simulator.CardProfile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Linux's own driver brings the device up and takes it down: its recorded register writes and WQEs
 * go to the device, and every register read must give what it read.
 *
 * <p>Fails if an operation that the kernel uses is refused, a completion is missing or has other
 * bytes, or the tail does not move.
 */
final class KernelTraceTest {
  private static final long MEMORY = 0xa5_0000_0000L;
  private static final long MEMORY_BYTES = 24L << 20;
  private static final long RING = MEMORY + (20L << 20);
  private static final long CONTROL_CONTEXT = 0x100_0000_ad00L;
  private static final Pattern EVENT = Pattern.compile("\\{\"op\":[^{}]*}");

  @TestFactory
  List<DynamicTest> replaysTheKernelsTrace() {
    List<String> lines = Vectors.lines("bringup.jsonl.gz", "\"full_bringup_teardown\"");
    assertFalse(lines.isEmpty());
    return lines.stream()
        .map(line -> DynamicTest.dynamicTest(Vectors.text(line, "id"), () -> replay(line)))
        .toList();
  }

  private static void replay(String line) {
    try (Arena arena = Arena.ofConfined()) {
      new Replay(arena, line).run();
    }
  }

  private static final class Replay {
    final HostPages host;
    final MemorySegment memory;
    final RecordingQueues queues = new RecordingQueues();
    final Device device;
    final String line;
    final byte[] query;
    long ccq;
    int slot;

    Replay(Arena arena, String line) {
      this.line = line;
      this.host = new HostPages(arena);
      this.memory = host.map(MEMORY, MEMORY_BYTES);
      this.query = Vectors.bytes(line, "query_buf");
      this.device =
          new Device(
              CardProfile.small(),
              1,
              host.iommu,
              host.counters,
              vector -> {},
              new Device.Environment() {
                @Override
                public long now() {
                  return 0;
                }

                @Override
                public MemorySegment frameBuffer() {
                  throw new AssertionError("no frame is sent here");
                }

                @Override
                public void transmit(MemorySegment frame, int bytes) {}

                @Override
                public boolean hasRoom() {
                  return true;
                }

                @Override
                public void attach(long mac) {}
              },
              services -> queues);
    }

    void run() {
      Matcher events = EVENT.matcher(line);
      int pendingHead = -1;
      int checks = 0;
      while (events.find()) {
        String event = events.group();
        switch (Vectors.text(event, "op")) {
          case "W" -> {
            int register = (int) Vectors.number(event, "reg");
            int value = (int) Vectors.number(event, "val");
            if (register == Registers.PFPE_CCQPLOW.offset() && value != 0) {
              writeControlContext(value);
            }
            // The recorder shows a doorbell before the WQEs that it announces.
            if (register == Registers.PFPE_CQPDB.offset() && value != 0) {
              pendingHead = value;
            } else {
              write(register, value);
            }
          }
          case "cqp_wqe" -> {
            slot = (int) Vectors.number(event, "idx");
            byte[] wqe = Vectors.bytes(event, "hex");
            MemorySegment.copy(
                MemorySegment.ofArray(wqe), 0, memory, RING - MEMORY + slot * 64L, 64);
            before(wqe);
            write(Registers.PFPE_CQPDB.offset(), pendingHead);
            after(wqe);
          }
          case "R" -> {
            int register = (int) Vectors.number(event, "reg");
            assertEquals(
                (int) Vectors.number(event, "val"),
                device.registers().get(register),
                "register " + Integer.toHexString(register) + " after slot " + slot);
            checks++;
          }
          case "fw_ccqe" -> {
            byte[] expected = Vectors.bytes(event, "hex");
            long at = ccq - MEMORY + 32 * Vectors.number(event, "pos");
            assertArrayEquals(
                expected, memory.asSlice(at, 32).toArray(ValueLayout.JAVA_BYTE), event);
            checks++;
          }
          default -> {}
        }
      }
      assertTrue(checks > 20, checks + " checks");
      assertEquals(0, device.registers().get(Registers.PFPE_CQPERRCODES.offset()));
      assertEquals(0, host.counters.dmaFaults);
      assertEquals(0, device.hmcFaults());
    }

    private void write(int register, int value) {
      long place = device.mailbox().claim();
      device.mailbox().put(place, register, value);
      while (device.run()) {
        // until the device rests
      }
    }

    private void writeControlContext(int low) {
      long at = (0xa5L << 32 | Integer.toUnsignedLong(low)) - MEMORY;
      LittleEndian.setLong(memory, at, CqpHostContext.SQSIZE.encode(10));
      LittleEndian.setLong(memory, at + 8, RING);
      LittleEndian.setLong(memory, at + 24, CONTROL_CONTEXT);
    }

    private void before(byte[] wqe) {
      MemorySegment words = MemorySegment.ofArray(wqe);
      int opcode = wqe[28] & 0x3f;
      if (opcode == 0x03) {
        ccq = words.get(ValueLayout.JAVA_LONG_UNALIGNED, 32);
      } else if (opcode == 0x21) {
        long at = words.get(ValueLayout.JAVA_LONG_UNALIGNED, 32) - MEMORY;
        for (HmcObject object : HmcObject.values()) {
          LittleEndian.setLong(
              memory,
              at + object.commitOffset(),
              object.isCommitted() ? objectValue(object, "cnt") : 0);
        }
      }
    }

    private void after(byte[] wqe) {
      MemorySegment words = MemorySegment.ofArray(wqe);
      int opcode = wqe[28] & 0x3f;
      long at = words.get(ValueLayout.JAVA_LONG_UNALIGNED, 32) - MEMORY;
      if (opcode == 0x20) {
        byte[] answer = memory.asSlice(at, FpmQueryBuffer.SIZE).toArray(ValueLayout.JAVA_BYTE);
        assertEquals(HexFormat.of().formatHex(query), HexFormat.of().formatHex(answer));
      } else if (opcode == 0x21) {
        for (HmcObject object : HmcObject.values()) {
          assertEquals(
              objectValue(object, "base"),
              512 * FpmCommitBuffer.BASE.get(memory, at + object.commitOffset()),
              object.name());
        }
      }
    }

    private long objectValue(HmcObject object, String name) {
      Matcher found = Pattern.compile('"' + object.name() + "\": ?(\\{[^{}]*})").matcher(line);
      assertTrue(found.find(), object.name());
      return Vectors.number(found.group(1), name);
    }
  }
}
