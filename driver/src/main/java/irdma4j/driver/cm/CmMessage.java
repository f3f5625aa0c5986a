package irdma4j.driver.cm;

import irdma4j.driver.Gid;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The messages of InfiniBand's communication management: 256 bytes with a common header.
 *
 * <pre>
 *  0  base version 1 | 1  class 7 | 2  class version 2 | 3  method 3 (Send)
 *  4  status         | 6  class specific
 *  8  transaction id
 * 16  attribute      | 18  reserved
 * 20  attribute modifier
 * 24  the message
 * </pre>
 *
 * <p>Source: InfiniBand Architecture Specification, volume 1, 13.4 and 12.6.
 */
sealed interface CmMessage {
  /** Bytes of a message. */
  int SIZE = 256;

  /** Where the message begins, after the common header. */
  int BODY = 24;

  /** The transaction that it is of. */
  long transaction();

  /** Writes the 232 bytes after the common header, which are zero. */
  void encodeBody(MemorySegment m, long at);

  /** The attribute that names the kind of message. */
  int attribute();

  /** Writes the whole message. */
  default void encode(MemorySegment m, long at) {
    m.asSlice(at, SIZE).fill((byte) 0);
    Bytes.set32(m, at, 0x01070203);
    Bytes.set64(m, at + 8, transaction());
    Bytes.set16(m, at + 16, attribute());
    encodeBody(m, at + BODY);
  }

  /** Reads a message; null if it is not one of communication management, or of no kind here. */
  static @Nullable CmMessage decode(MemorySegment m, long at) {
    if (Bytes.get32(m, at) != 0x01070203) {
      return null;
    }
    long transaction = Bytes.get64(m, at + 8);
    long body = at + BODY;
    return switch (Bytes.get16(m, at + 16)) {
      case Req.ATTRIBUTE -> Req.decode(transaction, m, body);
      case Mra.ATTRIBUTE -> Mra.decode(transaction, m, body);
      case Rej.ATTRIBUTE -> Rej.decode(transaction, m, body);
      case Rep.ATTRIBUTE -> Rep.decode(transaction, m, body);
      case Rtu.ATTRIBUTE -> Rtu.decode(transaction, m, body);
      case Dreq.ATTRIBUTE -> Dreq.decode(transaction, m, body);
      case Drep.ATTRIBUTE -> Drep.decode(transaction, m, body);
      case SidrReq.ATTRIBUTE -> SidrReq.decode(transaction, m, body);
      case SidrRep.ATTRIBUTE -> SidrRep.decode(transaction, m, body);
      default -> null;
    };
  }

  /** Which message a {@link Mra} or {@link Rej} speaks of. */
  enum Answered {
    /** A request for a connection. */
    REQ(0),
    /** A reply to one. */
    REP(1),
    /** Something else. */
    OTHER(2),
    /** No value of the specification's. */
    RESERVED(3);

    private final int code;

    Answered(int code) {
      this.code = code;
    }

    /** The message of a field's two bits. */
    static Answered of(int code) {
      return switch (code) {
        case 0 -> REQ;
        case 1 -> REP;
        case 2 -> OTHER;
        default -> RESERVED;
      };
    }
  }

