package irdma4j.driver;

import irdma4j.driver.ring.CompletionRing;
import irdma4j.driver.ring.QueuePairRings;
import irdma4j.driver.ring.RingSizes;
import irdma4j.hwregs.CqShadow;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CreateCq;
import irdma4j.hwregs.cqp.DestroyCq;
import irdma4j.hwregs.cqp.ModifyCq;
import irdma4j.uapi.DmaMemory;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue.
 *
 * <p>Polling allocates nothing and takes no lock; one thread at a time may poll or arm. It belongs
 * to its device until closed; close the queue pairs that use it first.
 */
public final class CompletionQueue implements AutoCloseable {
  private static final int ENTRY = 32;
  private static final int SHADOW_READ_THRESHOLD = 1;

  private final RdmaDevice device;
  private final int id;
  private final int ceqId;
  private final DmaBundle bundle;
  private final DmaMemory shadow;
  private final CompletionRing ring;
  private DmaMemory memory;
  private @Nullable DmaMemory outgoing;
  private boolean event;
  private boolean armed;
  private boolean armedSolicited;
  private int arms;
  private int armsWhenSuspect = -1;
  private boolean closed;

  private CompletionQueue(
      RdmaDevice device,
      int id,
      int ceqId,
      DmaBundle bundle,
      DmaMemory memory,
      DmaMemory shadow,
      int entries) {
    this.device = device;
    this.id = id;
    this.ceqId = ceqId;
    this.bundle = bundle;
    this.memory = memory;
    this.shadow = shadow;
    this.ring =
        new CompletionRing(
            memory.segment(),
            entries,
            false,
            shadow.segment(),
            0,
            id,
            device.bar(),
            Registers.PFPE_CQARM.offset(),
            device.objects().queueLookup());
  }

  static CompletionQueue create(RdmaDevice device, int wanted, int ceqId) {
    int entries = RingSizes.completionEntries(wanted);
    if (ceqId < 0 || ceqId >= device.ceqCount()) {
      throw new IllegalArgumentException("CEQ " + ceqId + ": there are " + device.ceqCount());
    }
    int id = device.cqIds().take();
    DmaBundle bundle = new DmaBundle(device.function());
    try {
      DmaMemory shadow = bundle.allocate(CqShadow.SIZE, 128);
      DmaMemory memory = bundle.allocate((long) entries * ENTRY, 256);
      CompletionQueue queue =
          new CompletionQueue(device, id, ceqId, bundle, memory, shadow, entries);
      device
          .control()
          .execute(
              new CreateCq(
                  id,
                  entries,
                  id,
                  SHADOW_READ_THRESHOLD,
                  memory.iova(),
                  shadow.iova(),
                  0,
                  0,
                  0,
                  ceqId,
                  0,
                  true,
                  false,
                  true,
                  true,
                  false,
                  false));
      return queue;
    } catch (RuntimeException e) {
      bundle.close();
      device.cqIds().giveBack(id);
      throw e;
    }
  }

  /** The queue's number. */
  public int id() {
    return id;
  }

  /**
   * Takes the next completion.
   *
   * @param completion filled if there is one
   * @return whether there was one
   */
  public boolean poll(Completion completion) {
    return ring.poll(completion);
  }

  /**
   * Moves the queue to a ring of another size. Completions in the old ring are polled first; none
   * is lost.
   *
   * @param wanted completions that it holds at least from now on
   * @throws IllegalStateException if completions of the ring before the last resize are still to be
   *     polled
   * @throws RdmaException if the device refuses; the queue is as before
   */
  public void resize(int wanted) {
    if (closed || ring.isResizing()) {
      throw new IllegalStateException(
          "completion queue %d %s".formatted(id, closed ? "is closed" : "is being resized"));
    }
    int entries = RingSizes.completionEntries(wanted);
    releaseOutgoing();
    DmaMemory next = device.function().allocateDma((long) entries * ENTRY, 256);
    try {
      device
          .control()
          .execute(
              new ModifyCq(
                  id,
                  entries,
                  id,
                  SHADOW_READ_THRESHOLD,
                  next.iova(),
                  shadow.iova(),
                  0,
                  0,
                  0,
                  true,
                  0,
                  true,
                  false,
                  true,
                  false,
                  false));
    } catch (RuntimeException e) {
      next.close();
      throw e;
    }
    outgoing = memory;
    memory = next;
    ring.resize(next.segment(), entries);
  }

  /** Entries of the ring that is polled. */
  public int entries() {
    return ring.size();
  }

  private void releaseOutgoing() {
    DmaMemory old = outgoing;
    if (old != null) {
      outgoing = null;
      old.close();
    }
  }

  /**
   * Asks for an event at the next completion. Poll once more afterwards: a completion that came
   * before raises none.
   */
  public void arm() {
    arm(false);
  }

  /** Asks for an event at the next completion that the peer marked as solicited. */
  public void armSolicited() {
    arm(true);
  }

  private void arm(boolean solicitedOnly) {
    arms++;
    armedSolicited = solicitedOnly;
    armed = true;
    ring.arm(solicitedOnly);
  }

  /**
   * Whether an event arrived since the last call; {@link RdmaDevice#processEvents} brings them in.
   */
  public boolean takeEvent() {
    boolean had = event;
    event = false;
    return had;
  }

  /** Completions taken so far. */
  public long polled() {
    return ring.polled();
  }

  void raiseEvent() {
    event = true;
    armed = false;
  }

  /** A queue of a pair was flushed: work that comes after it has no completion of the device. */
  void addFlushed(QueuePairRings rings, boolean ofSendQueue) {
    ring.addFlushed(rings, ofSendQueue);
    device.objects().watchFlushed(this);
  }

  void removeFlushed(QueuePairRings rings) {
    ring.removeFlushed(rings);
  }

  /** Number of the completion event queue that its events arrive in. */
  int ceqId() {
    return ceqId;
  }

  /**
   * Raises the event that was asked for, if completions that answer the request were already there
   * when this was last asked.
   */
  boolean raiseIfOverdue() {
    int request = arms;
    if (!armed || !ring.hasUnread(armedSolicited)) {
      armsWhenSuspect = -1;
      return false;
    }
    if (armsWhenSuspect != request) {
      armsWhenSuspect = request;
      return false;
    }
    armsWhenSuspect = -1;
    raiseEvent();
    return true;
  }

  /** Raises the event that was asked for, if there is work for which the device raises none. */
  boolean raiseForFlushedWork() {
    if (!armed || !ring.hasFlushedWork()) {
      return false;
    }
    raiseEvent();
    return true;
  }

  /**
   * Destroys the queue. Closing twice does nothing.
   *
   * @throws IllegalStateException if a queue pair still completes into it; nothing has changed then
   * @throws ControlQueueException if the device refuses; nothing has changed then
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    Dependants.requireNoneOf(this, device.objects().queuePairs());
    device.events().takeAll(ceqId, this);
    device.destroy(
        this,
        new DestroyCq(
            id, ring.size(), id, shadow.iova(), 0, ceqId, 0, false, true, true, false, false),
        () -> device.cqIds().giveBack(id));
  }

  /** Gives the memory back; the device has forgotten the queue. */
  void release() {
    closed = true;
    releaseOutgoing();
    memory.close();
    bundle.close();
  }
}
