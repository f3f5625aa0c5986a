package irdma4j.cli;

import irdma4j.driver.RdmaException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What perftest's programs, of versions 5.70 to 6.06, say over TCP. Both sides say the same things
 * in the same order, the client first. Numbers are big-endian.
 */
final class PerfExchange {
  private static final String VERSION = "6.06";
  private static final int VERSION_BYTES = 16;
  private static final int PAGE = 4096;
  private static final int CACHE_LINE = 64;

  private final TcpPeer peer;
  private final boolean client;

  PerfExchange(TcpPeer peer, boolean client) {
    this.peer = peer;
    this.client = client;
  }

  private byte[] swap(byte[] own) throws IOException {
    if (client) {
      peer.write(own);
      return peer.read(own.length);
    }
    byte[] theirs = peer.read(own.length);
    peer.write(own);
    return theirs;
  }

  private static byte[] padded(String text, int size) {
    return Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), size);
  }

  /**
   * Agrees about versions, the buffer and the size of packets.
   *
   * @param mtu payload bytes of a packet that this side can take
   * @return what both can take
   */
  int begin(int mtu) throws IOException {
    swap(padded(VERSION, VERSION_BYTES));
    swap(ByteBuffer.allocate(4).putInt(PAGE).array());
    swap(ByteBuffer.allocate(4).putInt(CACHE_LINE).array());
    int own = Integer.numberOfTrailingZeros(mtu) - 7;
    int theirs = swap(padded(Integer.toString(own), 2))[0] - '0';
    if (theirs < 1 || theirs > 5) {
      throw new RdmaException("the peer asks for packets of size " + theirs + ", not of 1 to 5");
    }
    return 128 << Math.min(own, theirs);
  }

  /** Tells one's own end and waits for the peer's: who gets here waits for the other. */
  PerfEnd meet(PerfEnd own) throws IOException {
    return PerfEnd.decode(swap(own.encode()));
  }

  /** Tells the result and takes the peer's. */
  PerfReport report(PerfReport own) throws IOException {
    return new PerfReport(
        asLong(swap(bytes(own.size()))),
        asLong(swap(bytes(own.iterations()))),
        asDouble(swap(bytes(own.peak()))),
        asDouble(swap(bytes(own.average()))),
        asDouble(swap(bytes(own.rate()))));
  }

  private static byte[] bytes(long value) {
    return ByteBuffer.allocate(8).putLong(value).array();
  }

  private static byte[] bytes(double value) {
    return ByteBuffer.allocate(8).putDouble(value).array();
  }

  private static long asLong(byte[] bytes) {
    return ByteBuffer.wrap(bytes).getLong();
  }

  private static double asDouble(byte[] bytes) {
    return ByteBuffer.wrap(bytes).getDouble();
  }
}
