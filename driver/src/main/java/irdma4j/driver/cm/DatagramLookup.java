package irdma4j.driver.cm;

import irdma4j.driver.DatagramPath;
import irdma4j.driver.Gid;
import org.jspecify.annotations.Nullable;

/** A question for the queue pair of a datagram service. */
public final class DatagramLookup {
  final int requestId;
  final LocalAddress local;
  final Gid remote;
  final CmMessage.SidrReq message;
  @Nullable DatagramPath path;
  long deadline;
  int retriesLeft;

  DatagramLookup(int requestId, LocalAddress local, Gid remote, CmMessage.SidrReq message) {
    this.requestId = requestId;
    this.local = local;
    this.remote = remote;
    this.message = message;
  }

  /** Whom it was asked of. */
  public Gid peer() {
    return remote;
  }
}
