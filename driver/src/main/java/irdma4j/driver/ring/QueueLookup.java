package irdma4j.driver.ring;

import org.jspecify.annotations.Nullable;

/** Finds a queue pair's rings by the context that its completions carry, without allocating. */
@FunctionalInterface
public interface QueueLookup {
  /** The rings, or null if no queue pair has that context. */
  @Nullable QueuePairRings find(long completionContext);
}
