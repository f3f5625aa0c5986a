package irdma4j.campaign;

import java.util.List;
import net.jqwik.api.lifecycle.AroundTryHook;
import net.jqwik.api.lifecycle.Lifespan;
import net.jqwik.api.lifecycle.Store;
import net.jqwik.api.lifecycle.TryExecutionResult;
import net.jqwik.api.lifecycle.TryExecutor;
import net.jqwik.api.lifecycle.TryLifecycleContext;

/**
 * Ends a property early where each is run thousands of times: under mutation. The system property
 * {@code irdma4j.mostTries} says after how many tries.
 */
public final class FewerTries implements AroundTryHook {
  private static final int MOST = Integer.getInteger("irdma4j.mostTries", Integer.MAX_VALUE);

  /** For jqwik. */
  public FewerTries() {}

  @Override
  public TryExecutionResult aroundTry(
      TryLifecycleContext context, TryExecutor aTry, List<Object> parameters) {
    if (MOST == Integer.MAX_VALUE) {
      return aTry.execute(parameters);
    }
    Store<Integer> tries = Store.getOrCreate(FewerTries.class, Lifespan.PROPERTY, () -> 0);
    if (tries.get() >= MOST) {
      return TryExecutionResult.satisfied(true);
    }
    tries.update(count -> count + 1);
    return aTry.execute(parameters);
  }
}
