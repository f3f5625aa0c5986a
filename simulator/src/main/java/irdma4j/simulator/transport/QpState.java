package irdma4j.simulator.transport;

import irdma4j.hwregs.RoceContext;
import irdma4j.simulator.device.PushPage;
import irdma4j.simulator.device.QpAttributes;
import irdma4j.simulator.device.TrafficCounts;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What the device keeps of one queue pair: the values of its context (layout {@link RoceContext})
 * and the state of its requester and responder.
 */
final class QpState {
  static final int IDLE = 1;
  static final int READY_TO_SEND = 2;
  static final int SEND_DRAINED = 3;
  static final int READY_TO_RECEIVE = 4;
  static final int ERROR = 6;

  static final int TYPE_RC = 3;
  static final int TYPE_UD = 4;

  static final long NO_ENTRY = -1;
  static final int NO_PUSH_PAGE = -1;

  /** READs accepted at once, by the code in IRDSIZE. */
  private static final int[] IRD = {4, 16, 64, 128, 256};

  private static final int MAX_WINDOW = 256;
  private static final long MILLISECOND = 1_000_000;
  private static final int MAX_BACKOFF = 5;

  final int id;
  int state = IDLE;
  int type;

  // From the context.
  boolean virtualQueues;
  long shadowArea;
  long sqBase;
  long rqBase;
  int sqMask;
  int rqMask;
  int rqQuanta;
  boolean ipv4;
  int vlanTag;
  int pdId;
  int hopLimit;
  int trafficClass;
  int sourcePort;
  int destinationPort;
  long remoteIpHigh;
  long remoteIpLow;
  long localIpHigh;
  long localIpLow;
  int mtu;
  int arpIndex;
  int flowLabel;
  int ackCredits;
  int pkey;
  int remoteQp;
  int qkey;
  int window;

  /** What the window grows back to after congestion. */
  int fullWindow;

  boolean congestionControl;
  int retryLimit;
  int rnrLimit;
  long timeoutNanos;
  int sendCq;
  int receiveCq;
  long mac;
  int readsOut;
  boolean remoteWriteAllowed;
  boolean remoteReadAllowed;
  boolean bindAllowed;
  boolean fastRegisterAllowed;
  boolean icrcIgnored;
  long completionContext;
  int statistics;
  int pushPage = NO_PUSH_PAGE;
  TrafficCounts traffic = new TrafficCounts();

  /** Until when no further congestion notification is sent. */
  long notifiedUntil = Long.MIN_VALUE;

  // The engine's lists.
  boolean queued;
  long deadline = Long.MAX_VALUE;
  long queuedDeadline = Long.MAX_VALUE;

  // Push mode: what came through the queue pair's page, and whether some of it was lost.
  @Nullable PushPage push;
  boolean pushLost;

  // Requester.
  final InFlight inFlight = new InFlight();
  int sqIndex;
  int sqPolarity = 1;

  /** The entry to send from next, and which of its packets. */
  long cursor;

  int cursorPacket;

  /** One more than the newest entry of which anything was sent or done. */
  long frontier;

  int readsInFlight;
  int nextPsn;
  int unackedPsn;
  int highestPsn;
  int nextSsn = 1;
  int creditLimit;
  boolean creditsUnlimited;
  int sinceAckRequest;
  int retries;
  int rnrRetries;
  boolean rnrWaiting;
  int impliedRetryPsn = -1;

  /** From where the rest of a READ was asked for last, or -1. */
  int restAskedPsn = -1;

  long failedEntry = NO_ENTRY;
  int failedCode;
  boolean drainPending;

  // Responder.
  ResponseQueue responses;
  final ReceiveWork receive = new ReceiveWork();
  int rqIndex;
  int rqPolarity = 1;
  int expectedPsn;
  int msn;
  boolean nakSent;
  int message;
  boolean receiveHeld;
  long received;
  long writeAddress;
  int writeKey;
  long writeLeft;

  /** The PSN behind the last READ accepted, if {@link #readSeen}. */
  int readEndPsn;

  boolean readSeen;

  static final int MESSAGE_NONE = 0;
  static final int MESSAGE_SEND = 1;
  static final int MESSAGE_WRITE = 2;

  QpState(int id) {
    this.id = id;
    this.responses = new ResponseQueue(IRD[0]);
  }

