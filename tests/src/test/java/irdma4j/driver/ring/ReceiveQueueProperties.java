package irdma4j.driver.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.RqWqe;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** A receive queue against a device that takes WQEs by their valid bits. */
class ReceiveQueueProperties {
  /**
   * The device finds exactly the receives that are posted, in order and as posted, and the queue
   * takes all slots but one. Fails if the polarity does not flip at index 0, if the extra fragment
   * of an even count is missing, or if the capacity is wrong by one either way.
   */
  @Property(tries = 200)
  void everyReceiveIsTakenOnce(
      @ForAll @IntRange(min = 0, max = 3) int shift,
      @ForAll @IntRange(min = 3, max = 6) int sizeShift,
      @ForAll @Size(max = 600) List<@IntRange(min = 0, max = 27) Integer> actions) {
    int slots = 1 << sizeShift;
    int most = Math.min(RingSizes.MAX_FRAGMENTS, (2 << shift) - 1);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate((long) slots << shift << 5, 64);
      ReceiveQueue queue = new ReceiveQueue(memory, slots << shift, shift, most);
      Deque<String> model = new ArrayDeque<>();
      int deviceIndex = 0;
      int devicePolarity = 1;
      int number = 0;
      for (int action : actions) {
        if (action < 14) {
          SgeList sges = new SgeList();
          StringBuilder list = new StringBuilder();
          for (int i = 0; i < action % (most + 1); i++) {
            sges.add(0x1000L * number + i, 64 + i, number);
            list.append(" %x+%d key %d".formatted(0x1000L * number + i, 64 + i, number));
          }
          boolean done = queue.receive(number, sges);
          assertEquals(model.size() < slots - 1, done, "used " + model.size());
          if (done) {
            model.add(number++ + ":" + list);
          }
        } else {
          long base = (long) deviceIndex << shift << 5;
          boolean there = RqWqe.VALID.get(memory, base) == devicePolarity;
          assertEquals(!model.isEmpty(), there, "at " + deviceIndex);
          if (there) {
            String found = queue.wrId(deviceIndex) + ":" + fragments(memory, base, devicePolarity);
            assertEquals(model.remove(), found);
            queue.complete(deviceIndex);
            deviceIndex = (deviceIndex + 1) % slots;
            if (deviceIndex == 0) {
              devicePolarity ^= 1;
            }
          }
        }
        assertEquals(model.size(), queue.used());
      }
    }
  }

  private static String fragments(MemorySegment memory, long base, int polarity) {
    StringBuilder list = new StringBuilder();
    int count = 1 + (int) RqWqe.ADDFRAGCNT.get(memory, base);
    assertEquals(1, count % 2, "fragments come in pairs after the first");
    for (int i = 0; i < count; i++) {
      long at = i == 0 ? base : base + 32 + 16L * (i - 1);
      long word = LittleEndian.getLong(memory, at + 8);
      assertEquals(polarity, RqWqe.FRAG_VALID.decode(word), "fragment " + i);
      if (RqWqe.FRAG_LEN.decode(word) != 0) {
        list.append(
            " %x+%d key %d"
                .formatted(
                    LittleEndian.getLong(memory, at),
                    RqWqe.FRAG_LEN.decode(word),
                    RqWqe.STAG.decode(word)));
      }
    }
    return list.toString();
  }
}
