package irdma4j.driver.cm;

import irdma4j.driver.Completion;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.Gid;
import java.lang.foreign.MemorySegment;

/** The way back to the sender of a datagram. */
public final class ReceivedPath {
  private static final int IPV4 = 20;
  private static final long MAPPED = 0xffffL << 32;

  private ReceivedPath() {}

  /**
   * Where an answer goes.
   *
   * @param memory what was received
   * @param offset where the 40 bytes before the message begin
   * @param completion of the receive
   */
  public static DatagramPath reply(MemorySegment memory, long offset, Completion completion) {
    Gid source;
    Gid destination;
    if (completion.isIpv4()) {
      source = mapped(Bytes.get32(memory, offset + IPV4 + 12));
      destination = mapped(Bytes.get32(memory, offset + IPV4 + 16));
    } else {
      source = Bytes.gid(memory, offset + 8);
      destination = Bytes.gid(memory, offset + 24);
    }
    DatagramPath path = DatagramPath.of(destination, source, completion.sourceMac());
    return completion.hasVlan() ? path.withVlan(completion.vlan()) : path;
  }

  private static Gid mapped(int address) {
    return new Gid(0, MAPPED | Integer.toUnsignedLong(address));
  }
}
