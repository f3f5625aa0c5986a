package irdma4j.driver;

import irdma4j.driver.ring.RingSizes;

/**
 * What a queue pair is to be. Immutable.
 *
 * @param sendQueue where send completions go
 * @param receiveQueue where receive completions go; may be the same
 * @param sendRequests work requests that the send queue holds
 * @param receiveRequests work requests that the receive queue holds
 * @param sendSges most scatter-gather entries of a send request, 1 to 13
 * @param receiveSges most scatter-gather entries of a receive request, 1 to 13
 * @param inlineBytes most bytes of inline data, 0 to 101
 * @param push hand WQEs over through a push page, if the device has one left
 */
public record QueuePairConfig(
    CompletionQueue sendQueue,
    CompletionQueue receiveQueue,
    int sendRequests,
    int receiveRequests,
    int sendSges,
    int receiveSges,
    int inlineBytes,
    boolean push) {

  /** Checks the values. */
  public QueuePairConfig {
    require(sendRequests >= 1, "sendRequests", sendRequests);
    require(receiveRequests >= 1, "receiveRequests", receiveRequests);
    require(sendSges >= 1 && sendSges <= RingSizes.MAX_FRAGMENTS, "sendSges", sendSges);
    require(receiveSges >= 1 && receiveSges <= RingSizes.MAX_FRAGMENTS, "receiveSges", receiveSges);
    require(inlineBytes >= 0 && inlineBytes <= RingSizes.MAX_INLINE, "inlineBytes", inlineBytes);
  }

  private static void require(boolean holds, String name, int value) {
    if (!holds) {
      throw new IllegalArgumentException(name + " " + value);
    }
  }

  /** 64 requests each way with one entry each, completing into one queue. */
  public static QueuePairConfig of(CompletionQueue queue) {
    return new QueuePairConfig(queue, queue, 64, 64, 1, 1, 0, false);
  }

  /** With room for other numbers of requests. */
  public QueuePairConfig withRequests(int send, int receive) {
    return new QueuePairConfig(
        sendQueue, receiveQueue, send, receive, sendSges, receiveSges, inlineBytes, push);
  }

  /** With other numbers of scatter-gather entries. */
  public QueuePairConfig withSges(int send, int receive) {
    return new QueuePairConfig(
        sendQueue, receiveQueue, sendRequests, receiveRequests, send, receive, inlineBytes, push);
  }

  /** With inline data. */
  public QueuePairConfig withInline(int bytes) {
    return new QueuePairConfig(
        sendQueue, receiveQueue, sendRequests, receiveRequests, sendSges, receiveSges, bytes, push);
  }

  /** With or without a push page, which saves the device the fetch of WQEs. */
  public QueuePairConfig withPush(boolean value) {
    return new QueuePairConfig(
        sendQueue,
        receiveQueue,
        sendRequests,
        receiveRequests,
        sendSges,
        receiveSges,
        inlineBytes,
        value);
  }
}
