package irdma4j.simulator.device;

/** The values of one CQE, filled by a queue engine and reused. Not thread-safe. */
public final class CompletionEntry {
  /** Whether the completion is of the send queue. */
  public boolean sq;

  /** The operation: an SQ opcode, or for the RQ the kind of receive. */
  public int opcode;

  /** The queue pair. */
  public int qpId;

  /** The context word of the queue pair's context (QPCOMPCTX). */
  public long completionContext;

  /** Index of the WQE's first quantum in its ring. */
  public int wqeIndex;

  /** Bytes received; 0 for the send queue. */
  public int payloadLength;

  /** Whether {@link #majorError} and {@link #minorError} say why the work failed. */
  public boolean error;

  /** Major error code. */
  public int majorError;

  /** Minor error code. */
  public int minorError;

  /** Whether a WQE that was pushed had to be taken from the ring. */
  public boolean pushDropped;

  /** Whether the peer asked for a solicited event. */
  public boolean solicited;

  /** Whether {@link #immediate} was received. */
  public boolean immediateValid;

  /** Immediate data as a host-order integer. */
  public int immediate;

  /** Whether {@link #invalidatedStag} was invalidated by the peer. */
  public boolean stagInvalidated;

  /** The stag that the peer invalidated. */
  public int invalidatedStag;

  /** Whether the datagram came over IPv4 (UD only). */
  public boolean ipv4;

  /** Source QPN of a datagram (UD only). */
  public int sourceQpn;

  /** Whether {@link #sourceMac} is known (UD only). */
  public boolean sourceMacValid;

  /** MAC address of a datagram's sender, a 48-bit integer. */
  public long sourceMac;

  /** VLAN tag of a datagram, or a negative number. */
  public int vlanTag = -1;

  /** Back to an empty successful completion. */
  public void clear() {
    sq = false;
    opcode = 0;
    qpId = 0;
    completionContext = 0;
    wqeIndex = 0;
    payloadLength = 0;
    error = false;
    majorError = 0;
    minorError = 0;
    pushDropped = false;
    solicited = false;
    immediateValid = false;
    immediate = 0;
    stagInvalidated = false;
    invalidatedStag = 0;
    ipv4 = false;
    sourceQpn = 0;
    sourceMacValid = false;
    sourceMac = 0;
    vlanTag = -1;
  }
}
