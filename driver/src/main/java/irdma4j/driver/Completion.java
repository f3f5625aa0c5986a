package irdma4j.driver;

import irdma4j.hwregs.FlushCode;
import irdma4j.hwregs.SqOpcode;

/**
 * One completion. Its owner passes it to {@link CompletionQueue#poll} and it holds the values of
 * the last completion polled, until the next poll. Not thread-safe.
 */
public final class Completion {
  /** Whether the work succeeded, and if not what kind of failure it was. */
  public enum Status {
    /** It succeeded. */
    SUCCESS,
    /** It was flushed; {@link Completion#flushCode()} says why. */
    FLUSHED,
    /** The device reports an error of its own; see the major and minor codes. */
    ERROR
  }

  private long wrId;
  private Status status = Status.SUCCESS;
  private int opcode;
  private int qpn;
  private long bytes;
  private int majorError;
  private int minorError;
  private boolean send;
  private boolean immediateValid;
  private int immediate;
  private boolean invalidated;
  private int invalidatedKey;
  private boolean solicited;
  private boolean ipv4;
  private int sourceQpn;
  private int roundTripTime;
  private boolean pushDropped;
  private boolean sourceMacValid;
  private long sourceMac;
  private boolean vlanValid;
  private int vlan;

  /** An empty completion, to be filled by a poll. */
  public Completion() {}

  /** The identifier given when the work was posted. */
  public long wrId() {
    return wrId;
  }

  /** How the work ended. */
  public Status status() {
    return status;
  }

  /** Whether the work succeeded. */
  public boolean isSuccess() {
    return status == Status.SUCCESS;
  }

  /** The hardware's code of the operation; see {@link SqOpcode}. */
  public int opcode() {
    return opcode;
  }

  /** The queue pair that the work was posted to. */
  public int qpn() {
    return qpn;
  }

  /**
   * Bytes sent, written, read or received. Of failed work of the send queue 0; of flushed work what
   * was asked for.
   */
  public long bytes() {
    return bytes;
  }

  /** The device's major error code; 1 means flushed. */
  public int majorError() {
    return majorError;
  }

  /** The device's minor error code; of a flushed work, a {@link FlushCode}. */
  public int minorError() {
    return minorError;
  }

  /** Whether it is of the send queue. */
  public boolean isSend() {
    return send;
  }

  /** Whether immediate data came with the message. */
  public boolean hasImmediate() {
    return immediateValid;
  }

  /** The immediate data, as the integer that the peer gave. */
  public int immediate() {
    return immediate;
  }

  /** Whether the peer invalidated a stag. Not for UD queue pairs. */
  public boolean hasInvalidatedKey() {
    return invalidated;
  }

  /** The stag that the peer invalidated. */
  public int invalidatedKey() {
    return invalidatedKey;
  }

  /** Whether the peer asked for a solicited event. */
  public boolean isSolicited() {
    return solicited;
  }

  /** Whether a datagram came over IPv4. Only for UD queue pairs. */
  public boolean isIpv4() {
    return ipv4;
  }

  /** The queue pair that sent a datagram. Only for UD queue pairs. */
  public int sourceQpn() {
    return sourceQpn;
  }

  /** The device's measure of the round trip, if the work asked for it; iWARP: a sequence number. */
  public int roundTripTime() {
    return roundTripTime;
  }

  /** Whether a WQE that was pushed to the device got lost on the way. */
  public boolean isPushDropped() {
    return pushDropped;
  }

  /** Whether the MAC address of a datagram's sender is known. */
  public boolean hasSourceMac() {
    return sourceMacValid;
  }

  /** The MAC address of a datagram's sender: 48 bits, first byte highest. */
  public long sourceMac() {
    return sourceMac;
  }

  /** Whether a datagram came with a VLAN tag. */
  public boolean hasVlan() {
    return vlanValid;
  }

  /** The VLAN tag of a datagram. */
  public int vlan() {
    return vlan;
  }

  /** What the minor code of a flushed work means; empty for other codes. */
  public String flushCode() {
    FlushCode code = status == Status.FLUSHED ? FlushCode.of(minorError) : null;
    return code == null ? "" : code.meaning();
  }

  @Override
  public String toString() {
    SqOpcode name = SqOpcode.of(opcode);
    String what = "%s wr_id=%d qpn=%d".formatted(name == null ? opcode : name, wrId, qpn);
    return switch (status) {
      case SUCCESS -> what + " " + bytes + " bytes";
      case FLUSHED -> what + " flushed: " + flushCode();
      case ERROR -> what + " failed: major 0x%04x, minor 0x%04x".formatted(majorError, minorError);
    };
  }

  /** For the completion ring: the values that every completion has. */
  public void begin(int completionOpcode, int queuePair, boolean ofSendQueue, boolean isSolicited) {
    opcode = completionOpcode;
    qpn = queuePair;
    send = ofSendQueue;
    solicited = isSolicited;
    status = Status.SUCCESS;
    majorError = 0;
    minorError = 0;
    immediateValid = false;
    invalidated = false;
    bytes = 0;
    sourceMacValid = false;
    vlanValid = false;
  }

  /** For the completion ring: which work it was. */
  public void work(long id, long byteCount) {
    wrId = id;
    bytes = byteCount;
  }

  /** For the completion ring: the operation that was flushed. */
  public void flushedOpcode(int completionOpcode) {
    opcode = completionOpcode;
  }

  /** For the completion ring: the failure. */
  public void fail(Status kind, int major, int minor) {
    status = kind;
    majorError = major;
    minorError = minor;
  }

  /** For the completion ring: the immediate data. */
  public void withImmediate(int value) {
    immediateValid = true;
    immediate = value;
  }

  /** For the completion ring: the stag that was invalidated. */
  public void withInvalidated(int key) {
    invalidated = true;
    invalidatedKey = key;
  }

  /** For the completion ring: what the transport tells of the message. */
  public void transport(boolean overIpv4, int sender, int time) {
    ipv4 = overIpv4;
    sourceQpn = sender;
    roundTripTime = time;
  }

  /** For the completion ring: whether the push of the WQE was dropped. */
  public void withPushDropped(boolean value) {
    pushDropped = value;
  }

  /** For the completion ring: the MAC address of a datagram's sender. */
  public void withSourceMac(long value) {
    sourceMacValid = true;
    sourceMac = value;
  }

  /** For the completion ring: the VLAN tag of a datagram. */
  public void withVlan(int value) {
    vlanValid = true;
    vlan = value;
  }
}
