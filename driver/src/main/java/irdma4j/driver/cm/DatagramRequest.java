package irdma4j.driver.cm;

import irdma4j.driver.DatagramPath;
import irdma4j.driver.DatagramQueuePair;

/** Somebody asks for the queue pair of a datagram service. */
public final class DatagramRequest implements CmEvent {
  private static final int REJECTED = 2;

  private final DatagramExchanges exchanges;
  private final Listener listener;
  private final CmMessage.SidrReq message;
  private final DatagramPath back;
  private boolean answered;

  DatagramRequest(
      DatagramExchanges exchanges,
      Listener listener,
      CmMessage.SidrReq message,
      DatagramPath back) {
    this.exchanges = exchanges;
    this.listener = listener;
    this.message = message;
    this.back = back;
  }

  /** Who was asked. */
  public Listener listener() {
    return listener;
  }

  /** The way to who asks. */
  public DatagramPath path() {
    return back;
  }

  /** What the peer says: 180 bytes. */
  public PrivateData privateData() {
    return message.consumerData();
  }

  /** Names a queue pair, with up to 136 bytes for the peer. */
  public void accept(DatagramQueuePair pair, PrivateData privateData) {
    answer(0, pair.qpn(), pair.queueKey(), privateData);
  }

  /** Refuses. */
  public void reject() {
    answer(REJECTED, 0, 0, PrivateData.NONE);
  }

  private void answer(int status, int qpn, int queueKey, PrivateData privateData) {
    if (answered) {
      throw new IllegalStateException("the request was answered");
    }
    privateData.requireAtMost(CmMessage.SidrRep.PRIVATE);
    answered = true;
    exchanges.answer(
        message,
        new CmMessage.SidrRep(
            message.transaction(),
            message.requestId(),
            status,
            qpn,
            message.serviceId(),
            queueKey,
            PrivateData.NONE,
            privateData),
        back);
  }
}