  /**
   * Asks for a connection.
   *
   * @param path the primary path
   * @param alternate the alternate path, all zero if there is none
   * @param privateData 92 bytes, an {@link IpHeader} and the consumer's 56
   */
  record Req(
      long transaction,
      int localId,
      long serviceId,
      long caGuid,
      int queueKey,
      int qpn,
      int responderResources,
      int initiatorDepth,
      int remoteResponseTimeout,
      int transportType,
      boolean flowControl,
      int startingPsn,
      int localResponseTimeout,
      int retryCount,
      int pkey,
      int pathMtu,
      int rnrRetryCount,
      int maxCmRetries,
      boolean sharedReceiveQueue,
      PathRecord path,
      PathRecord alternate,
      PrivateData privateData)
      implements CmMessage {
    static final int ATTRIBUTE = 0x10;
    static final int PRIVATE = 92;
    static final int CONSUMER_PRIVATE = PRIVATE - IpHeader.SIZE;
    private static final int PRIVATE_AT = 140;

    @Override
    public int attribute() {
      return ATTRIBUTE;
    }

    static Req decode(long transaction, MemorySegment m, long at) {
      int service = Bytes.get8(m, at + 43);
      int retries = Bytes.get8(m, at + 47);
      return new Req(
          transaction,
          Bytes.get32(m, at),
          Bytes.get64(m, at + 8),
          Bytes.get64(m, at + 16),
          Bytes.get32(m, at + 28),
          Bytes.get24(m, at + 32),
          Bytes.get8(m, at + 35),
          Bytes.get8(m, at + 39),
          service >>> 3,
          service >>> 1 & 3,
          (service & 1) != 0,
          Bytes.get24(m, at + 44),
          retries >>> 3,
          retries & 7,
          Bytes.get16(m, at + 48),
          Bytes.get8(m, at + 50) >>> 4,
          Bytes.get8(m, at + 50) & 7,
          Bytes.get8(m, at + 51) >>> 4,
          (Bytes.get8(m, at + 51) & 8) != 0,
          PathRecord.decode(m, at + 52),
          PathRecord.decode(m, at + 96),
          PrivateData.read(m, at + PRIVATE_AT, PRIVATE));
    }

    @Override
    public void encodeBody(MemorySegment m, long at) {
      Bytes.set32(m, at, localId);
      Bytes.set64(m, at + 8, serviceId);
      Bytes.set64(m, at + 16, caGuid);
      Bytes.set32(m, at + 28, queueKey);
      Bytes.set24(m, at + 32, qpn, responderResources);
      Bytes.set24(m, at + 36, 0, initiatorDepth);
      Bytes.set24(
          m, at + 40, 0, remoteResponseTimeout << 3 | transportType << 1 | (flowControl ? 1 : 0));
      Bytes.set24(m, at + 44, startingPsn, localResponseTimeout << 3 | retryCount);
      Bytes.set16(m, at + 48, pkey);
      Bytes.set8(m, at + 50, pathMtu << 4 | rnrRetryCount);
      Bytes.set8(m, at + 51, maxCmRetries << 4 | (sharedReceiveQueue ? 8 : 0));
      path.encode(m, at + 52);
      alternate.encode(m, at + 96);
      privateData.write(m, at + PRIVATE_AT, PRIVATE);
    }

    /** The addresses, or null if there are none of this version. */
    @Nullable IpHeader ipHeader() {
      return IpHeader.decode(MemorySegment.ofArray(privateData.bytes()), 0);
    }

    /** What follows the addresses. */
    PrivateData consumerData() {
      return PrivateData.read(
          MemorySegment.ofArray(privateData.bytes()), IpHeader.SIZE, CONSUMER_PRIVATE);
    }
  }

  /**
   * A path in a request.
   *
   * @param packetRate the rate, 6 bits, and two reserved bits above
   */
  record PathRecord(
      int localLid,
      int remoteLid,
      Gid localGid,
      Gid remoteGid,
      int flowLabel,
      int packetRate,
      int trafficClass,
      int hopLimit,
      int serviceLevel,
      boolean subnetLocal,
      int ackTimeout) {
    /** No path. */
    static final PathRecord NONE =
        new PathRecord(0, 0, new Gid(0, 0), new Gid(0, 0), 0, 0, 0, 0, 0, false, 0);

    static PathRecord decode(MemorySegment m, long at) {
      return new PathRecord(
          Bytes.get16(m, at),
          Bytes.get16(m, at + 2),
          Bytes.gid(m, at + 4),
          Bytes.gid(m, at + 20),
          Bytes.get32(m, at + 36) >>> 12,
          Bytes.get8(m, at + 39),
          Bytes.get8(m, at + 40),
          Bytes.get8(m, at + 41),
          Bytes.get8(m, at + 42) >>> 4,
          (Bytes.get8(m, at + 42) & 8) != 0,
          Bytes.get8(m, at + 43) >>> 3);
    }

    void encode(MemorySegment m, long at) {
      Bytes.set16(m, at, localLid);
      Bytes.set16(m, at + 2, remoteLid);
      Bytes.set(m, at + 4, localGid);
      Bytes.set(m, at + 20, remoteGid);
      Bytes.set32(m, at + 36, flowLabel << 12 | packetRate);
      Bytes.set8(m, at + 40, trafficClass);
      Bytes.set8(m, at + 41, hopLimit);
      Bytes.set8(m, at + 42, serviceLevel << 4 | (subnetLocal ? 8 : 0));
      Bytes.set8(m, at + 43, ackTimeout << 3);
    }
  }

  /** Says that a message has come and that the answer takes a while. */
  record Mra(
      long transaction,
      int localId,
      int remoteId,
      Answered message,
      int serviceTimeout,
      PrivateData privateData)
      implements CmMessage {
    static final int ATTRIBUTE = 0x11;
    static final int PRIVATE = 222;

    @Override
    public int attribute() {
      return ATTRIBUTE;
    }

    static Mra decode(long transaction, MemorySegment m, long at) {
      return new Mra(
          transaction,
          Bytes.get32(m, at),
          Bytes.get32(m, at + 4),
          Answered.of(Bytes.get8(m, at + 8) >>> 6),
          Bytes.get8(m, at + 9) >>> 3,
          PrivateData.read(m, at + 10, PRIVATE));
    }

    @Override
    public void encodeBody(MemorySegment m, long at) {
      Bytes.set32(m, at, localId);
      Bytes.set32(m, at + 4, remoteId);
      Bytes.set8(m, at + 8, message.code << 6);
      Bytes.set8(m, at + 9, serviceTimeout << 3);
      privateData.write(m, at + 10, PRIVATE);
    }
  }