  /**
   * Takes over a context. The PSNs are taken only while nothing was sent or received with the ones
   * before, so that a later change of, say, the retry count does not turn the connection back.
   */
  void load(MemorySegment context, QpAttributes attributes) {
    type = attributes.qpType();
    virtualQueues = attributes.virtualQueues();
    shadowArea = attributes.shadowArea();
    ipv4 = RoceContext.IPV4.get(context, 0) != 0;
    vlanTag =
        RoceContext.INSERTVLANTAG.get(context, 0) != 0
            ? (int) RoceContext.VLANTAG.get(context, 0)
            : -1;
    rqQuanta = 1 << (int) RoceContext.RQWQESIZE.get(context, 0);
    pdId = (int) (RoceContext.PDIDXHI.get(context, 0) << 16 | RoceContext.PDIDX.get(context, 0));
    sqBase = RoceContext.SQADDR.get(context, 0);
    rqBase = RoceContext.RQADDR.get(context, 0);
    sqMask = (4 << (int) RoceContext.SQSIZE.get(context, 0)) - 1;
    rqMask = (4 << (int) RoceContext.RQSIZE.get(context, 0)) - 1;
    loadPath(context);
    ackCredits = (int) RoceContext.ACKCREDITS.get(context, 0);
    pkey = (int) RoceContext.PKEY.get(context, 0);
    remoteQp = (int) RoceContext.DESTQP.get(context, 0);
    qkey = (int) RoceContext.QKEY.get(context, 0);
    int congestionWindow = (int) Math.min(MAX_WINDOW, RoceContext.CWNDROCE.get(context, 0));
    fullWindow = congestionWindow == 0 ? MAX_WINDOW : congestionWindow;
    window = fullWindow;
    congestionControl = RoceContext.DCQCNENABLE.get(context, 0) != 0;
    retryLimit = (int) RoceContext.REXMIT_THRESH.get(context, 0);
    rnrLimit = (int) RoceContext.RNRNAK_THRESH.get(context, 0);
    timeoutNanos = Math.max(1, RoceContext.RTOMIN.get(context, 0)) * MILLISECOND;
    sendCq = (int) RoceContext.TXCQNUM.get(context, 0);
    receiveCq = (int) RoceContext.RXCQNUM.get(context, 0);
    mac = RoceContext.MACADDRESS.get(context, 0);
    readsOut = (int) RoceContext.ORDSIZE.get(context, 0);
    int readsIn = IRD[(int) Math.min(IRD.length - 1, RoceContext.IRDSIZE.get(context, 0))];
    if (readsIn != responses.readLimit() && responses.isEmpty()) {
      responses = new ResponseQueue(readsIn);
    }
    remoteWriteAllowed = RoceContext.WRRDRSPOK.get(context, 0) != 0;
    remoteReadAllowed = RoceContext.RDOK.get(context, 0) != 0;
    bindAllowed = RoceContext.BINDEN.get(context, 0) != 0;
    fastRegisterAllowed = RoceContext.FASTREGEN.get(context, 0) != 0;
    icrcIgnored = RoceContext.RCVNOICRC.get(context, 0) != 0;
    completionContext = RoceContext.QPCOMPCTX.get(context, 0);
    pushPage =
        RoceContext.PMENA.get(context, 0) != 0
            ? (int) RoceContext.PPIDX.get(context, 0)
            : NO_PUSH_PAGE;
    if (pushPage == NO_PUSH_PAGE) {
      push = null;
    }
    statistics =
        RoceContext.USESTATSINSTANCE.get(context, 0) != 0
            ? (int) RoceContext.STAT_INDEX.get(context, 0)
            : -1;
    if (state == IDLE) {
      expectedPsn = (int) RoceContext.EPSN.get(context, 0);
    }
    if (state == IDLE || state == READY_TO_RECEIVE) {
      nextPsn = (int) RoceContext.PSNNXT.get(context, 0);
      unackedPsn = nextPsn;
      highestPsn = nextPsn;
      creditLimit = (int) RoceContext.LSN.get(context, 0);
    }
  }

  private void loadPath(MemorySegment context) {
    hopLimit = (int) RoceContext.TTL.get(context, 0);
    trafficClass = (int) RoceContext.TOS.get(context, 0);
    sourcePort = (int) RoceContext.SRCPORTNUM.get(context, 0);
    destinationPort = (int) RoceContext.DESTPORTNUM.get(context, 0);
    remoteIpLow = RoceContext.DESTIPADDR3.get(context, 0);
    localIpLow = RoceContext.LOCAL_IPADDR3.get(context, 0);
    remoteIpHigh = 0;
    localIpHigh = 0;
    if (!ipv4) {
      remoteIpLow |= RoceContext.DESTIPADDR2.get(context, 0) << 32;
      remoteIpHigh =
          RoceContext.DESTIPADDR0.get(context, 0) << 32 | RoceContext.DESTIPADDR1.get(context, 0);
      localIpLow |= RoceContext.LOCAL_IPADDR2.get(context, 0) << 32;
      localIpHigh =
          RoceContext.LOCAL_IPADDR0.get(context, 0) << 32
              | RoceContext.LOCAL_IPADDR1.get(context, 0);
    }
    mtu = Math.clamp(RoceContext.SNDMSS.get(context, 0), 256, 4096);
    arpIndex = (int) RoceContext.ARPIDX.get(context, 0);
    flowLabel = (int) RoceContext.FLOWLABEL.get(context, 0);
  }

  /** Writes the live values back into a context. */
  void store(MemorySegment context) {
    RoceContext.PSNNXT.set(context, 0, nextPsn);
    RoceContext.PSNUNA.set(context, 0, unackedPsn);
    RoceContext.PSNMAX.set(context, 0, highestPsn);
    RoceContext.EPSN.set(context, 0, expectedPsn);
    RoceContext.LSN.set(context, 0, creditLimit);
  }

  /** Nanoseconds to wait for an acknowledgement; longer with each retry. */
  long timeout() {
    return timeoutNanos << Math.min(retries, MAX_BACKOFF);
  }

  boolean canReceive() {
    return state == READY_TO_RECEIVE || state == READY_TO_SEND || state == SEND_DRAINED;
  }

  boolean canSend() {
    return state == READY_TO_SEND || state == SEND_DRAINED;
  }

  /** Packets of a message; an empty one takes a packet too. */
  int packetsOf(long length) {
    return length == 0 ? 1 : (int) ((length + mtu - 1) / mtu);
  }

  /** Steps the SQ past a WQE. */
  void advanceSq(int quanta) {
    sqIndex += quanta;
    if (sqIndex > sqMask) {
      sqIndex -= sqMask + 1;
      sqPolarity ^= 1;
    }
  }

  /** Steps the RQ past a WQE. */
  void advanceRq() {
    rqIndex += rqQuanta;
    if (rqIndex > rqMask) {
      rqIndex = 0;
      rqPolarity ^= 1;
    }
  }
}
