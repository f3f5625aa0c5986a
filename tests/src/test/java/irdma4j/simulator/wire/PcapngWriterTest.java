package irdma4j.simulator.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.simulator.PcapngWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PcapngWriterTest {
  private static final int[] OPCODES = {
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
    0x10, 0x11, 0x16, 0x17, 0x64, 0x65, 0x81
  };

  private static RoceFrame frame(int opcode, boolean ipv4, int vlan, int payload) {
    RoceFrame frame = new RoceFrame();
    frame.destinationMac = 0x02_00_00_00_00_02L;
    frame.sourceMac = 0x02_00_00_00_00_01L;
    frame.vlanTag = vlan;
    frame.ipv4 = ipv4;
    frame.sourceIpHigh = ipv4 ? 0 : 0xfd00_0000_0000_0000L;
    frame.sourceIpLow = ipv4 ? 0x0a000001 : 1;
    frame.destinationIpHigh = frame.sourceIpHigh;
    frame.destinationIpLow = frame.sourceIpLow + 1;
    frame.udpSource = 0xc000;
    frame.opcode = opcode;
    frame.destinationQp = 0x12345;
    frame.psn = 0x654321 + opcode;
    frame.dmaLength = payload;
    frame.syndrome = 0x1f;
    frame.payloadLength = payload;
    frame.congestion = opcode == BthOpcode.CONGESTION_NOTIFICATION ? 0x40 : 0;
    return frame;
  }

  /**
   * tshark reads every frame that the codec can write: right interface, time, opcode, PSN and queue
   * pair, marks of a congested switch, checksums right, nothing malformed. Fails if a block's
   * length, an option or a header is written wrongly.
   */
  @Test
  void tsharkReadsEveryOpcode(@TempDir Path folder) throws IOException, InterruptedException {
    Tshark.require();
    Path file = folder.resolve("all.pcapng");
    List<List<String>> expected = new ArrayList<>();
    MemorySegment memory = MemorySegment.ofArray(new byte[RoceFrame.MAX_BYTES]);
    try (PcapngWriter writer = PcapngWriter.create(file, 2)) {
      long time = 5_000_000_001L;
      for (int opcode : OPCODES) {
        for (int variant = 0; variant < 4; variant++) {
          boolean noPayload = opcode == 0x0c || opcode == 0x11;
          RoceFrame frame =
              frame(
                  opcode,
                  (variant & 1) == 0,
                  variant < 2 ? -1 : 0x2005,
                  noPayload ? 0 : opcode == BthOpcode.CONGESTION_NOTIFICATION ? 16 : 65);
          frame.trafficClass = 0x61 + (opcode & 1);
          frame.writeHeaders(memory);
          int bytes = frame.seal(memory, new Icrc());
          boolean marked = (opcode & 2) == 0;
          if (marked) {
            assertTrue(Ecn.mark(memory, bytes));
            assertTrue(frame.icrcMatches(memory, new Icrc()));
          }
          boolean dropped = variant == 3;
          writer.frame(time, variant & 1, memory, bytes, dropped);
          String ecn = Integer.toString(marked ? 3 : 1 + (opcode & 1));
          expected.add(
              List.of(
                  "irdma" + (variant & 1),
                  "5.%09d".formatted(time - 5_000_000_000L),
                  Integer.toString(opcode),
                  Integer.toString(frame.psn),
                  "0x012345",
                  frame.ipv4 ? ecn : "",
                  frame.ipv4 ? "" : ecn,
                  frame.ipv4 ? "1" : "",
                  "",
                  dropped ? "dropped" : ""));
          time += 1;
        }
      }
    }
    assertEquals(
        expected,
        Tshark.fields(
            file,
            "frame.interface_name",
            "frame.time_epoch",
            "infiniband.bth.opcode",
            "infiniband.bth.psn",
            "infiniband.bth.destqp",
            "ip.dsfield.ecn",
            "ipv6.tclass.ecn",
            "ip.checksum.status",
            "_ws.malformed",
            "frame.comment"));
  }

  /** Fails if anything but the frames (a date, an address, a hash) gets into the file. */
  @Test
  void theSameFramesGiveTheSameBytes(@TempDir Path folder) throws IOException {
    byte[] previous = null;
    for (int run = 0; run < 2; run++) {
      Path file = folder.resolve("run" + run);
      MemorySegment memory = MemorySegment.ofArray(new byte[1500]);
      try (PcapngWriter writer = PcapngWriter.create(file, 3)) {
        for (int i = 0; i < 1000; i++) {
          writer.frame(i, i % 3, memory, 60 + i, i % 7 == 0);
        }
      }
      byte[] bytes = Files.readAllBytes(file);
      if (previous != null) {
        assertArrayEquals(previous, bytes);
      }
      previous = bytes;
    }
  }

  /** Fails if a full disk is passed over in silence, or disturbs the run before the end. */
  @Test
  void writeErrorsComeOutAtClose() throws IOException {
    Path full = Path.of("/dev/full");
    if (!Files.exists(full)) {
      return;
    }
    assertThrows(IOException.class, () -> PcapngWriter.create(full, 1));
  }

  /** Fails if an unwritable path is not refused at once. */
  @Test
  void anUnwritablePathIsRefused(@TempDir Path folder) {
    assertThrows(IOException.class, () -> PcapngWriter.create(folder, 1));
  }
}
