package irdma4j.simulator.transport;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.Generation;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.SqWqe;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.Payload;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** A send WQE taken apart; reused. The WQE's layout is {@link SqWqe}. */
final class SendWork {
  static final int QUANTUM = 32;
  static final int MAX_QUANTA = 8;
  static final int MAX_INLINE = 101;

  /** What Linux allows at most; uk.c, irdma_uk_send and irdma_uk_rdma_write. */
  private static final int MAX_FRAGMENTS = Generation.GEN_2.maxFragments();

  private static final int INLINE_FIRST = 8;
  private static final int INLINE_MORE = 31;
  private static final @Nullable SqOpcode[] OPCODES = new SqOpcode[64];

  static {
    for (SqOpcode opcode : SqOpcode.values()) {
      OPCODES[opcode.code()] = opcode;
    }
  }

  private final Fragments fragments = new Fragments();
  private final MemorySegment inlineData = MemorySegment.ofArray(new byte[104]);

  @Nullable SqOpcode opcode;
  boolean signaled;
  boolean readFence;
  boolean localFence;
  boolean immediateValid;
  boolean inline;
  int immediate;
  long length;
  long word0;
  long word1;
  long word2;
  long header;

  /** Quanta of the WQE whose header is given, as the builder of the WQE counted them. */
  static int quanta(long header) {
    SqOpcode opcode = OPCODES[(int) SqWqe.OPCODE.decode(header)];
    if (opcode == null || !carriesData(opcode)) {
      return 1;
    }
    if (SqWqe.INLINEDATAFLAG.isSet(header)) {
      int length = (int) SqWqe.INLINEDATALEN.decode(header);
      return length <= INLINE_FIRST
          ? 1
          : Math.min(MAX_QUANTA, 1 + (length - INLINE_FIRST + INLINE_MORE - 1) / INLINE_MORE);
    }
    return 1 + ((int) SqWqe.ADDFRAGCNT.decode(header) + 1) / 2;
  }

  private static boolean carriesData(SqOpcode opcode) {
    return switch (opcode) {
      case RDMA_WRITE,
          RDMA_WRITE_SOL,
          RDMA_READ,
          RDMA_READ_LOC_INV,
          SEND,
          SEND_INV,
          SEND_SOL,
          SEND_SOL_INV ->
          true;
      default -> false;
    };
  }

  /**
   * Takes apart a WQE.
   *
   * @param wqe its quanta, at offset 0
   * @return 0, or the asynchronous event code that says what is wrong with it
   */
  int parse(MemorySegment wqe) {
    word0 = LittleEndian.getLong(wqe, 0);
    word1 = LittleEndian.getLong(wqe, 8);
    word2 = LittleEndian.getLong(wqe, 16);
    header = LittleEndian.getLong(wqe, 24);
    opcode = OPCODES[(int) SqWqe.OPCODE.decode(header)];
    signaled = SqWqe.SIGCOMPL.isSet(header);
    readFence = SqWqe.READFENCE.isSet(header);
    localFence = SqWqe.LOCALFENCE.isSet(header);
    immediateValid = false;
    inline = false;
    length = 0;
    fragments.clear();
    if (opcode == null) {
      return AeCode.WQE_UNEXPECTED_OPCODE.code();
    }
    if (!carriesData(opcode)) {
      return 0;
    }
    inline = SqWqe.INLINEDATAFLAG.isSet(header);
    immediateValid = SqWqe.IMMDATAFLAG.isSet(header) && !isRead();
    immediate = (int) word0;
    if (inline) {
      return parseInline(wqe);
    }
    return parseFragments(wqe);
  }

  private int parseInline(MemorySegment wqe) {
    length = SqWqe.INLINEDATALEN.decode(header);
    if (length > MAX_INLINE || isRead()) {
      return AeCode.WQE_INVALID_PARAMETER.code();
    }
    int left = (int) length;
    int chunk = Math.min(left, INLINE_FIRST);
    MemorySegment.copy(wqe, 8, inlineData, 0, chunk);
    int at = chunk;
    for (int quantum = 1; at < left; quantum++) {
      chunk = Math.min(left - at, INLINE_MORE);
      MemorySegment.copy(wqe, (long) quantum * QUANTUM, inlineData, at, chunk);
      at += chunk;
    }
    return 0;
  }

  private int parseFragments(MemorySegment wqe) {
    int count = (int) SqWqe.ADDFRAGCNT.decode(header) + 1;
    // Immediate data takes the first place, and an empty fragment may come last.
    if (count > (immediateValid ? MAX_FRAGMENTS + 2 : MAX_FRAGMENTS)) {
      return AeCode.WQE_INVALID_FRAG_DATA.code();
    }
    fragments.parse(wqe, immediateValid ? 1 : 0, count);
    length = fragments.total();
    return length > Integer.MAX_VALUE || fragments.count() > MAX_FRAGMENTS
        ? AeCode.WQE_INVALID_FRAG_DATA.code()
        : 0;
  }

  boolean isRead() {
    return opcode == SqOpcode.RDMA_READ || opcode == SqOpcode.RDMA_READ_LOC_INV;
  }

  boolean isWrite() {
    return opcode == SqOpcode.RDMA_WRITE || opcode == SqOpcode.RDMA_WRITE_SOL;
  }

  boolean isSend() {
    return carriesData() && !isRead() && !isWrite();
  }

  boolean carriesData() {
    return opcode != null && carriesData(opcode);
  }

  boolean solicited() {
    return opcode == SqOpcode.SEND_SOL
        || opcode == SqOpcode.SEND_SOL_INV
        || opcode == SqOpcode.RDMA_WRITE_SOL;
  }

  boolean invalidates() {
    return opcode == SqOpcode.SEND_INV || opcode == SqOpcode.SEND_SOL_INV;
  }

  long remoteAddress() {
    return word2;
  }

  /** The peer's stag: rkey, or the stag to invalidate. */
  int remoteStag() {
    return (int) header;
  }

  int sinkStag() {
    return fragments.firstStag();
  }

  /** Whether the local memory may be used as the operation needs; as {@link Fragments#check}. */
  int checkLocal(DeviceServices services, QpState qp) {
    return inline
        ? DeviceServices.ACCESS_OK
        : fragments.check(
            services, qp, isRead() ? DeviceServices.LOCAL_WRITE : DeviceServices.LOCAL_READ);
  }

  /** Copies a part of the message out of local memory; as {@link Fragments#gather}. */
  int gather(
      DeviceServices services,
      QpState qp,
      long offset,
      int count,
      MemorySegment target,
      long targetOffset) {
    if (inline) {
      MemorySegment.copy(
          inlineData,
          ValueLayout.JAVA_BYTE,
          offset,
          target,
          ValueLayout.JAVA_BYTE,
          targetOffset,
          count);
      return DeviceServices.ACCESS_OK;
    }
    return fragments.gather(services, qp, offset, count, target, targetOffset);
  }

  /** Says where a part of the message lies that is not inline; as {@link Fragments#lend}. */
  int lend(DeviceServices services, QpState qp, long offset, int count, Payload payload) {
    return fragments.lend(services, qp, offset, count, payload);
  }

  /** Copies a part of a READ's answer into local memory; as {@link Fragments#scatter}. */
  int scatter(
      DeviceServices services, QpState qp, long offset, int count, Payload source, long from) {
    return fragments.scatter(services, qp, offset, count, source, from);
  }
}
