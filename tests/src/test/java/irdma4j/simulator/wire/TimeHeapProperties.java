package irdma4j.simulator.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** A heap of times beside a list of the same. */
class TimeHeapProperties {
  private record Entry(long time, long order, int what) {}

  private static final Comparator<Entry> SOONEST =
      Comparator.comparingLong(Entry::time).thenComparingLong(Entry::order);

  /**
   * Fails if something comes out of its order, gets lost or comes twice, also when there is much or
   * when some is taken out, or if it is wrongly said that something would come first.
   */
  @Property
  void theSoonestIsNext(
      @ForAll @Size(max = 300) List<@IntRange(max = 40) Integer> doings, @ForAll boolean many) {
    TimeHeap heap = new TimeHeap();
    List<Entry> model = new ArrayList<>();
    for (int i = 0; i < doings.size(); i++) {
      int doing = doings.get(i);
      if (doing < (many ? 3 : 15) && !model.isEmpty()) {
        takeNext(heap, model);
      } else if (doing == 40) {
        int kept = i % 3;
        heap.keep(what -> what % 3 != kept);
        model.removeIf(one -> one.what % 3 == kept);
      } else {
        Entry one = new Entry(doing / 2, i, i);
        for (Entry asked : List.of(one, new Entry(one.time, -1, i))) {
          boolean first = model.stream().allMatch(other -> SOONEST.compare(asked, other) < 0);
          assertEquals(first, heap.isFirst(asked.time, asked.order));
        }
        heap.add(one.time, one.order, one.what);
        model.add(one);
      }
      assertEquals(model.size(), heap.size());
    }
    while (!model.isEmpty()) {
      takeNext(heap, model);
    }
    heap.add(1, 1, 1);
    heap.clear();
    assertEquals(Long.MAX_VALUE, heap.nextTime());
    assertEquals(0, heap.size());
  }

  private static void takeNext(TimeHeap heap, List<Entry> model) {
    Entry soonest = model.stream().min(SOONEST).orElseThrow();
    assertEquals(soonest, new Entry(heap.nextTime(), heap.nextOrder(), heap.what(0)));
    heap.removeNext();
    model.remove(soonest);
  }
}
