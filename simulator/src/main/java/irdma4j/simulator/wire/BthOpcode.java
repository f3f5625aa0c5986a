package irdma4j.simulator.wire;

/**
 * Values of the BTH's opcode and which headers follow it. The upper three bits name the transport,
 * the lower five the operation. Source: InfiniBand Architecture Specification, volume 1, 9.2.1.
 */
public final class BthOpcode {
  /** RC SEND, first packet of several. */
  public static final int SEND_FIRST = 0x00;

  /** RC SEND, a packet in the middle. */
  public static final int SEND_MIDDLE = 0x01;

  /** RC SEND, last packet. */
  public static final int SEND_LAST = 0x02;

  /** RC SEND, last packet, with immediate. */
  public static final int SEND_LAST_IMMEDIATE = 0x03;

  /** RC SEND in one packet. */
  public static final int SEND_ONLY = 0x04;

  /** RC SEND in one packet, with immediate. */
  public static final int SEND_ONLY_IMMEDIATE = 0x05;

  /** RC WRITE, first packet of several. */
  public static final int WRITE_FIRST = 0x06;

  /** RC WRITE, a packet in the middle. */
  public static final int WRITE_MIDDLE = 0x07;

  /** RC WRITE, last packet. */
  public static final int WRITE_LAST = 0x08;

  /** RC WRITE, last packet, with immediate. */
  public static final int WRITE_LAST_IMMEDIATE = 0x09;

  /** RC WRITE in one packet. */
  public static final int WRITE_ONLY = 0x0a;

  /** RC WRITE in one packet, with immediate. */
  public static final int WRITE_ONLY_IMMEDIATE = 0x0b;

  /** RC READ request. */
  public static final int READ_REQUEST = 0x0c;

  /** RC READ response, first packet of several. */
  public static final int READ_RESPONSE_FIRST = 0x0d;

  /** RC READ response, a packet in the middle. */
  public static final int READ_RESPONSE_MIDDLE = 0x0e;

  /** RC READ response, last packet. */
  public static final int READ_RESPONSE_LAST = 0x0f;

  /** RC READ response in one packet. */
  public static final int READ_RESPONSE_ONLY = 0x10;

  /** RC acknowledgement, positive or negative. */
  public static final int ACKNOWLEDGE = 0x11;

  /** RC answer to an atomic operation. */
  public static final int ATOMIC_ACKNOWLEDGE = 0x12;

  /** RC compare and swap. */
  public static final int COMPARE_SWAP = 0x13;

  /** RC fetch and add. */
  public static final int FETCH_ADD = 0x14;

  /** RC SEND, last packet, with invalidate. */
  public static final int SEND_LAST_INVALIDATE = 0x16;

  /** RC SEND in one packet, with invalidate. */
  public static final int SEND_ONLY_INVALIDATE = 0x17;

  /** UD SEND. */
  public static final int UD_SEND_ONLY = 0x64;

  /** UD SEND with immediate. */
  public static final int UD_SEND_ONLY_IMMEDIATE = 0x65;

  /** Congestion notification packet. */
  public static final int CONGESTION_NOTIFICATION = 0x81;

  private static final int DETH = 1;
  private static final int RETH = 2;
  private static final int AETH = 4;
  private static final int IMMEDIATE = 8;
  private static final int IETH = 16;
  private static final int ATOMIC = 32;
  private static final int ATOMIC_ACK = 64;

  private static final byte[] RELIABLE = new byte[32];

  static {
    RELIABLE[SEND_LAST_IMMEDIATE] = IMMEDIATE;
    RELIABLE[SEND_ONLY_IMMEDIATE] = IMMEDIATE;
    RELIABLE[WRITE_FIRST] = RETH;
    RELIABLE[WRITE_LAST_IMMEDIATE] = IMMEDIATE;
    RELIABLE[WRITE_ONLY] = RETH;
    RELIABLE[WRITE_ONLY_IMMEDIATE] = RETH | IMMEDIATE;
    RELIABLE[READ_REQUEST] = RETH;
    RELIABLE[READ_RESPONSE_FIRST] = AETH;
    RELIABLE[READ_RESPONSE_LAST] = AETH;
    RELIABLE[READ_RESPONSE_ONLY] = AETH;
    RELIABLE[ACKNOWLEDGE] = AETH;
    RELIABLE[ATOMIC_ACKNOWLEDGE] = AETH | ATOMIC_ACK;
    RELIABLE[COMPARE_SWAP] = ATOMIC;
    RELIABLE[FETCH_ADD] = ATOMIC;
    RELIABLE[SEND_LAST_INVALIDATE] = IETH;
    RELIABLE[SEND_ONLY_INVALIDATE] = IETH;
  }

