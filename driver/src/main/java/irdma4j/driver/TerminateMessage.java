package irdma4j.driver;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.FlushCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The message that ends an iWARP connection after an error: four bytes that say what was wrong, and
 * the headers of the frame that it was wrong with, if the device left that frame in the queue
 * pair's Q2 buffer.
 *
 * <p>Source: Linux irdma_bld_terminate_hdr in ctrl.c; RFC 5040, section 4.8.
 *
 * @param length bytes of the message, which starts where the Q2 buffer does
 * @param reason why the queues are flushed
 * @param kind what kind of error it is
 */
record TerminateMessage(int length, FlushCode reason, QueuePairError kind) {
  /** Where in the Q2 buffer the device puts the bad frame. */
  static final int BAD_FRAME = 72;

  private static final int HEADER = 4;
  private static final int ETHERNET = 14;
  private static final int TCP_DATA_OFFSET = 12;
  private static final int LENGTH_PRESENT = 0x80;
  private static final int DDP_PRESENT = 0x40;
  private static final int RDMA_PRESENT = 0x20;
  private static final int MPA_LENGTH = 2;
  private static final int DDP_TAGGED_BYTES = 14;
  private static final int DDP_UNTAGGED_BYTES = 18;
  private static final int RDMA_READ_BYTES = 28;
  private static final int TAGGED = 0x80;
  private static final int WRITE = 0;
  private static final int READ_REQUEST = 1;
  private static final int SEND_INVALIDATE = 4;
  private static final int SEND_SOLICITED_INVALIDATE = 6;
  private static final int NO_FRAME = -1;
  private static final ValueLayout.OfShort NETWORK_SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(java.nio.ByteOrder.BIG_ENDIAN);

  /** Layer in the upper half, kind of error in the lower, and the error's code. */
  private enum Cause {
    TAGGED_INVALID_STAG(0x11, 0x00),
    TAGGED_BOUNDS(0x11, 0x01),
    TAGGED_OTHER_STREAM(0x11, 0x02),
    TAGGED_VERSION(0x11, 0x04),
    UNTAGGED_QUEUE(0x12, 0x01),
    UNTAGGED_NO_BUFFER(0x12, 0x02),
    UNTAGGED_SEQUENCE(0x12, 0x03),
    UNTAGGED_OFFSET(0x12, 0x04),
    UNTAGGED_TOO_LONG(0x12, 0x05),
    UNTAGGED_VERSION(0x12, 0x06),
    DDP_CATASTROPHIC(0x10, 0x00),
    PROTECTION_STAG(0x01, 0x00),
    PROTECTION_BOUNDS(0x01, 0x01),
    PROTECTION_ACCESS(0x01, 0x02),
    PROTECTION_OTHER_STREAM(0x01, 0x03),
    PROTECTION_WRAP(0x01, 0x04),
    PROTECTION_NOT_INVALIDATED(0x01, 0x09),
    OPERATION_STAG(0x02, 0x00),
    OPERATION_VERSION(0x02, 0x05),
    OPERATION_NOT_INVALIDATED(0x02, 0x09),
    OPERATION_UNSPECIFIED(0x02, 0xff),
    MPA_CRC(0x23, 0x02);

    private final int layerAndType;
    private final int code;

    Cause(int layerAndType, int code) {
      this.layerAndType = layerAndType;
      this.code = code;
    }
  }

  private record Verdict(Cause cause, FlushCode reason, QueuePairError kind) {}

  /**
   * Builds the message at the start of the Q2 buffer.
   *
   * @param event the asynchronous event's code
   * @param q2 the Q2 buffer
   * @param hasFrame whether the device left the bad frame in it
   */
  static TerminateMessage build(int event, MemorySegment q2, boolean hasFrame) {
    q2.asSlice(0, BAD_FRAME).fill((byte) 0);
    long segment = hasFrame ? segment(q2) : 0;
    int opcode = hasFrame ? unsigned(q2, segment + 3) & 0x0f : NO_FRAME;
    boolean tagged = false;
    int present = 0;
    int copied = 0;
    int bytes = hasFrame ? q2.get(NETWORK_SHORT, segment) & 0xffff : 0;
    if (bytes > 0) {
      present = LENGTH_PRESENT;
      copied = MPA_LENGTH;
      tagged = (unsigned(q2, segment + MPA_LENGTH) & TAGGED) != 0;
      int ddp = tagged ? DDP_TAGGED_BYTES : DDP_UNTAGGED_BYTES;
      if (bytes >= ddp) {
        present |= DDP_PRESENT;
        copied += ddp;
      }
      if (!tagged && bytes >= ddp + RDMA_READ_BYTES && opcode == READ_REQUEST) {
        present |= RDMA_PRESENT;
        copied += RDMA_READ_BYTES;
      }
    }
    Verdict verdict = verdict(AeCode.of(event), opcode, hasFrame, tagged);
    q2.set(ValueLayout.JAVA_BYTE, 0, (byte) verdict.cause().layerAndType);
    q2.set(ValueLayout.JAVA_BYTE, 1, (byte) verdict.cause().code);
    q2.set(ValueLayout.JAVA_BYTE, 2, (byte) present);
    MemorySegment.copy(q2, segment, q2, HEADER, copied);
    return new TerminateMessage(HEADER + copied, verdict.reason(), verdict.kind());
  }

