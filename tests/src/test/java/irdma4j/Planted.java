package irdma4j;

import static org.junit.jupiter.api.Assertions.assertThrows;

import irdma4j.tests.Violation;
import java.util.Iterator;
import java.util.Random;
import java.util.function.BiConsumer;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Shrinkable;

/** Whether the kit finds a fault that was planted on purpose. */
public final class Planted {
  private static final int SEQUENCES = 2000;

  private Planted() {}

  /**
   * Runs sequences, the same in each run, until one finds the fault.
   *
   * @param trial throws a {@link Violation} if it finds the fault
   */
  public static <L, A> void assertFound(
      Enum<?> fault, Arbitrary<L> layouts, Arbitrary<A> actions, BiConsumer<L, A> trial) {
    Random random = new Random(fault.name().length());
    Iterator<L> layout = values(layouts, random);
    Iterator<A> sequence = values(actions, random);
    assertThrows(
        Violation.class,
        () -> {
          for (int i = 0; i < SEQUENCES; i++) {
            trial.accept(layout.next(), sequence.next());
          }
        },
        fault.name());
  }

  private static <T> Iterator<T> values(Arbitrary<T> arbitrary, Random random) {
    return arbitrary.generator(SEQUENCES).stream(random).map(Shrinkable::value).iterator();
  }
}
