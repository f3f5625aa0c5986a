package irdma4j.simulator.device;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.Aeqe;
import irdma4j.hwregs.Ceqe;
import irdma4j.hwregs.ControlCqe;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.ExtendedCqe;
import irdma4j.hwregs.Registers;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.watch.Watch;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The completion queues and event queues of a device: writes completions, and raises the events and
 * interrupts that follow. For the engine's thread.
 */
final class CompletionUnit {
  private final Device device;
  private final Faults faults;
  private final DeviceCounters counters;
  private final InterruptController interrupts;
  private final Watch watch;
  private final EventRing.@Nullable Completion[] eventQueues;
  private @Nullable CompletionQueue[] completionQueues = new @Nullable CompletionQueue[64];
  private EventRing.@Nullable Asynchronous asyncQueue;

  CompletionUnit(
      Device device, Faults faults, InterruptController interrupts, Watch watch, int maxCeqs) {
    this.device = device;
    this.faults = faults;
    this.counters = device.counters();
    this.interrupts = interrupts;
    this.watch = watch;
    this.eventQueues = new EventRing.@Nullable Completion[maxCeqs];
  }

  /** There is no queue any more. */
  void reset() {
    Arrays.fill(eventQueues, null);
    Arrays.fill(completionQueues, null);
    asyncQueue = null;
  }

  @Nullable CompletionQueue completionQueue(int id) {
    return id < completionQueues.length ? completionQueues[id] : null;
  }

  /** The completion queue of control operations. */
  @Nullable CompletionQueue controlCompletions() {
    return completionQueues[0];
  }

  /** There is a new completion queue, or another in place of one. */
  void add(CompletionQueue cq) {
    if (cq.id >= completionQueues.length) {
      completionQueues =
          Arrays.copyOf(completionQueues, Math.max(cq.id + 1, completionQueues.length * 2));
    }
    completionQueues[cq.id] = cq;
  }