  private BthOpcode() {}

  /** The name of an opcode here, or its number. */
  public static String name(int opcode) {
    return switch (opcode) {
      case SEND_FIRST -> "SEND_FIRST";
      case SEND_MIDDLE -> "SEND_MIDDLE";
      case SEND_LAST -> "SEND_LAST";
      case SEND_LAST_IMMEDIATE -> "SEND_LAST_IMMEDIATE";
      case SEND_ONLY -> "SEND_ONLY";
      case SEND_ONLY_IMMEDIATE -> "SEND_ONLY_IMMEDIATE";
      case WRITE_FIRST -> "WRITE_FIRST";
      case WRITE_MIDDLE -> "WRITE_MIDDLE";
      case WRITE_LAST -> "WRITE_LAST";
      case WRITE_LAST_IMMEDIATE -> "WRITE_LAST_IMMEDIATE";
      case WRITE_ONLY -> "WRITE_ONLY";
      case WRITE_ONLY_IMMEDIATE -> "WRITE_ONLY_IMMEDIATE";
      case READ_REQUEST -> "READ_REQUEST";
      case READ_RESPONSE_FIRST -> "READ_RESPONSE_FIRST";
      case READ_RESPONSE_MIDDLE -> "READ_RESPONSE_MIDDLE";
      case READ_RESPONSE_LAST -> "READ_RESPONSE_LAST";
      case READ_RESPONSE_ONLY -> "READ_RESPONSE_ONLY";
      case ACKNOWLEDGE -> "ACKNOWLEDGE";
      case ATOMIC_ACKNOWLEDGE -> "ATOMIC_ACKNOWLEDGE";
      case COMPARE_SWAP -> "COMPARE_SWAP";
      case FETCH_ADD -> "FETCH_ADD";
      case SEND_LAST_INVALIDATE -> "SEND_LAST_INVALIDATE";
      case SEND_ONLY_INVALIDATE -> "SEND_ONLY_INVALIDATE";
      case UD_SEND_ONLY -> "UD_SEND_ONLY";
      case UD_SEND_ONLY_IMMEDIATE -> "UD_SEND_ONLY_IMMEDIATE";
      case CONGESTION_NOTIFICATION -> "CONGESTION_NOTIFICATION";
      default -> "opcode 0x%02x".formatted(opcode);
    };
  }

  /** Whether the opcode is of the reliable connected transport. */
  public static boolean isReliable(int opcode) {
    return (opcode & 0xe0) == 0;
  }

  /** Whether the opcode is of the unreliable datagram transport. */
  public static boolean isDatagram(int opcode) {
    return (opcode & 0xe0) == 0x60;
  }

  /** Whether a DETH follows the BTH. */
  public static boolean hasDeth(int opcode) {
    return (headers(opcode) & DETH) != 0;
  }

  /** Whether a RETH is present. */
  public static boolean hasReth(int opcode) {
    return (headers(opcode) & RETH) != 0;
  }

  /** Whether an AETH is present. */
  public static boolean hasAeth(int opcode) {
    return (headers(opcode) & AETH) != 0;
  }

  /** Whether immediate data is present. */
  public static boolean hasImmediate(int opcode) {
    return (headers(opcode) & IMMEDIATE) != 0;
  }

  /** Whether an IETH (stag to invalidate) is present. */
  public static boolean hasIeth(int opcode) {
    return (headers(opcode) & IETH) != 0;
  }

  /** Whether an AtomicETH is present. */
  public static boolean hasAtomic(int opcode) {
    return (headers(opcode) & ATOMIC) != 0;
  }

  /** Whether an AtomicAckETH is present. */
  public static boolean hasAtomicAck(int opcode) {
    return (headers(opcode) & ATOMIC_ACK) != 0;
  }

  /** Bytes of all headers after the BTH. */
  public static int extendedHeaderBytes(int opcode) {
    int headers = headers(opcode);
    return ((headers & DETH) != 0 ? 8 : 0)
        + ((headers & RETH) != 0 ? 16 : 0)
        + ((headers & AETH) != 0 ? 4 : 0)
        + ((headers & IMMEDIATE) != 0 ? 4 : 0)
        + ((headers & IETH) != 0 ? 4 : 0)
        + ((headers & ATOMIC) != 0 ? 28 : 0)
        + ((headers & ATOMIC_ACK) != 0 ? 8 : 0);
  }

  /** The transport's operations share their numbers; UD adds a DETH, RD (not known here) more. */
  private static int headers(int opcode) {
    int base = RELIABLE[opcode & 0x1f];
    return switch (opcode >>> 5) {
      case 0, 1 -> base;
      case 3 -> base | DETH;
      default -> 0;
    };
  }
}
