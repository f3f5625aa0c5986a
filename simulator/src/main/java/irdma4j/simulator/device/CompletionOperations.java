package irdma4j.simulator.device;

import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.cqp.CreateAeq;
import irdma4j.hwregs.cqp.CreateCeq;
import irdma4j.hwregs.cqp.CreateCq;
import irdma4j.hwregs.cqp.ModifyCq;

/**
 * The control operations on completion queues and event queues. One that cannot be done leaves the
 * device as it was.
 */
final class CompletionOperations {
  private final Device device;
  private final CompletionUnit queues;
  private final HmcWalk hmc;
  private final int maxCeqs;

  CompletionOperations(Device device, CompletionUnit queues, HmcWalk hmc, int maxCeqs) {
    this.device = device;
    this.queues = queues;
    this.hmc = hmc;
    this.maxCeqs = maxCeqs;
  }

  ControlStatus create(CreateCq c) {
    if (queues.completionQueue(c.cqId()) != null) {
      return ControlStatus.OBJECT_EXISTS;
    }
    if (c.cqSize() < 4 || (c.ceqIdValid() && c.ceqId() >= maxCeqs)) {
      return ControlStatus.BAD_PARAMETER;
    }
    long object = hmc.object(HmcObject.CQ, c.cqId());
    if (object == HmcWalk.FAULT) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    EventRing ring =
        ring(
            c.cqSize(),
            entryBytes(c.avoidConflict()),
            c.virtualRing(),
            c.ringAddress(),
            c.firstPbleIndex());
    if (c.virtualRing() && !pblesBacked(ring)) {
      return ControlStatus.PBLE_NOT_BACKED;
    }
    CompletionQueue cq =
        new CompletionQueue(
            c.cqId(),
            c.context(),
            c.ceqId(),
            c.ceqIdValid(),
            c.checkOverflow(),
            c.avoidConflict(),
            c.shadowAddress(),
            ring);
    if (!device.reaches(c.shadowAddress()) || !device.reaches(object)) {
      return ControlStatus.DMA_FAULT;
    }
    cq.store(device, object);
    queues.add(cq);
    return ControlStatus.OK;
  }

  ControlStatus modify(ModifyCq c) {
    CompletionQueue cq = queues.completionQueue(c.cqId());
    if (cq == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    if (!c.resize()) {
      return ControlStatus.OK;
    }
    long object = hmc.object(HmcObject.CQ, c.cqId());
    if (object == HmcWalk.FAULT) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    if (c.cqSize() < 4) {
      return ControlStatus.BAD_PARAMETER;
    }
    EventRing ring =
        ring(
            c.cqSize(),
            entryBytes(cq.wideEntries),
            c.virtualRing(),
            c.ringAddress(),
            c.firstPbleIndex());
    if (c.virtualRing() && !pblesBacked(ring)) {
      return ControlStatus.PBLE_NOT_BACKED;
    }
    if (!device.reaches(object)) {
      return ControlStatus.DMA_FAULT;
    }
    CompletionQueue resized = cq.resized(c.checkOverflow(), ring);
    resized.store(device, object);
    queues.add(resized);
    return ControlStatus.OK;
  }

  private static int entryBytes(boolean wide) {
    return wide ? 2 * Cqe.SIZE : Cqe.SIZE;
  }

  private static EventRing ring(
      int entries, int entryBytes, boolean virtual, long address, int firstPble) {
    return new EventRing(entries, entryBytes, virtual ? firstPble : address, virtual);
  }

  private boolean pblesBacked(EventRing ring) {
    long pages = ((long) ring.entries * ring.entryBytes + Iommu.PAGE - 1) / Iommu.PAGE;
    return hmc.pble(ring.base) != HmcWalk.FAULT && hmc.pble(ring.base + pages - 1) != HmcWalk.FAULT;
  }

  ControlStatus create(CreateCeq c) {
    if (c.ceqId() >= maxCeqs || c.size() < 1) {
      return ControlStatus.BAD_PARAMETER;
    }
    EventRing ring = ring(c.size(), 8, c.virtualRing(), c.ringAddress(), c.firstPbleIndex());
    return queues.add(new EventRing.Completion(c.ceqId(), ring));
  }

  ControlStatus create(CreateAeq c) {
    if (c.size() < 1) {
      return ControlStatus.BAD_PARAMETER;
    }
    EventRing ring = ring(c.size(), 16, c.virtualRing(), c.ringAddress(), c.firstPbleIndex());
    return queues.add(new EventRing.Asynchronous(ring));
  }
}
