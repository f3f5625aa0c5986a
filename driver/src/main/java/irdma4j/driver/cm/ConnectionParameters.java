package irdma4j.driver.cm;

/**
 * What one side of a connection wants. Immutable.
 *
 * @param responderResources READs of the peer that may be outstanding, 1 to 127
 * @param initiatorDepth READs of one's own that may be outstanding, 1 to 127
 * @param retryCount retries after a timeout, 0 to 7; the active side's counts for both
 * @param rnrRetryCount retries of the peer after a receiver-not-ready, 0 to 7; 7 means without end
 * @param privateData for the peer: up to 56 bytes in a request, 196 in a reply
 */
public record ConnectionParameters(
    int responderResources,
    int initiatorDepth,
    int retryCount,
    int rnrRetryCount,
    PrivateData privateData) {
  /** Checks the values. */
  public ConnectionParameters {
    range("responderResources", responderResources, 1, 127);
    range("initiatorDepth", initiatorDepth, 1, 127);
    range("retryCount", retryCount, 0, 7);
    range("rnrRetryCount", rnrRetryCount, 0, 7);
  }

  private static void range(String name, int value, int low, int high) {
    if (value < low || value > high) {
      throw new IllegalArgumentException("%s %d: %d to %d".formatted(name, value, low, high));
    }
  }

  /** 16 READs each way, 7 retries of each kind, no private data. */
  public static ConnectionParameters defaults() {
    return new ConnectionParameters(16, 16, 7, 7, PrivateData.NONE);
  }

  /** With other numbers of retries. */
  public ConnectionParameters withRetries(int timeouts, int receiverNotReady) {
    return new ConnectionParameters(
        responderResources, initiatorDepth, timeouts, receiverNotReady, privateData);
  }

  /** With private data. */
  public ConnectionParameters withPrivateData(PrivateData value) {
    return new ConnectionParameters(
        responderResources, initiatorDepth, retryCount, rnrRetryCount, value);
  }
}
