package irdma4j.driver;

import java.util.BitSet;

/** Numbers of one kind of object, each in use once. Not thread-safe. */
final class IdPool {
  private final String kind;
  private final int first;
  private final int limit;
  private final BitSet used = new BitSet();
  private int next;

  /**
   * Numbers from {@code first} up to but not including {@code limit}.
   *
   * @param kind the kind's name, for messages
   */
  IdPool(String kind, int first, int limit) {
    this.kind = kind;
    this.first = first;
    this.limit = limit;
    this.next = first;
  }

  /** A free number; numbers given back are used again as late as possible. */
  int take() {
    int id = used.nextClearBit(next);
    if (id >= limit) {
      id = used.nextClearBit(first);
    }
    if (id >= limit) {
      throw new RdmaException("all %d %ss are in use".formatted(limit - first, kind));
    }
    used.set(id);
    next = id + 1;
    return id;
  }

  void giveBack(int id) {
    if (!used.get(id)) {
      throw new IllegalStateException(kind + " " + id + " is not in use");
    }
    used.clear(id);
  }

  int inUse() {
    return used.cardinality();
  }
}
