package irdma4j.hmc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.SegmentDescriptor;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.UpdatePeSds;
import irdma4j.simulator.FpmWalk;
import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The simulator's walk finds the memory that Linux's driver gave its first objects, from what Linux
 * told the device: the bytes are Linux's, and the walk is asked by all trials.
 */
class WalkVectorsTest {
  private static final int PAGE = 4096;

  /**
   * Fails if the walk reads a segment descriptor, or an index, otherwise than Linux writes it. A
   * page descriptor is a page's address with bit 0 set, as the vectors' README says.
   */
  @Test
  void findsLinuxsMemory() {
    int direct = 0;
    int paged = 0;
    for (Vector vector : VectorSuite.read("hmc")) {
      if (vector.function().equals("irdma_sc_create_hmc_obj")
          && vector.in().number("step") == 0
          && vector.out().text("ret").equals("OK")) {
        judge(vector);
        if (vector.in().text("sd_type").equals("DIRECT")) {
          direct++;
        } else {
          paged++;
        }
      }
    }
    assertTrue(direct > 0 && paged > 0, direct + " direct, " + paged + " paged");
  }

  private static void judge(Vector vector) {
    List<Long> allocated = new ArrayList<>();
    List<Integer> invalidated = new ArrayList<>();
    Map<Integer, Long> commands = new HashMap<>();
    for (Json event : vector.out().list("events")) {
      switch (event.text("op")) {
        case "dma_alloc" -> allocated.add(event.number("iova"));
        case "W" -> {
          if (event.number("reg") == Registers.PFHMC_PDINV.offset()) {
            invalidated.add((int) event.number("val"));
          }
        }
        case "cqp_wqe" -> addWqe(commands, aligned(event.text("hex")));
        case "sd_mem_entries" -> addEntries(commands, aligned(event.text("hex")));
        default -> {}
      }
    }
    Map<Integer, Long> roots = new HashMap<>();
    commands.forEach(
        (command, data) ->
            roots.put(
                (int) SegmentDescriptor.PMSDIDX.decode(command),
                data & SegmentDescriptor.PMSDDATA.mask()));
    List<Long> pages = allocated.stream().filter(iova -> !roots.containsValue(iova)).toList();
    assertEquals(invalidated.size(), pages.size(), vector.id());
    Map<Long, Long> host = new HashMap<>();
    Map<Long, Long> expected = new HashMap<>();
    for (int i = 0; i < pages.size(); i++) {
      int segment = (int) Registers.PDINV_PMSDIDX.decode(invalidated.get(i));
      long page = Registers.PDINV_PMPDIDX.decode(invalidated.get(i));
      host.put(roots.get(segment) + 8 * page, pages.get(i) | 1);
      expected.put(segment * HostMemoryCache.SEGMENT_SIZE + page * PAGE, pages.get(i));
    }
    if (pages.isEmpty()) {
      roots.forEach((segment, iova) -> expected.put(segment * HostMemoryCache.SEGMENT_SIZE, iova));
    }
    FpmWalk walk = new FpmWalk(8192, iova -> host.getOrDefault(iova, 0L));
    commands.forEach(walk::update);
    expected.forEach(
        (address, iova) -> {
          assertEquals(iova, walk.translate(address), vector.id());
          assertEquals(iova + PAGE - 1, walk.translate(address + PAGE - 1), vector.id());
        });
    long last = vector.in().number("cnt") * vector.in().number("size") - 1;
    assertTrue(walk.translate(last) != FpmWalk.FAULT, vector.id());
  }

  private static void addWqe(Map<Integer, Long> commands, MemorySegment wqe) {
    if (CqpCommand.decode(wqe, 0) instanceof UpdatePeSds update) {
      commands.put(update.command0(), update.data0());
      if (update.entry1()) {
        commands.put(update.command1(), update.data1());
      }
      if (update.entry2()) {
        commands.put(update.command2(), update.data2());
      }
    }
  }

  private static void addEntries(Map<Integer, Long> commands, MemorySegment entries) {
    for (long at = 0; at < entries.byteSize(); at += SegmentDescriptor.SIZE) {
      commands.put((int) LittleEndian.getLong(entries, at), LittleEndian.getLong(entries, at + 8));
    }
  }

  private static MemorySegment aligned(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    return MemorySegment.ofArray(new long[bytes.length / 8]).copyFrom(MemorySegment.ofArray(bytes));
  }
}
