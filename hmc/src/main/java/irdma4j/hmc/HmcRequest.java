package irdma4j.hmc;

import java.util.Objects;

/**
 * What a function wants of its Host Memory Cache.
 *
 * @param queuePairs queue pairs wanted, at least 1; fewer may be had, and always a power of two
 * @param profile how the card's HMC is shared among its functions. The card divides its segments by
 *     it before it answers QUERY_FPM, so {@link SizingPolicy#FIT} finds it in the limits already;
 *     {@link SizingPolicy#LINUX} takes smaller steps for {@link HmcProfile#FAVOR_VF}
 * @param iwarpOnly whether the function speaks iWARP alone, which needs fewer Q1 entries
 */
public record HmcRequest(long queuePairs, HmcProfile profile, boolean iwarpOnly) {
  /** Checks the number. */
  public HmcRequest {
    Objects.requireNonNull(profile);
    if (queuePairs < 1) {
      throw new IllegalArgumentException("queue pairs: " + queuePairs);
    }
  }
}
