package irdma4j.driver.cm;

import irdma4j.driver.Gid;

/** A question for the MAC address of a neighbour. */
final class AddressQuestion {
  final Gid local;
  final Gid remote;
  long deadline;
  int retriesLeft;

  AddressQuestion(Gid local, Gid remote, int retriesLeft) {
    this.local = local;
    this.remote = remote;
    this.retriesLeft = retriesLeft;
  }
}
