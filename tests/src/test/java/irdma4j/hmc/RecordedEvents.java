package irdma4j.hmc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import irdma4j.hwregs.Registers;
import irdma4j.tests.FakePciFunction;
import irdma4j.tests.FakePciFunction.DmaEvent;
import irdma4j.tests.HmcDevice;
import irdma4j.vectors.Json;
import java.util.ArrayList;
import java.util.List;

/**
 * What the recorded driver did to memory, registers and the control queue, against what ours did.
 */
public final class RecordedEvents {
  /** Where the recorded driver had got to in its DMA memory when the first object came. */
  public static final long FIRST_OBJECT_IOVA = 0xa5_0000_c000L;

  private RecordedEvents() {}

  /**
   * Compares, each in its order: DMA memory that came and went, page invalidations, and control
   * operations. How these are interleaved may differ: ours gives memory back only after the device
   * has been told of all that goes.
   */
  public static void assertSame(List<Json> recorded, FakePciFunction function, HmcDevice device) {
    List<DmaEvent> memory = new ArrayList<>();
    List<Integer> invalidations = new ArrayList<>();
    List<String> commands = new ArrayList<>();
    long pages = 0;
    long firstPage = 0;
    for (Json event : recorded) {
      boolean isPage = event.text("op").equals("dma_map_page");
      if (isPage && pages++ == 0) {
        firstPage = event.number("iova");
      } else if (!isPage && pages > 0) {
        memory.add(new DmaEvent(true, firstPage, pages * Segment.PAGE_SIZE));
        pages = 0;
      }
      switch (event.text("op")) {
        case "dma_alloc", "dma_free" ->
            memory.add(
                new DmaEvent(
                    event.text("op").equals("dma_alloc"),
                    event.number("iova"),
                    event.number("size")));
        case "W" -> {
          if (event.number("reg") == Registers.PFHMC_PDINV.offset()) {
            invalidations.add((int) event.number("val"));
          }
        }
        case "cqp_wqe", "sd_mem_entries" -> commands.add(event.text("hex"));
        case "R", "dma_map_page" -> {}
        default -> throw new IllegalArgumentException(event.text("op"));
      }
    }
    assertEquals(memory, function.takeEvents());
    assertEquals(
        invalidations,
        device.takeInvalidations().stream()
            .map(pair -> (int) Registers.PDINV_PMSDPARTSEL.encode(1) | pair)
            .toList());
    List<String> given = new ArrayList<>();
    for (List<SegmentUpdate> update : device.takeUpdates()) {
      given.addAll(UpdateBytes.of(update));
    }
    assertEquals(UpdateBytes.withoutRing(commands), given);
  }
}
