package irdma4j.simulator.device;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.cqp.ManageAddressHandle;
import irdma4j.simulator.watch.Watch;
import irdma4j.simulator.wire.Payload;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What the queue engines and the transport may ask of the rest of the device. Every call is made on
 * the engine's thread.
 */
public interface DeviceServices {
  /** The access is within the region, the key, the rights and the protection domain fit. */
  int ACCESS_OK = 0;

  /** Rights of a region, as in the MR registration: local read. */
  int LOCAL_READ = 1;

  /** Local write. */
  int LOCAL_WRITE = 2;

  /** Remote read. */
  int REMOTE_READ = 4;

  /** Remote write. */
  int REMOTE_WRITE = 8;

  /** The engine's time in nanoseconds. */
  long now();

  /**
   * Reads host memory by IOVA through the IOMMU.
   *
   * @return false if an address is not mapped; the destination is then undefined and the fault is
   *     recorded
   */
  boolean readHost(long iova, MemorySegment target, long targetOffset, long bytes);

  /**
   * Writes host memory by IOVA through the IOMMU.
   *
   * @return false if an address is not mapped; nothing beyond it was written
   */
  boolean writeHost(long iova, MemorySegment source, long sourceOffset, long bytes);

  /**
   * Reads a little-endian 64-bit word of host memory with acquire order.
   *
   * @return the word, or 0 after a recorded fault
   */
  long readHostWord(long iova);

  /**
   * Reads the header of a send WQE, as {@link #readHostWord}.
   *
   * @param polarity the valid bit of a WQE that is there
   */
  default long readSendHeader(long iova, long polarity) {
    return readHostWord(iova);
  }

  /** Writes a little-endian 64-bit word of host memory with release order. */
  boolean writeHostWord(long iova, long value);

  /**
   * The IOVA of a byte in a queue's ring, whether the ring is one physical run or described by
   * PBLEs.
   *
   * @param base the context's SQ/RQ address: an IOVA, or the first PBLE's index if {@code virtual}
   */
  long ringAddress(long base, boolean virtual, long byteOffset);

  /**
   * Checks an access by stag against the memory region or window that it names.
   *
   * @param rights the rights that the access needs, OR of the constants here
   * @return {@link #ACCESS_OK}, or the asynchronous event code (for example {@code
   *     AeCode.AMP_BOUNDS_VIOLATION}) that says why not
   */
  int checkAccess(int stag, long address, long bytes, int rights, int pdId, int qpId);

  /** Copies out of a region; otherwise as {@link #lendRegion}. */
  boolean readRegion(int stag, long address, MemorySegment target, long targetOffset, long bytes);

  /**
   * Says where the bytes of a region that {@link #checkAccess} has allowed lie in host memory,
   * translating through its PBLEs.
   *
   * @param payload the pieces are put behind those that it has
   * @return false after a translation or IOMMU fault
   */
  boolean lendRegion(int stag, long address, Payload payload, long bytes);

  /**
   * Copies into a region that {@link #checkAccess} has allowed.
   *
   * @param from the first byte of the source
   * @return false after a translation or IOMMU fault
   */
  boolean writeRegion(int stag, long address, Payload source, long from, long bytes);

  /**
   * Invalidates a stag on behalf of a local or remote invalidate.
   *
   * @return {@link #ACCESS_OK}, or the asynchronous event code that says why not
   */
  int invalidateStag(int stag, int pdId, int qpId, boolean remote);

  /**
   * Writes a completion into a CQ and raises its event if it is armed for it.
   *
   * @param cqId the completion queue
   * @param completion the values of the CQE; not kept
   */
  void complete(int cqId, CompletionEntry completion);

  /** Reports an asynchronous event on the AEQ and raises its interrupt. */
  void asyncEvent(int qpOrCqId, int aeCode, int aeSource, int wqeIndex, long completionContext);

  /**
   * The MAC address that an ARP table index names, as a 48-bit integer, or -1 if the entry is free.
   */
  long arpMac(int arpIndex);

