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
    0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
    0x29, 0x2a, 0x2b, 0x64, 0x65, 0x81
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
    frame.solicited = (opcode & 1) != 0;
    frame.ackRequest = (opcode & 2) != 0;
    frame.pkey = 0x8123;
    frame.remoteAddress = 0x1122_3344_5566_7788L;
    frame.remoteKey = 0x1357_9bdf;
    frame.dmaLength = 0x2468;
    frame.syndrome = 0x1f;
    frame.msn = 0xabcdef;
    frame.immediate = 0x0102_0304;
    frame.invalidateKey = 0x0a0b_0c0d;
    frame.qkey = 0x7654_3210;
    frame.sourceQp = 0x9abcde;
    frame.atomicSwapAdd = 0x99;
    frame.atomicCompare = 0x88;
    frame.atomicOriginal = 0x77;
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
          boolean noPayload = opcode == 0x0c || (opcode >= 0x11 && opcode <= 0x14);
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

  /** The values of a frame's headers as tshark writes them, empty for one that it has not. */
  private static List<String> headers(RoceFrame f) {
    boolean remote = BthOpcode.hasReth(f.opcode) || BthOpcode.hasAtomic(f.opcode);
    return List.of(
        f.solicited ? "1" : "0",
        f.ackRequest ? "1" : "0",
        Integer.toString(f.pkey),
        remote ? "0x1122334455667788" : "",
        remote ? "0x13579bdf" : "",
        BthOpcode.hasReth(f.opcode) ? "9320" : "",
        BthOpcode.hasAeth(f.opcode) ? "31" : "",
        BthOpcode.hasAeth(f.opcode) ? "11259375" : "",
        BthOpcode.hasImmediate(f.opcode) ? "01020304" : "",
        BthOpcode.hasIeth(f.opcode) ? "0a0b0c0d" : "",
        BthOpcode.hasDeth(f.opcode) ? "0x0000000076543210" : "",
        BthOpcode.hasDeth(f.opcode) ? "0x009abcde" : "",
        BthOpcode.hasAtomic(f.opcode) ? "153" : "",
        BthOpcode.hasAtomic(f.opcode) ? "136" : "",
        BthOpcode.hasAtomicAck(f.opcode) ? "119" : "");
  }

  /**
   * tshark finds in the headers of every opcode what was put there. Which header belongs to which
   * opcode, and where its fields stand, is so judged by tshark, for those too that no capture has.
   * Fails if a header is left out, added or in another order.
   */
  @Test
  void tsharkReadsTheHeadersOfEveryOpcode(@TempDir Path folder)
      throws IOException, InterruptedException {
    Tshark.require();
    Path file = folder.resolve("headers.pcapng");
    List<List<String>> expected = new ArrayList<>();
    MemorySegment memory = MemorySegment.ofArray(new byte[RoceFrame.MAX_BYTES]);
    try (PcapngWriter writer = PcapngWriter.create(file, 1)) {
      for (int opcode : OPCODES) {
        if (opcode == BthOpcode.CONGESTION_NOTIFICATION) {
          continue;
        }
        RoceFrame frame = frame(opcode, true, -1, 0);
        frame.writeHeaders(memory);
        writer.frame(opcode, 0, memory, frame.seal(memory, new Icrc()), false);
        expected.add(headers(frame));
      }
    }
    List<List<String>> seen =
        Tshark.fields(
            file,
            "infiniband.bth.se",
            "infiniband.bth.a",
            "infiniband.bth.p_key",
            "infiniband.reth.va",
            "infiniband.reth.r_key",
            "infiniband.reth.dmalen",
            "infiniband.aeth.syndrome",
            "infiniband.aeth.msn",
            "infiniband.immdt",
            "infiniband.ieth",
            "infiniband.deth.q_key",
            "infiniband.deth.srcqp",
            "infiniband.atomiceth.swapdt",
            "infiniband.atomiceth.cmpdt",
            "infiniband.atomicacketh.origremdt");
    assertEquals(expected.size(), seen.size());
    for (int i = 0; i < seen.size(); i++) {
      // tshark gives immediate data twice.
      List<String> once = seen.get(i).stream().map(value -> value.replaceAll(",.*", "")).toList();
      assertEquals(expected.get(i), once, BthOpcode.name(OPCODES[i]));
    }
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