  /**
   * Refuses a connection.
   *
   * @param information further information on the reason, up to 72 bytes
   */
  record Rej(
      long transaction,
      int localId,
      int remoteId,
      Answered message,
      int reason,
      PrivateData information,
      PrivateData privateData)
      implements CmMessage {
    static final int ATTRIBUTE = 0x12;
    static final int PRIVATE = 148;
    private static final int INFORMATION = 72;

    @Override
    public int attribute() {
      return ATTRIBUTE;
    }

    static Rej decode(long transaction, MemorySegment m, long at) {
      int length = Math.min(Bytes.get8(m, at + 9) >>> 1, INFORMATION);
      return new Rej(
          transaction,
          Bytes.get32(m, at),
          Bytes.get32(m, at + 4),
          Answered.of(Bytes.get8(m, at + 8) >>> 6),
          Bytes.get16(m, at + 10),
          PrivateData.read(m, at + 12, length),
          PrivateData.read(m, at + 84, PRIVATE));
    }

    @Override
    public void encodeBody(MemorySegment m, long at) {
      Bytes.set32(m, at, localId);
      Bytes.set32(m, at + 4, remoteId);
      Bytes.set8(m, at + 8, message.code << 6);
      Bytes.set8(m, at + 9, information.length() << 1);
      Bytes.set16(m, at + 10, reason);
      information.write(m, at + 12, INFORMATION);
      privateData.write(m, at + 84, PRIVATE);
    }
  }

  /** Grants a connection. */
  record Rep(
      long transaction,
      int localId,
      int remoteId,
      int queueKey,
      int qpn,
      int startingPsn,
      int responderResources,
      int initiatorDepth,
      int targetAckDelay,
      int failoverAccepted,
      boolean flowControl,
      int rnrRetryCount,
      boolean sharedReceiveQueue,
      long caGuid,
      PrivateData privateData)
      implements CmMessage {
    static final int ATTRIBUTE = 0x13;
    static final int PRIVATE = 196;

    @Override
    public int attribute() {
      return ATTRIBUTE;
    }

    static Rep decode(long transaction, MemorySegment m, long at) {
      int delay = Bytes.get8(m, at + 26);
      int retries = Bytes.get8(m, at + 27);
      return new Rep(
          transaction,
          Bytes.get32(m, at),
          Bytes.get32(m, at + 4),
          Bytes.get32(m, at + 8),
          Bytes.get24(m, at + 12),
          Bytes.get24(m, at + 20),
          Bytes.get8(m, at + 24),
          Bytes.get8(m, at + 25),
          delay >>> 3,
          delay >>> 1 & 3,
          (delay & 1) != 0,
          retries >>> 5,
          (retries & 0x10) != 0,
          Bytes.get64(m, at + 28),
          PrivateData.read(m, at + 36, PRIVATE));
    }

    @Override
    public void encodeBody(MemorySegment m, long at) {
      Bytes.set32(m, at, localId);
      Bytes.set32(m, at + 4, remoteId);
      Bytes.set32(m, at + 8, queueKey);
      Bytes.set24(m, at + 12, qpn, 0);
      Bytes.set24(m, at + 20, startingPsn, 0);
      Bytes.set8(m, at + 24, responderResources);
      Bytes.set8(m, at + 25, initiatorDepth);
      Bytes.set8(m, at + 26, targetAckDelay << 3 | failoverAccepted << 1 | (flowControl ? 1 : 0));
      Bytes.set8(m, at + 27, rnrRetryCount << 5 | (sharedReceiveQueue ? 0x10 : 0));
      Bytes.set64(m, at + 28, caGuid);
      privateData.write(m, at + 36, PRIVATE);
    }
  }

  /** Says that the connection is used from now on. */
  record Rtu(long transaction, int localId, int remoteId, PrivateData privateData)
      implements CmMessage {
    static final int ATTRIBUTE = 0x14;
    static final int PRIVATE = 224;

    @Override
    public int attribute() {
      return ATTRIBUTE;
    }

    static Rtu decode(long transaction, MemorySegment m, long at) {
      return new Rtu(
          transaction,
          Bytes.get32(m, at),
          Bytes.get32(m, at + 4),
          PrivateData.read(m, at + 8, PRIVATE));
    }

    @Override
    public void encodeBody(MemorySegment m, long at) {
      Bytes.set32(m, at, localId);
      Bytes.set32(m, at + 4, remoteId);
      privateData.write(m, at + 8, PRIVATE);
    }
  }

