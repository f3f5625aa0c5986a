package irdma4j.simulator.transport;

/** Queue pairs with work to do, first come first served; each is in it at most once. */
final class ReadyQueue {
  private int[] ids = new int[64];
  private int head;
  private int tail;

  boolean isEmpty() {
    return head == tail;
  }

  int size() {
    return tail - head;
  }

  void add(int qpId) {
    if (tail - head == ids.length) {
      int[] larger = new int[ids.length * 2];
      for (int i = head; i != tail; i++) {
        larger[i & larger.length - 1] = ids[i & ids.length - 1];
      }
      ids = larger;
    }
    ids[tail++ & ids.length - 1] = qpId;
  }

  int take() {
    return ids[head++ & ids.length - 1];
  }

  void clear() {
    head = tail;
  }
}
