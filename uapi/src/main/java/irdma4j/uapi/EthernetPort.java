package irdma4j.uapi;

import java.lang.foreign.MemorySegment;

/**
 * The frames of a port that are not the RDMA function's: what the card's LAN side receives and
 * sends. Address resolution goes this way; RoCEv2 packets never do.
 *
 * <p>Frames are without FCS. A port is for one thread at a time.
 */
public interface EthernetPort {
  /** Bytes of the largest frame. */
  int MAX_FRAME = 9216;

  /**
   * Sends a frame. It may be lost, as any frame.
   *
   * @param frame copied before this returns
   * @param bytes its length, 14 to {@link #MAX_FRAME}
   */
  void send(MemorySegment frame, int bytes);

  /**
   * Takes the next frame that has arrived: one to the port's own MAC address or to a group's.
   *
   * @param target room for {@link #MAX_FRAME} bytes
   * @return the frame's length, or 0 if there is none for now
   */
  int receive(MemorySegment target);
}
