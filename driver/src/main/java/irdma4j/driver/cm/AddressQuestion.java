package irdma4j.driver.cm;

import irdma4j.driver.DatagramPath;
import irdma4j.driver.Gid;

/** A question for the MAC address of a neighbour. */
final class AddressQuestion {
  final LocalAddress local;
  final Gid remote;
  long deadline;
  int retriesLeft;

  AddressQuestion(LocalAddress local, Gid remote, int retriesLeft) {
    this.local = local;
    this.remote = remote;
    this.retriesLeft = retriesLeft;
  }

  /** The way there, once the address is known. */
  DatagramPath path(long mac) {
    return local.pathTo(remote, mac);
  }
}