  /** Ends a connection. */
  record Dreq(long transaction, int localId, int remoteId, int remoteQpn, PrivateData privateData)
      implements CmMessage {
    static final int ATTRIBUTE = 0x15;
    static final int PRIVATE = 220;

    @Override
    public int attribute() {
      return ATTRIBUTE;
    }

    static Dreq decode(long transaction, MemorySegment m, long at) {
      return new Dreq(
          transaction,
          Bytes.get32(m, at),
          Bytes.get32(m, at + 4),
          Bytes.get24(m, at + 8),
          PrivateData.read(m, at + 12, PRIVATE));
    }

    @Override
    public void encodeBody(MemorySegment m, long at) {
      Bytes.set32(m, at, localId);
      Bytes.set32(m, at + 4, remoteId);
      Bytes.set24(m, at + 8, remoteQpn, 0);
      privateData.write(m, at + 12, PRIVATE);
    }
  }

  /** Answers the end of a connection. */
  record Drep(long transaction, int localId, int remoteId, PrivateData privateData)
      implements CmMessage {
    static final int ATTRIBUTE = 0x16;
    static final int PRIVATE = 224;

    @Override
    public int attribute() {
      return ATTRIBUTE;
    }

    static Drep decode(long transaction, MemorySegment m, long at) {
      return new Drep(
          transaction,
          Bytes.get32(m, at),
          Bytes.get32(m, at + 4),
          PrivateData.read(m, at + 8, PRIVATE));
    }

    @Override
    public void encodeBody(MemorySegment m, long at) {
      Bytes.set32(m, at, localId);
      Bytes.set32(m, at + 4, remoteId);
      privateData.write(m, at + 8, PRIVATE);
    }
  }

  /**
   * Asks for the queue pair of a datagram service.
   *
   * @param privateData 216 bytes, an {@link IpHeader} and the consumer's 180
   */
  record SidrReq(long transaction, int requestId, int pkey, long serviceId, PrivateData privateData)
      implements CmMessage {
    static final int ATTRIBUTE = 0x17;
    static final int PRIVATE = 216;
    static final int CONSUMER_PRIVATE = PRIVATE - IpHeader.SIZE;

    @Override
    public int attribute() {
      return ATTRIBUTE;
    }

    static SidrReq decode(long transaction, MemorySegment m, long at) {
      return new SidrReq(
          transaction,
          Bytes.get32(m, at),
          Bytes.get16(m, at + 4),
          Bytes.get64(m, at + 8),
          PrivateData.read(m, at + 16, PRIVATE));
    }

    @Override
    public void encodeBody(MemorySegment m, long at) {
      Bytes.set32(m, at, requestId);
      Bytes.set16(m, at + 4, pkey);
      Bytes.set64(m, at + 8, serviceId);
      privateData.write(m, at + 16, PRIVATE);
    }

    /** The addresses, or null if there are none of this version. */
    @Nullable IpHeader ipHeader() {
      return IpHeader.decode(MemorySegment.ofArray(privateData.bytes()), 0);
    }

    /** What follows the addresses. */
    PrivateData consumerData() {
      return PrivateData.read(
          MemorySegment.ofArray(privateData.bytes()), IpHeader.SIZE, CONSUMER_PRIVATE);
    }
  }

  /**
   * Names the queue pair of a datagram service, or refuses.
   *
   * @param status 0 if there is one; 1 unsupported, 2 rejected, 3 no queue pair, 4 redirected, 5
   *     unsupported version
   * @param information further information on the status, up to 72 bytes
   */
  record SidrRep(
      long transaction,
      int requestId,
      int status,
      int qpn,
      long serviceId,
      int queueKey,
      PrivateData information,
      PrivateData privateData)
      implements CmMessage {
    static final int ATTRIBUTE = 0x18;
    static final int PRIVATE = 136;
    private static final int INFORMATION = 72;

    @Override
    public int attribute() {
      return ATTRIBUTE;
    }

    static SidrRep decode(long transaction, MemorySegment m, long at) {
      int length = Math.min(Bytes.get8(m, at + 5), INFORMATION);
      return new SidrRep(
          transaction,
          Bytes.get32(m, at),
          Bytes.get8(m, at + 4),
          Bytes.get24(m, at + 8),
          Bytes.get64(m, at + 12),
          Bytes.get32(m, at + 20),
          PrivateData.read(m, at + 24, length),
          PrivateData.read(m, at + 96, PRIVATE));
    }

    @Override
    public void encodeBody(MemorySegment m, long at) {
      Bytes.set32(m, at, requestId);
      Bytes.set8(m, at + 4, status);
      Bytes.set8(m, at + 5, information.length());
      Bytes.set24(m, at + 8, qpn, 0);
      Bytes.set64(m, at + 12, serviceId);
      Bytes.set32(m, at + 20, queueKey);
      information.write(m, at + 24, INFORMATION);
      privateData.write(m, at + 96, PRIVATE);
    }
  }
}
