package irdma4j.simulator.device;

/**
 * A ring in host memory that the device fills: producer index and polarity. The first round has
 * valid bits of 1.
 */
final class EventRing {
  final int entries;
  final int entryBytes;
  final long base;
  final boolean virtual;
  int producer;
  boolean polarity = true;

  EventRing(int entries, int entryBytes, long base, boolean virtual) {
    this.entries = entries;
    this.entryBytes = entryBytes;
    this.base = base;
    this.virtual = virtual;
  }

  /** The IOVA of the entry to write next, or a fault. */
  long next(Device device) {
    return device.ringAddress(base, virtual, (long) producer * entryBytes);
  }

  void advance() {
    if (++producer == entries) {
      producer = 0;
      polarity = !polarity;
    }
  }

  /** A completion event queue. */
  static final class Completion {
    final int id;
    final EventRing ring;
    int outstanding;

    /** Completion queues with an event that waits, and from which on the next is looked for. */
    int waiting;

    int nextWaiting;

    Completion(int id, EventRing ring) {
      this.id = id;
      this.ring = ring;
    }
  }

  /** The asynchronous event queue. */
  static final class Asynchronous {
    final EventRing ring;
    long outstanding;
    boolean lost;

    Asynchronous(EventRing ring) {
      this.ring = ring;
    }
  }
}