  /** Where the frame's MPA header is: after those of Ethernet, IP and TCP. */
  private static long segment(MemorySegment q2) {
    long at = BAD_FRAME + ETHERNET;
    at += 4L * (unsigned(q2, at) & 0x0f);
    return at + 4L * (unsigned(q2, at + TCP_DATA_OFFSET) >> 4);
  }

  private static int unsigned(MemorySegment q2, long offset) {
    return q2.get(ValueLayout.JAVA_BYTE, offset) & 0xff;
  }

  private static Verdict verdict(
      @Nullable AeCode event, int opcode, boolean hasFrame, boolean tagged) {
    boolean write = opcode == WRITE;
    boolean invalidate = opcode == SEND_INVALIDATE || opcode == SEND_SOLICITED_INVALIDATE;
    return switch (event) {
      case AMP_UNALLOCATED_STAG ->
          write
              ? access(Cause.TAGGED_INVALID_STAG, FlushCode.PROT_ERR)
              : access(Cause.PROTECTION_STAG, FlushCode.REM_ACCESS_ERR);
      case AMP_BOUNDS_VIOLATION ->
          hasFrame
              ? access(Cause.TAGGED_BOUNDS, FlushCode.PROT_ERR)
              : access(Cause.PROTECTION_BOUNDS, FlushCode.REM_ACCESS_ERR);
      case AMP_BAD_PD -> {
        if (write) {
          yield fatal(Cause.TAGGED_OTHER_STREAM, FlushCode.PROT_ERR);
        }
        yield fatal(
            invalidate ? Cause.PROTECTION_NOT_INVALIDATED : Cause.PROTECTION_OTHER_STREAM,
            FlushCode.REM_ACCESS_ERR);
      }
      case AMP_INVALID_STAG -> access(Cause.PROTECTION_STAG, FlushCode.REM_ACCESS_ERR);
      case AMP_BAD_QP -> fatal(Cause.UNTAGGED_QUEUE, FlushCode.LOC_QP_OP_ERR);
      case AMP_BAD_STAG_KEY, AMP_BAD_STAG_INDEX ->
          invalidate
              ? access(Cause.OPERATION_NOT_INVALIDATED, FlushCode.REM_OP_ERR)
              : access(Cause.OPERATION_STAG, FlushCode.REM_ACCESS_ERR);
      case AMP_RIGHTS_VIOLATION, AMP_INVALIDATE_NO_REMOTE_ACCESS_RIGHTS, PRIV_OPERATION_DENIED ->
          access(Cause.PROTECTION_ACCESS, FlushCode.REM_ACCESS_ERR);
      case AMP_TO_WRAP -> access(Cause.PROTECTION_WRAP, FlushCode.REM_ACCESS_ERR);
      case LLP_RECEIVED_MPA_CRC_ERROR -> fatal(Cause.MPA_CRC, FlushCode.GENERAL_ERR);
      case LLP_SEGMENT_TOO_SMALL -> fatal(Cause.DDP_CATASTROPHIC, FlushCode.LOC_LEN_ERR);
      case LCE_QP_CATASTROPHIC, DDP_NO_L_BIT -> fatal(Cause.DDP_CATASTROPHIC, FlushCode.FATAL_ERR);
      case DDP_INVALID_MSN_GAP_IN_MSN -> fatal(Cause.UNTAGGED_SEQUENCE, FlushCode.GENERAL_ERR);
      case DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER ->
          access(Cause.UNTAGGED_TOO_LONG, FlushCode.LOC_LEN_ERR);
      case DDP_UBE_INVALID_DDP_VERSION ->
          fatal(tagged ? Cause.TAGGED_VERSION : Cause.UNTAGGED_VERSION, FlushCode.GENERAL_ERR);
      case DDP_UBE_INVALID_MO -> fatal(Cause.UNTAGGED_OFFSET, FlushCode.GENERAL_ERR);
      case DDP_UBE_INVALID_MSN_NO_BUFFER_AVAILABLE ->
          fatal(Cause.UNTAGGED_NO_BUFFER, FlushCode.REM_OP_ERR);
      case DDP_UBE_INVALID_QN -> fatal(Cause.UNTAGGED_QUEUE, FlushCode.GENERAL_ERR);
      case RDMAP_ROE_INVALID_RDMAP_VERSION -> fatal(Cause.OPERATION_VERSION, FlushCode.GENERAL_ERR);
      case null, default -> fatal(Cause.OPERATION_UNSPECIFIED, FlushCode.FATAL_ERR);
    };
  }

  private static Verdict access(Cause cause, FlushCode reason) {
    return new Verdict(cause, reason, QueuePairError.ACCESS);
  }

  private static Verdict fatal(Cause cause, FlushCode reason) {
    return new Verdict(cause, reason, QueuePairError.FATAL);
  }
}
