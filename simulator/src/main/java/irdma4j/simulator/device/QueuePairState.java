package irdma4j.simulator.device;

/** What the control queue remembers of a queue pair, beside its context. */
final class QueuePairState {
  final int id;
  final int type;
  final long shadow;
  final boolean virtualQueues;
  int state;

  QueuePairState(int id, int type, long shadow, boolean virtualQueues) {
    this.id = id;
    this.type = type;
    this.shadow = shadow;
    this.virtualQueues = virtualQueues;
  }
}
