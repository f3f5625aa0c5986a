package irdma4j.simulator.device;

/**
 * A function's running counts. Written by the engine only; another thread that reads them while the
 * engine runs may see values a little old.
 */
public final class DeviceCounters {
  /** Frames put on the wire. */
  public long framesSent;

  /** Frames taken from the wire. */
  public long framesReceived;

  /** Bytes put on the wire, without preamble and FCS. */
  public long bytesSent;

  /** Bytes taken from the wire. */
  public long bytesReceived;

  /** Request packets sent again. */
  public long retransmissions;

  /** ACK packets sent. */
  public long acksSent;

  /** NAK packets sent, RNR included. */
  public long naksSent;

  /** Times that a retransmission timer ran out. */
  public long timeouts;

  /** Frames thrown away: malformed, wrong ICRC, or not for a queue pair here. */
  public long framesDiscarded;

  /** Send WQEs fetched, padding NOPs included. */
  public long sendWqes;

  /** Send WQEs taken from push pages, padding NOPs included. */
  public long pushedWqes;

  /** Receive WQEs consumed. */
  public long receiveWqes;

  /** SQ doorbells that arrived. */
  public long doorbells;

  /** CQEs written. */
  public long completions;

  /** CEQEs written. */
  public long completionEvents;

  /** AEQEs written. */
  public long asyncEvents;

  /** MSI-X messages sent. */
  public long interrupts;

  /** Control QP operations done. */
  public long controlOperations;

  /** Accesses that the IOMMU refused. */
  public long dmaFaults;
}
