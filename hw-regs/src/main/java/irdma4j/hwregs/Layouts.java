package irdma4j.hwregs;

import irdma4j.hwregs.cqp.CqpCommand;
import java.util.List;
import java.util.stream.Stream;

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
                RdmaFeature.LAYOUT,
                RoceContext.LAYOUT,
                IwarpContext.LAYOUT,
                MulticastContext.LAYOUT),
            CqpCommand.layouts().stream())
        .toList();
  }
}
