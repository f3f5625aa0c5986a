package irdma4j.driver;

import irdma4j.driver.ring.RingSizes;
import irdma4j.hwregs.QpShadow;
import irdma4j.hwregs.RoceContext;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.MemorySegment;

/** The memory of a queue pair: both rings, the shadow area and the context, in one allocation. */
final class QueuePairMemory implements AutoCloseable {
  private final DmaMemory memory;
  private final int sendQuanta;
  private final int receiveQuanta;
  private final int receiveShift;
  private final long receiveOffset;
  private final long shadowOffset;
  private final long contextOffset;

  QueuePairMemory(PciFunction function, QueuePairConfig config) {
    // Immediate data takes the place of a fragment; Linux irdma_uk_calc_depth_shift_sq.
    int sendShift = RingSizes.shift(config.sendSges() + 1, config.inlineBytes());
    receiveShift = RingSizes.shift(config.receiveSges(), 0);
    sendQuanta = RingSizes.sendQuanta(config.sendRequests(), sendShift);
    receiveQuanta = RingSizes.receiveQuanta(config.receiveRequests(), receiveShift);
    receiveOffset = (long) sendQuanta * RingSizes.QUANTUM;
    shadowOffset = receiveOffset + Math.max(256, (long) receiveQuanta * RingSizes.QUANTUM);
    contextOffset = shadowOffset + 256;
    memory = function.allocateDma(contextOffset + RoceContext.SIZE, 4096);
  }

  MemorySegment sendRing() {
    return memory.segment().asSlice(0, (long) sendQuanta * RingSizes.QUANTUM);
  }

  MemorySegment receiveRing() {
    return memory.segment().asSlice(receiveOffset, (long) receiveQuanta * RingSizes.QUANTUM);
  }

  MemorySegment shadow() {
    return memory.segment().asSlice(shadowOffset, QpShadow.SIZE);
  }

  MemorySegment context() {
    return memory.segment().asSlice(contextOffset, RoceContext.SIZE);
  }

  long sendAddress() {
    return memory.iova();
  }

  long receiveAddress() {
    return memory.iova(receiveOffset);
  }

  long shadowAddress() {
    return memory.iova(shadowOffset);
  }

  long contextAddress() {
    return memory.iova(contextOffset);
  }

  int sendQuanta() {
    return sendQuanta;
  }

  int receiveQuanta() {
    return receiveQuanta;
  }

  int receiveShift() {
    return receiveShift;
  }

  @Override
  public void close() {
    memory.close();
  }
}
