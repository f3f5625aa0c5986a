package irdma4j.simulator.device;

import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.RoceContext;
import irdma4j.hwregs.cqp.CreateQp;
import irdma4j.hwregs.cqp.DestroyQp;
import irdma4j.hwregs.cqp.FlushWqes;
import irdma4j.hwregs.cqp.ModifyQp;
import irdma4j.hwregs.cqp.UploadContext;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * The control operations on queue pairs, and which of them there are. One that cannot be done
 * leaves the device as it was.
 */
final class QueuePairOperations {
  private final Device device;
  private final CompletionUnit queues;
  private final HmcWalk hmc;
  private final MemorySegment buffer = Arena.ofAuto().allocate(4096, 64);
  private final Map<Integer, QpAttributes> queuePairs = new HashMap<>();

  QueuePairOperations(Device device, CompletionUnit queues, HmcWalk hmc) {
    this.device = device;
    this.queues = queues;
    this.hmc = hmc;
  }

  void reset() {
    queuePairs.clear();
  }

  boolean isEmpty() {
    return queuePairs.isEmpty();
  }

  ControlStatus create(CreateQp c) {
    if (queuePairs.containsKey(c.qpId())) {
      return ControlStatus.OBJECT_EXISTS;
    }
    long object = hmc.object(HmcObject.QP, c.qpId());
    if (object == HmcWalk.FAULT) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    if (!device.readHost(c.contextAddress(), buffer, 0, RoceContext.SIZE)
        || !device.reaches(c.shadowAddress())) {
      return ControlStatus.DMA_FAULT;
    }
    ControlStatus status = checkQueues();
    if (status != ControlStatus.OK) {
      return status;
    }
    if (!device.writeHost(object, buffer, 0, RoceContext.SIZE)) {
      return ControlStatus.DMA_FAULT;
    }
    QpAttributes attributes =
        new QpAttributes(c.qpType(), c.virtualQueues(), c.shadowAddress(), c.nextState());
    queuePairs.put(c.qpId(), attributes);
    engine().contextWritten(c.qpId(), buffer, attributes);
    if (c.nextState() != 0) {
      engine().stateChanged(c.qpId(), c.nextState());
    }
    return ControlStatus.OK;
  }

  private ControlStatus checkQueues() {
    int send = (int) RoceContext.TXCQNUM.get(buffer, 0);
    int receive = (int) RoceContext.RXCQNUM.get(buffer, 0);
    return queues.completionQueue(send) == null || queues.completionQueue(receive) == null
        ? ControlStatus.NO_SUCH_OBJECT
        : ControlStatus.OK;
  }

  ControlStatus modify(ModifyQp c) {
    QpAttributes created = queuePairs.get(c.qpId());
    if (created == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    long object = hmc.object(HmcObject.QP, c.qpId());
    if (object == HmcWalk.FAULT) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    long old = RoceContext.SIZE;
    if (!device.readHost(object, buffer, old, RoceContext.SIZE)
        || !device.readHost(c.contextAddress(), buffer, 0, RoceContext.SIZE)) {
      return ControlStatus.DMA_FAULT;
    }
    if (!c.cqNumbersValid()) {
      RoceContext.TXCQNUM.set(buffer, 0, RoceContext.TXCQNUM.get(buffer, old));
      RoceContext.RXCQNUM.set(buffer, 0, RoceContext.RXCQNUM.get(buffer, old));
    }
    if (!c.arpIndexValid()) {
      RoceContext.ARPIDX.set(buffer, 0, RoceContext.ARPIDX.get(buffer, old));
    }
    if (!c.ordValid()) {
      RoceContext.ORDSIZE.set(buffer, 0, RoceContext.ORDSIZE.get(buffer, old));
      RoceContext.IRDSIZE.set(buffer, 0, RoceContext.IRDSIZE.get(buffer, old));
    }
    if (c.mssChange()) {
      RoceContext.SNDMSS.set(buffer, 0, c.newMss());
    }
    ControlStatus status = checkQueues();
    if (status != ControlStatus.OK) {
      return status;
    }
    if (!device.writeHost(object, buffer, 0, RoceContext.SIZE)) {
      return ControlStatus.DMA_FAULT;
    }
    engine()
        .contextWritten(
            c.qpId(),
            buffer,
            new QpAttributes(
                created.qpType(), created.virtualQueues(), created.shadowArea(), c.nextState()));
    return c.nextState() == 0 ? ControlStatus.OK : changeState(c.qpId(), c.nextState());
  }

  ControlStatus changeState(int qpId, int state) {
    if (!queuePairs.containsKey(qpId)) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    engine().stateChanged(qpId, state);
    return ControlStatus.OK;
  }

  ControlStatus destroy(DestroyQp c) {
    if (!queuePairs.containsKey(c.qpId())) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    ControlStatus status = clearObject(c.qpId());
    if (status == ControlStatus.OK) {
      queuePairs.remove(c.qpId());
      engine().destroyed(c.qpId());
    }
    return status;
  }

  ControlStatus uploadContext(UploadContext c) {
    if (!queuePairs.containsKey(c.qpId())) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    long object = hmc.object(HmcObject.QP, c.qpId());
    if (object == HmcWalk.FAULT || !device.readHost(object, buffer, 0, RoceContext.SIZE)) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    engine().storeContext(c.qpId(), buffer);
    return device.writeHost(c.bufferAddress(), buffer, 0, RoceContext.SIZE)
        ? ControlStatus.OK
        : ControlStatus.DMA_FAULT;
  }

  ControlStatus flush(FlushWqes c) {
    if (!queuePairs.containsKey(c.qpId())) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    if (c.flushSq() || c.flushRq()) {
      boolean codes = c.userCodes();
      engine()
          .flush(
              c.qpId(),
              c.flushSq(),
              codes ? c.sqMajor() : 1,
              codes ? c.sqMinor() : 1,
              c.flushRq(),
              codes ? c.rqMajor() : 1,
              codes ? c.rqMinor() : 1);
    }
    if (c.generateAe()) {
      queues.asyncEvent(c.qpId(), c.aeCode(), c.aeSource(), 0, completionContext(c.qpId()));
    }
    return ControlStatus.OK;
  }

  private long completionContext(int qpId) {
    long object = hmc.object(HmcObject.QP, qpId);
    return object == HmcWalk.FAULT
        ? 0
        : device.readHostWord(object + RoceContext.QPCOMPCTX.offset());
  }

  private ControlStatus clearObject(int qpId) {
    long object = hmc.object(HmcObject.QP, qpId);
    if (object == HmcWalk.FAULT) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    int bytes = hmc.bytes(HmcObject.QP);
    buffer.asSlice(0, bytes).fill((byte) 0);
    return device.writeHost(object, buffer, 0, bytes) ? ControlStatus.OK : ControlStatus.DMA_FAULT;
  }

  private QueueEngine engine() {
    return device.queueEngine();
  }
}
