package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import irdma4j.hmc.HmcFunction;
import irdma4j.hmc.SegmentProgrammer;
import irdma4j.hmc.SegmentType;
import irdma4j.hmc.SegmentUpdate;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.UpdatePeSds;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * One control queue pair tells the device of the segments of several functions, each by its id. A
 * page's invalidation, a posted write, is followed by a read, so that it has arrived before the
 * page's memory goes: no operation follows where the segment stays.
 */
class FunctionSegmentsTest {
  @Test
  void eachOperationNamesItsFunction() {
    try (ScriptedCard card = new ScriptedCard()) {
      ControlQueue control = Bench.control(card, ControlQueue.SLOTS);
      SegmentUpdate update = new SegmentUpdate(7, SegmentType.PAGED, 0xa5_0000_0000L, true);
      for (HmcFunction owner : List.of(HmcFunction.physical(2), HmcFunction.virtual(13, 200))) {
        SegmentProgrammer programmer = control.programmer(owner);
        card.take();
        programmer.updateSegments(List.of(update));
        assertEquals(List.of(owner.id()), functions(card.take()));
        programmer.invalidatePage(7, 511);
        assertEquals(
            List.of(
                new ScriptedCard.Event.Access(
                    true,
                    owner.isVirtual() ? 0x528314 : Registers.PFHMC_PDINV.offset(),
                    owner.isVirtual() ? 511 << 16 | 7 : 511 << 16 | 1 << 15 | 7),
                new ScriptedCard.Event.Access(false, Registers.GLPE_CRITERR.offset(), 0)),
            card.take());
      }
      control.close();
    }
  }

  private static List<Integer> functions(List<ScriptedCard.Event> events) {
    return events.stream()
        .filter(ScriptedCard.Event.Wqe.class::isInstance)
        .map(event -> HexFormat.of().parseHex(((ScriptedCard.Event.Wqe) event).hex()))
        .map(bytes -> (UpdatePeSds) CqpCommand.decode(aligned(bytes), 0))
        .map(UpdatePeSds::hmcFunction)
        .toList();
  }

  private static MemorySegment aligned(byte[] bytes) {
    return MemorySegment.ofArray(new long[bytes.length / 8]).copyFrom(MemorySegment.ofArray(bytes));
  }
}
