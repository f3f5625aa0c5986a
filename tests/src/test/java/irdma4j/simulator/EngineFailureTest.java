package irdma4j.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.Registers;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.device.QpAttributes;
import irdma4j.simulator.device.QueueEngine;
import irdma4j.simulator.wire.Payload;
import irdma4j.uapi.Bar;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciException;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** An error inside the simulator is told to the driver and leaves nothing behind. */
final class EngineFailureTest {
  private static final class FailsAtDoorbell implements QueueEngine {
    FailsAtDoorbell(DeviceServices services) {}

    @Override
    public void contextWritten(int qpId, MemorySegment context, QpAttributes attributes) {}

    @Override
    public void stateChanged(int qpId, int state) {}

    @Override
    public void storeContext(int qpId, MemorySegment context) {}

    @Override
    public void flush(
        int qpId, boolean sq, int sqMajor, int sqMinor, boolean rq, int rqMajor, int rqMinor) {}

    @Override
    public void destroyed(int qpId) {}

    @Override
    public void doorbell(int qpId) {
      throw new IllegalStateException("on purpose");
    }

    @Override
    public void receive(MemorySegment frame, int bytes, @Nullable Payload lent) {}

    @Override
    public boolean run() {
      return false;
    }

    @Override
    public void timer(long now) {}

    @Override
    public void reset() {}
  }

  /** A threaded engine that died answers reads with the reason; closing still works. */
  @Test
  void aDeadEngineSaysWhy() {
    Simulation simulation =
        Simulation.builder().functions(1).threaded().queueEngine(FailsAtDoorbell::new).build();
    PciFunction function = simulation.function(0);
    DmaMemory memory = function.allocateDma(10_000, 4096);
    Bar bar = function.bar(0);
    bar.write32(Registers.PFPE_WQEALLOC.offset(), 1);
    PciException failure = assertThrows(PciException.class, () -> bar.read32(0));
    assertTrue(failure.getMessage().contains("on purpose"), failure.getMessage());
    memory.close();
    function.allocateDma(4096, 4096);
    simulation.close();
    assertEquals(0, function.dmaUsage().currentBytes());
  }
}
