package irdma4j.simulator.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** What is on its way, beside a sorted list of the same. */
class ArrivalsProperties {
  private record Arrival(long time, long order, int what) {}

  private static final Comparator<Arrival> SOONEST =
      Comparator.comparingLong(Arrival::time).thenComparingLong(Arrival::order);

  /**
   * Fails if something arrives out of its order, gets lost or comes twice, also when there is much
   * or when some is taken out, or if it is wrongly said that something would come first.
   */
  @Property
  void theSoonestIsNext(
      @ForAll @Size(max = 300) List<@IntRange(max = 40) Integer> doings, @ForAll boolean many) {
    Arrivals arrivals = new Arrivals();
    List<Arrival> model = new ArrayList<>();
    for (int i = 0; i < doings.size(); i++) {
      int doing = doings.get(i);
      if (doing < (many ? 3 : 15) && !model.isEmpty()) {
        takeNext(arrivals, model);
      } else if (doing == 40) {
        int kept = i % 3;
        arrivals.keep(what -> what % 3 != kept);
        model.removeIf(one -> one.what % 3 == kept);
      } else {
        Arrival one = new Arrival(doing / 2, i, i);
        for (Arrival asked : List.of(one, new Arrival(one.time, -1, i))) {
          boolean first = model.stream().allMatch(other -> SOONEST.compare(asked, other) < 0);
          assertEquals(first, arrivals.isFirst(asked.time, asked.order));
        }
        arrivals.add(one.time, one.order, one.what);
        model.add(one);
      }
      assertEquals(model.size(), arrivals.size());
    }
    while (!model.isEmpty()) {
      takeNext(arrivals, model);
    }
    assertEquals(Long.MAX_VALUE, arrivals.nextTime());
    assertEquals(0, arrivals.size());
  }

  private static void takeNext(Arrivals arrivals, List<Arrival> model) {
    Arrival soonest = model.stream().min(SOONEST).orElseThrow();
    assertEquals(soonest, new Arrival(arrivals.nextTime(), arrivals.nextOrder(), arrivals.what(0)));
    arrivals.removeNext();
    model.remove(soonest);
  }
}
