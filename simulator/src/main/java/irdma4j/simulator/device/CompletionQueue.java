package irdma4j.simulator.device;

import irdma4j.hwregs.CqShadow;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.ExtendedCqe;

/**
 * A completion queue as the device keeps it: the ring it fills, how far the driver has read by its
 * shadow area, and whether an event was asked for.
 *
 * <p>One entry always stays free, so that the driver's index in the shadow area tells a full ring
 * from an empty one.
 */
final class CompletionQueue {
  /** Bytes of the object in the HMC that the device writes. */
  static final int OBJECT_BYTES = 64;

  final int id;
  final long context;
  final int eventQueue;
  final boolean hasEventQueue;
  final boolean checkOverflow;
  final boolean wideEntries;
  final long shadow;
  private EventRing ring;

  /** How many rings there were before this one, in the bits that the driver counts them with. */
  private long ringsBefore;

  private int consumer;
  private long used;

  /** Entries written so far, and how many there were when the last solicited one was. */
  private long produced;

  private long solicitedAt = Long.MIN_VALUE / 2;
  private int armSequence;
  private boolean armedNext;
  private boolean armedSolicited;
  boolean overflowed;

  /** The driver has not acknowledged the last event: until then there is no other. */
  boolean unacknowledged;

  /** An event has to wait for that, or for room in the event queue. */
  boolean eventWaits;

  CompletionQueue(
      int id,
      long context,
      int eventQueue,
      boolean hasEventQueue,
      boolean checkOverflow,
      boolean wideEntries,
      long shadow,
      EventRing ring) {
    this.id = id;
    this.context = context;
    this.eventQueue = eventQueue;
    this.hasEventQueue = hasEventQueue;
    this.checkOverflow = checkOverflow;
    this.wideEntries = wideEntries;
    this.shadow = shadow;
    this.ring = ring;
  }

  /** The queue goes on in a new ring, from its start; one that has overflowed stays so. */
  CompletionQueue resized(boolean overflowCheck, EventRing newRing) {
    CompletionQueue next =
        new CompletionQueue(
            id, context, eventQueue, hasEventQueue, overflowCheck, wideEntries, shadow, newRing);
    next.ringsBefore = (ringsBefore + 1) & CqShadow.SW_CQ_SELECT.max();
    next.overflowed = overflowed;
    next.armSequence = armSequence;
    next.armedNext = armedNext;
    next.armedSolicited = armedSolicited;
    next.unacknowledged = unacknowledged;
    next.eventWaits = eventWaits;
    return next;
  }

  /** The driver rang the arm doorbell: what its shadow area asks for counts from now on. */
  void arm(Device device) {
    long request = device.readHostWord(shadow + CqShadow.ARM_NEXT.offset());
    int sequence = (int) CqShadow.ARM_SEQ_NUM.decode(request);
    if (sequence == armSequence) {
      return;
    }
    armSequence = sequence;
    armedNext = CqShadow.ARM_NEXT.isSet(request);
    armedSolicited = CqShadow.ARM_NEXT_SE.isSet(request);
  }

  /** A completion was written. */
  void added(boolean solicited) {
    if (solicited) {
      solicitedAt = produced - 1;
    }
  }

  /** Takes the request for an event if a completion answers it. */
  boolean takeEvent(boolean solicited) {
    if (!armedNext && !(armedSolicited && solicited)) {
      return false;
    }
    armedNext = false;
    armedSolicited = false;
    return true;
  }

  /**
   * Writes an entry of four words, its header last, with release order. {@code header} comes
   * without its valid bit. With {@code extended}, a second entry with immediate data or the
   * sender's MAC address is written first.
   *
   * @return false if the ring is full or has no memory behind it
   */
  boolean write(
      Device device,
      long word0,
      long word8,
      long word16,
      long header,
      boolean extended,
      long extendedWord0,
      long extendedWord16,
      long extendedHeader) {
    int slots = extended && !wideEntries ? 2 : 1;
    if (checkOverflow && !hasRoom(device, slots)) {
      return false;
    }
    long at = ring.next(device);
    boolean polarity = ring.polarity;
    ring.advance();
    boolean written = true;
    if (extended) {
      long second = at + Cqe.SIZE;
      boolean secondPolarity = polarity;
      if (!wideEntries) {
        second = ring.next(device);
        secondPolarity = ring.polarity;
        ring.advance();
      }
      written =
          device.writeHostWord(second, extendedWord0)
              && device.writeHostWord(second + 16, extendedWord16)
              && device.writeHostWord(
                  second + ExtendedCqe.VALID.offset(),
                  extendedHeader | ExtendedCqe.VALID.encode(secondPolarity));
    }
    used += slots;
    produced += slots;
    device
        .watch()
        .completion(
            id,
            at,
            word0,
            word8,
            word16,
            header | Cqe.VALID.encode(polarity),
            extended,
            extendedWord0,
            extendedWord16,
            extendedHeader);
    return written
        && device.writeHostWord(at, word0)
        && device.writeHostWord(at + 8, word8)
        && device.writeHostWord(at + 16, word16)
        && device.writeHostWord(at + Cqe.VALID.offset(), header | Cqe.VALID.encode(polarity));
  }

  private boolean hasRoom(Device device, int slots) {
    if (used + slots < ring.entries / 2) {
      return true;
    }
    lookAtConsumer(device);
    return used + slots < ring.entries;
  }

  /** Whether there are completions that the driver has not read. */
  boolean hasUnread(Device device) {
    lookAtConsumer(device);
    return used != 0;
  }

  /** Whether one of those, as they were last looked at, was solicited. */
  boolean isUnreadSolicited() {
    return produced - solicitedAt <= used;
  }

  private void lookAtConsumer(Device device) {
    long reading = device.readHostWord(shadow + CqShadow.SW_CQ_SELECT.offset());
    if (CqShadow.SW_CQ_SELECT.decode(reading) != ringsBefore) {
      // The driver's index is one of the ring before this.
      return;
    }
    int read = (int) CqShadow.CQEIDX.decode(device.readHostWord(shadow));
    if (read < ring.entries) {
      int consumed = read - consumer;
      used -= consumed < 0 ? consumed + ring.entries : consumed;
      consumer = read;
    }
  }

  /** The queue's object in the HMC: eight words in the device's own order. */
  void store(Device device, long object) {
    device.writeHostWord(object, context);
    device.writeHostWord(object + 8, shadow);
    device.writeHostWord(object + 16, ring.base);
    device.writeHostWord(
        object + 24,
        (long) ring.entries
            | (long) ring.producer << 21
            | (ring.virtual ? 1L << 48 : 0)
            | (ring.polarity ? 1L << 49 : 0)
            | (wideEntries ? 1L << 50 : 0)
            | (checkOverflow ? 1L << 51 : 0)
            | (hasEventQueue ? 1L << 52 : 0)
            | (long) eventQueue << 53);
    for (int i = 32; i < OBJECT_BYTES; i += 8) {
      device.writeHostWord(object + i, 0);
    }
  }
}
