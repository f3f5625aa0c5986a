package irdma4j.hmc;

/**
 * What a function wants of its Host Memory Cache.
 *
 * @param queuePairs queue pairs wanted, at least 1; fewer may be had, and always a power of two
 * @param iwarpOnly whether the function speaks iWARP alone, which needs fewer Q1 entries
 */
public record HmcRequest(long queuePairs, boolean iwarpOnly) {
  /** Checks the number. */
  public HmcRequest {
    if (queuePairs < 1) {
      throw new IllegalArgumentException("queue pairs: " + queuePairs);
    }
  }
}
