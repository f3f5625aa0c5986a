package irdma4j.driver.cm;

import org.jspecify.annotations.Nullable;

/**
 * Why a connection was refused.
 *
 * <p>Source: InfiniBand Architecture Specification, volume 1, 12.6.7.2.
 */
public enum RejectReason {
  /** No queue pair available. */
  NO_QP(1, "no queue pair available"),
  /** No end-to-end context available. */
  NO_EEC(2, "no end-to-end context available"),
  /** No resources available. */
  NO_RESOURCES(3, "no resources available"),
  /** The other side did not answer in time. */
  TIMEOUT(4, "timeout"),
  /** Unsupported request. */
  UNSUPPORTED(5, "unsupported request"),
  /** Invalid communication id. */
  INVALID_COMM_ID(6, "invalid communication id"),
  /** Invalid communication instance. */
  INVALID_COMM_INSTANCE(7, "invalid communication instance"),
  /** Nobody listens. */
  INVALID_SERVICE_ID(8, "invalid service id"),
  /** Invalid transport service type. */
  INVALID_TRANSPORT_TYPE(9, "invalid transport service type"),
  /** The queue pair is of a connection that is still there. */
  STALE_CONNECTION(10, "stale connection"),
  /** No such reliable datagram channel. */
  RDC_NOT_EXIST(11, "reliable datagram channel does not exist"),
  /** Primary GID rejected. */
  INVALID_GID(12, "primary remote port GID rejected"),
  /** Primary LID rejected. */
  INVALID_LID(13, "primary remote port LID rejected"),
  /** Primary service level rejected. */
  INVALID_SL(14, "invalid primary service level"),
  /** Primary traffic class rejected. */
  INVALID_TRAFFIC_CLASS(15, "invalid primary traffic class"),
  /** Primary hop limit rejected. */
  INVALID_HOP_LIMIT(16, "invalid primary hop limit"),
  /** Primary packet rate rejected. */
  INVALID_PACKET_RATE(17, "invalid primary packet rate"),
  /** The request is to go to another port's manager. */
  PORT_CM_REDIRECTION(24, "port and CM redirection"),
  /** The request is to go to another port. */
  PORT_REDIRECTION(25, "port redirection"),
  /** The path MTU is not supported. */
  INVALID_PATH_MTU(26, "invalid path MTU"),
  /** Insufficient responder resources. */
  INSUFFICIENT_RESPONDER_RESOURCES(27, "insufficient responder resources"),
  /** The application refused. */
  CONSUMER_DEFINED(28, "consumer reject"),
  /** RNR retry count rejected. */
  INVALID_RNR_RETRY_COUNT(29, "RNR retry count rejected"),
  /** The communication id is in use. */
  DUPLICATE_LOCAL_COMM_ID(30, "duplicate local communication id"),
  /** Unsupported class version. */
  INVALID_CLASS_VERSION(31, "unsupported class version"),
  /** Primary flow label rejected. */
  INVALID_FLOW_LABEL(32, "invalid primary flow label");

  private final int code;
  private final String meaning;

  RejectReason(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  /** The number in the message. */
  public int code() {
    return code;
  }

  /** What it says in words. */
  public String meaning() {
    return meaning;
  }

  /** The reason of a number, or null if it is not of this list. */
  public static @Nullable RejectReason of(int code) {
    for (RejectReason reason : values()) {
      if (reason.code == code) {
        return reason;
      }
    }
    return null;
  }

  /** A number's meaning in words. */
  public static String describe(int code) {
    RejectReason known = of(code);
    return known == null ? "reason " + code : known.meaning;
  }
}