  /** The port's own MAC address, as a 48-bit integer. */
  long portMac();

  /**
   * Where to build the next frame, which spares {@link #transmit} a copy.
   *
   * @return at least {@code RoceFrame.MAX_BYTES}, of any content; the caller's until it transmits
   */
  MemorySegment frameBuffer();

  /**
   * Lets the payload of the frame in the {@link #frameBuffer} stay in host memory until the frame
   * arrives. That memory must belong to work that is not complete before: the device copies what it
   * has lent when the driver takes a queue pair or a region away.
   *
   * @return an empty payload, to be filled before the frame is transmitted; null if it must stand
   *     in the frame
   */
  default @Nullable Payload lend() {
    return null;
  }

  /**
   * How many packets of a length may be sent now in one frame, whose payloads are lent and counted
   * by {@link Payload#carries}. Nobody can tell them from packets sent one after the other.
   *
   * @param bytes of each packet's frame
   * @return less than 2 if each must have a frame of its own
   */
  default int trainRoom(int bytes) {
    return 0;
  }

  /**
   * Puts a frame (without FCS) on the wire.
   *
   * @param frame at offset 0; its bytes are copied, or its memory taken over if it is the {@link
   *     #frameBuffer}
   * @param bytes of a packet
   * @param packets for how many packets it stands
   */
  void transmit(MemorySegment frame, int bytes, int packets);

  /**
   * Whether the wire takes another frame for now. While it does not, queue engines keep their
   * packets back, so that what is in flight stays within the wire's buffers however many queue
   * pairs send; {@link QueueEngine#run} is called again after the next frame has arrived somewhere.
   */
  default boolean transmitReady() {
    return true;
  }

  /**
   * Whether frames go to the simulation's own functions only, unseen and unchanged. The ICRC is
   * then neither computed nor checked, since it cannot be wrong: what a virtual NIC does with
   * checksums between guests of one host.
   */
  default boolean wireIsPrivate() {
    return false;
  }

  /**
   * Binds a memory window as a BIND_MW WQE asks (layout {@code SqWqe.BIND_MW}; the words of its
   * first quantum).
   *
   * @return {@link #ACCESS_OK}, or the asynchronous event code that says why not
   */
  default int bindWindow(long word0, long word1, long word2, long header, int pdId, int qpId) {
    return AeCode.AMP_MWBIND_BIND_DISABLED.code();
  }

  /**
   * Registers memory as a FAST_REGISTER WQE asks (layout {@code SqWqe.FAST_REGISTER}; the words of
   * its first quantum).
   *
   * @return {@link #ACCESS_OK}, or the asynchronous event code that says why not
   */
  default int fastRegister(long word0, long word1, long word2, long header, int pdId, int qpId) {
    return AeCode.PRIV_OPERATION_DENIED.code();
  }

  /** The address handle of a number, or null if there is none. */
  default @Nullable ManageAddressHandle addressHandle(int ahId) {
    return null;
  }

  /**
   * The multicast group that a packet is for, or null if this function has none; valid until the
   * control QP's next operation.
   *
   * @param vlanTag the packet's VLAN tag, or a negative number
   */
  default @Nullable MulticastGroup multicastGroup(
      long mac, boolean ipv4, long ipHigh, long ipLow, int vlanTag) {
    return null;
  }

  /**
   * Brings a copy of a frame that was just transmitted to this function, too, inside the device;
   * the bytes are copied before this returns.
   */
  default void loopBack(MemorySegment frame, int bytes) {}

  /** Asks for {@link QueueEngine#timer(long)} at or after a time of {@link #now()}. */
  void requestTimer(long atNanos);

  /**
   * Where a queue pair counts its packets.
   *
   * @param instance its statistics instance, or a negative number if it has none
   */
  default TrafficCounts traffic(int instance) {
    return new TrafficCounts();
  }

  /** Where what happens can be watched. */
  default Watch watch() {
    return Watch.NONE;
  }

  /** The function's counters. */
  DeviceCounters counters();
}