  ControlStatus removeCompletionQueue(int id) {
    if (completionQueue(id) == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    CompletionQueue gone = completionQueues[id];
    completionQueues[id] = null;
    EventRing.Completion queue = gone.hasEventQueue ? eventQueues[gone.eventQueue] : null;
    if (queue != null) {
      queue.waiting -= gone.eventWaits ? 1 : 0;
      // Linux does not acknowledge the events of a queue that it has destroyed.
      if (gone.unacknowledged) {
        release(queue);
      }
    }
    return ControlStatus.OK;
  }

  ControlStatus add(EventRing.Completion queue) {
    if (eventQueues[queue.id] != null) {
      return ControlStatus.OBJECT_EXISTS;
    }
    eventQueues[queue.id] = queue;
    return ControlStatus.OK;
  }

  ControlStatus removeEventQueue(int id) {
    if (id >= eventQueues.length || eventQueues[id] == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    eventQueues[id] = null;
    for (CompletionQueue cq : completionQueues) {
      if (cq != null && cq.hasEventQueue && cq.eventQueue == id) {
        cq.unacknowledged = false;
        cq.eventWaits = false;
      }
    }
    return ControlStatus.OK;
  }

  ControlStatus add(EventRing.Asynchronous queue) {
    if (asyncQueue != null) {
      return ControlStatus.OBJECT_EXISTS;
    }
    asyncQueue = queue;
    return ControlStatus.OK;
  }

  ControlStatus removeAsyncQueue() {
    if (asyncQueue == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    asyncQueue = null;
    return ControlStatus.OK;
  }

  /** As {@link DeviceServices#complete}. */
  void complete(int cqId, CompletionEntry c) {
    CompletionQueue cq = completionQueue(cqId);
    if (cq == null || cq.overflowed) {
      return;
    }
    boolean datagram = c.sourceMacValid;
    boolean tagged = datagram && c.vlanTag >= 0;
    boolean extended = c.immediateValid || datagram;
    long word16 =
        Cqe.QPID.encode(c.qpId)
            | Integer.toUnsignedLong(c.stagInvalidated ? c.invalidatedStag : c.sourceQpn);
    long header =
        Cqe.MINERR.encode(c.error ? c.minorError : 0)
            | Cqe.MAJERR.encode(c.error ? c.majorError : 0)
            | Cqe.WQEIDX.encode(c.wqeIndex)
            | Cqe.PSHDROP.encode(c.pushDropped)
            | Cqe.EXTCQE.encode(extended)
            | Cqe.STAG.encode(c.stagInvalidated || c.ipv4)
            | Cqe.SOEVENT.encode(c.solicited)
            | Cqe.ERROR.encode(c.error)
            | Cqe.OP.encode(c.opcode)
            | Cqe.SQ.encode(c.sq);
    boolean written =
        !(faults.at(Occasion.COMPLETION) instanceof Fault.OverflowCompletionQueue)
            && cq.write(
                device,
                Cqe.PAYLDLEN.encode(Integer.toUnsignedLong(c.payloadLength)),
                c.completionContext,
                word16,
                header,
                extended,
                Integer.toUnsignedLong(c.immediate),
                (datagram ? ExtendedCqe.UDSMAC.encode(c.sourceMac) : 0)
                    | (tagged ? ExtendedCqe.UDVLAN.encode(c.vlanTag) : 0),
                ExtendedCqe.IMMVALID.encode(c.immediateValid)
                    | ExtendedCqe.UDVLANVALID.encode(tagged)
                    | ExtendedCqe.UDSMACVALID.encode(datagram));
    if (written) {
      counters.completions++;
      raise(cq, c.solicited || c.error);
    } else {
      cq.overflowed = true;
      asyncEvent(cqId, AeCode.CQ_OPERATION_ERROR.code(), AeSource.CQ.code(), 0, cq.context);
    }
  }

  void completeControl(
      CompletionQueue ccq, long context, long returnValue, long header, boolean failed) {
    boolean written =
        ccq.write(
            device, 0, context, ControlCqe.OPRETVAL.encode(returnValue), header, false, 0, 0, 0);
    if (written) {
      counters.completions++;
      raise(ccq, failed);
    }
  }

  /** The driver asked a queue for an event, by its number. */
  void arm(int cqId) {
    CompletionQueue cq = completionQueue(cqId);
    if (cq != null && !(faults.at(Occasion.ARM_DOORBELL) instanceof Fault.LoseDoorbell)) {
      cq.arm(device);
      // The doorbell took its time: a completion may have come after the driver's last look.
      if (cq.hasUnread(device)) {
        raiseIfArmed(cq, cq.isUnreadSolicited());
      }
    }
  }

  private void raise(CompletionQueue cq, boolean solicited) {
    cq.added(solicited);
    raiseIfArmed(cq, solicited);
  }

  private void raiseIfArmed(CompletionQueue cq, boolean solicited) {
    if (cq.takeEvent(solicited) && cq.hasEventQueue) {
      EventRing.Completion queue = eventQueues[cq.eventQueue];
      if (queue != null) {
        writeEvent(queue, cq);
      }
    }
  }

  private void writeEvent(EventRing.Completion queue, CompletionQueue cq) {
    if (cq.unacknowledged || queue.outstanding >= queue.ring.entries) {
      queue.waiting += cq.eventWaits ? 0 : 1;
      cq.eventWaits = true;
      return;
    }
    queue.waiting -= cq.eventWaits ? 1 : 0;
    cq.eventWaits = false;
    if (faults.at(Occasion.COMPLETION_EVENT) instanceof Fault.OverflowEventQueue) {
      return;
    }
    long at = queue.ring.next(device);
    boolean written =
        device.writeHostWord(
            at, Ceqe.CQCTX.encode(cq.context) | Ceqe.VALID.encode(queue.ring.polarity));
    if (written) {
      queue.ring.advance();
      queue.outstanding++;
      cq.unacknowledged = true;
      counters.completionEvents++;
      watch.completionEvent(queue.id, cq.id);
      interrupts.cause(Registers.GLINT_CEQCTL.offset(queue.id));
    }
  }

  /** The driver has taken the event of a completion queue. */
  void acknowledge(int cqId) {
    CompletionQueue cq = completionQueue(cqId);
    if (cq == null || !cq.unacknowledged) {
      return;
    }
    cq.unacknowledged = false;
    EventRing.Completion queue = eventQueues[cq.eventQueue];
    if (queue != null) {
      release(queue);
    }
  }

  /** An event has left its queue: there is room for one that waits, by turns. */
  private void release(EventRing.Completion queue) {
    queue.outstanding--;
    for (int i = 0; queue.waiting > 0 && i < completionQueues.length; i++) {
      int id = (queue.nextWaiting + i) % completionQueues.length;
      CompletionQueue waiting = completionQueues[id];
      if (waiting != null
          && waiting.eventWaits
          && !waiting.unacknowledged
          && waiting.eventQueue == queue.id) {
        queue.nextWaiting = id + 1;
        writeEvent(queue, waiting);
        return;
      }
    }
  }

  /** As {@link DeviceServices#asyncEvent}. */
  void asyncEvent(int qpOrCqId, int aeCode, int aeSource, int wqeIndex, long completionContext) {
    EventRing.Asynchronous queue = asyncQueue;
    if (queue == null) {
      return;
    }
    if (queue.outstanding >= queue.ring.entries
        || faults.at(Occasion.ASYNC_EVENT) instanceof Fault.OverflowEventQueue) {
      queue.lost = true;
      watch.asyncEvent(qpOrCqId, aeCode, aeSource, wqeIndex, completionContext, false);
      return;
    }
    long at = queue.ring.next(device);
    long word =
        Aeqe.QPCQID_LOW.encode(qpOrCqId & Aeqe.QPCQID_LOW.max())
            | Aeqe.QPCQID_HI.encode((qpOrCqId >>> 18) & 1)
            | Aeqe.WQDESCIDX.encode(wqeIndex)
            | Aeqe.OVERFLOW.encode(queue.lost)
            | Aeqe.AECODE.encode(aeCode)
            | Aeqe.AESRC.encode(aeSource)
            | Aeqe.VALID.encode(queue.ring.polarity);
    if (device.writeHostWord(at, completionContext) && device.writeHostWord(at + 8, word)) {
      queue.lost = false;
      queue.ring.advance();
      queue.outstanding++;
      counters.asyncEvents++;
      watch.asyncEvent(qpOrCqId, aeCode, aeSource, wqeIndex, completionContext, true);
      interrupts.cause(Registers.PFINT_AEQCTL.offset());
    }
  }

  /** The driver gives entries of the asynchronous event queue back. */
  void releaseAsync(long entries) {
    EventRing.Asynchronous queue = asyncQueue;
    if (queue != null) {
      queue.outstanding = Math.max(0, queue.outstanding - entries);
    }
  }
}
