package irdma4j.hwregs;

import irdma4j.hwregs.cqp.CqpCommand;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Every layout, for tools and tests that go through all of them. */
public final class Layouts {
  private Layouts() {}

  /** All layouts, each with a name of its own. */
  public static List<Layout> all() {
    return Stream.concat(
            Stream.of(
                SqWqe.SEND,
                SqWqe.WRITE,
                SqWqe.READ,
                SqWqe.INLINE,
                SqWqe.BIND_MW,
                SqWqe.FAST_REGISTER,
                SqWqe.LOCAL_INVALIDATE,
                SqWqe.NOP,
                RqWqe.LAYOUT,
                QpShadow.LAYOUT,
                CqShadow.LAYOUT,
                Cqe.LAYOUT,
                ExtendedCqe.LAYOUT,
                ControlCqe.LAYOUT,
                Ceqe.LAYOUT,
                Aeqe.LAYOUT,
                CqpHostContext.LAYOUT,
                SegmentDescriptor.LAYOUT,
                PageDescriptorEntry.LAYOUT,
                PbleEntry.LAYOUT,
                FpmQueryBuffer.LAYOUT,
                FpmCommitBuffer.LAYOUT,
                RdmaFeature.LAYOUT,
                RoceContext.LAYOUT,
                IwarpContext.LAYOUT,
                MulticastContext.LAYOUT,
                Statistic.LAYOUT),
            CqpCommand.layouts().stream())
        .toList();
  }

  /** The layout of a send-queue WQE with that header, or null if its opcode is unknown. */
  public static @Nullable Layout sqWqe(long header) {
    SqOpcode opcode = SqOpcode.of((int) SqWqe.OPCODE.decode(header));
    if (opcode == null) {
      return null;
    }
    boolean inline = SqWqe.INLINEDATAFLAG.isSet(header);
    return switch (opcode) {
      case RDMA_WRITE, RDMA_WRITE_SOL -> inline ? SqWqe.INLINE : SqWqe.WRITE;
      case SEND, SEND_INV, SEND_SOL, SEND_SOL_INV -> inline ? SqWqe.INLINE : SqWqe.SEND;
      case RDMA_READ, RDMA_READ_LOC_INV -> SqWqe.READ;
      case BIND_MW -> SqWqe.BIND_MW;
      case FAST_REGISTER -> SqWqe.FAST_REGISTER;
      case LOCAL_INVALIDATE -> SqWqe.LOCAL_INVALIDATE;
      case NOP, GEN_RTS_AE -> SqWqe.NOP;
      case RECEIVE, RECEIVE_IMMEDIATE -> null;
    };
  }

  /** The layout of a control WQE, or null if its opcode is unknown. */
  public static @Nullable Layout cqpWqe(MemorySegment wqe) {
    CqpCommand command = CqpCommand.decode(wqe, 0);
    return command == null ? null : command.layout();
  }
}
