package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import irdma4j.hwregs.cqp.CqpWqe;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The layout of the operation is judged by the vectors; here, what is put into it. */
class UserPriorityMapTest {
  @Test
  void eachPriorityHasItsByte() {
    UserPriorityMap map = new UserPriorityMap(List.of(3, 1, 4, 1, 5, 0, 2, 6), false, 9);
    MemorySegment wqe = MemorySegment.ofArray(new long[CqpWqe.SIZE / 8]);
    map.operation(2).encode(wqe, 0);
    List<Integer> bytes =
        java.util.stream.IntStream.range(0, 8)
            .mapToObj(i -> (int) wqe.get(ValueLayout.JAVA_BYTE, i))
            .toList();
    assertEquals(map.priorities(), bytes);
    assertEquals(true, map.operation(2).useCnpPriority());
    assertEquals(9, map.operation(2).cnpPriority());
    assertEquals(
        false,
        new UserPriorityMap(map.priorities(), true, UserPriorityMap.AS_THE_PACKET)
            .operation(0)
            .useCnpPriority());
  }
}
