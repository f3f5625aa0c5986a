package irdma4j.simulator.wire;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;

/** Reads the captures of Linux soft-RoCE under {@code pcaps/} in the test resources. */
public final class Capture {
  /** Every capture that holds RoCE frames. */
  public static final List<String> ALL =
      List.of(
          "cm_reject",
          "err_badkey",
          "err_badlen",
          "err_badread",
          "err_imm",
          "err_inv",
          "err_misatomic",
          "err_mix",
          "err_noperm",
          "err_odd",
          "err_reject",
          "err_rnr",
          "err_rnrfail",
          "err_short",
          "err_slowaccept",
          "err_zero",
          "host_inject",
          "ib_atomic_cas",
          "ib_atomic_faa",
          "ib_read_bw",
          "ib_send_bw",
          "ib_write_bw",
          "mix_dup",
          "mix_loss",
          "mix_swap",
          "rc_pingpong",
          "rc_pingpong_dup",
          "rc_pingpong_loss",
          "rc_pingpong_multi",
          "rc_pingpong_swap",
          "rping",
          "rping_4k",
          "srq_pingpong",
          "uc_pingpong",
          "ucmatose",
          "ud_pingpong",
          "udaddy");

  /** One captured frame. */
  public static final class Packet {
    private final long timeNanos;
    private final byte[] bytes;

    private Packet(long timeNanos, byte[] bytes) {
      this.timeNanos = timeNanos;
      this.bytes = bytes;
    }

    /** When it was captured. */
    public long timeNanos() {
      return timeNanos;
    }

    /** Its bytes without FCS; not to be changed. */
    public byte[] bytes() {
      return bytes;
    }

    /** The frame as a segment. */
    public MemorySegment segment() {
      return MemorySegment.ofArray(bytes);
    }
  }

  private Capture() {}

  /** All frames of a capture, in order. */
  public static List<Packet> read(String name) {
    try (InputStream raw = Capture.class.getResourceAsStream("/pcaps/" + name + ".pcap.gz");
        InputStream in = new GZIPInputStream(raw)) {
      ByteBuffer file = ByteBuffer.wrap(in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
      if (file.getInt() != 0xa1b23c4d) {
        throw new IllegalStateException(name + ": not a little-endian nanosecond pcap");
      }
      file.position(24);
      List<Packet> packets = new ArrayList<>();
      while (file.hasRemaining()) {
        long time = file.getInt() * 1_000_000_000L + file.getInt();
        byte[] bytes = new byte[file.getInt()];
        if (file.getInt() != bytes.length) {
          throw new IllegalStateException(name + ": frame cut short");
        }
        file.get(bytes);
        packets.add(new Packet(time, bytes));
      }
      return packets;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether the bytes are UDP over IPv4 to the RoCEv2 port. */
  public static boolean isRoce(byte[] frame) {
    ByteBuffer buffer = ByteBuffer.wrap(frame);
    return frame.length >= 42
        && buffer.getShort(12) == 0x0800
        && frame[23] == 17
        && buffer.getShort(36) == 4791;
  }
}
