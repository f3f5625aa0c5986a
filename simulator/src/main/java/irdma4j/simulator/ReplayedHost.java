package irdma4j.simulator;

import irdma4j.simulator.device.Iommu;
import irdma4j.uapi.trace.TraceLine;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The driver's side of a function in a replay: the memory that the trace maps. */
final class ReplayedHost implements AutoCloseable {
  /** Bytes that the device wrote, inside a page. */
  record Range(ReplayedMemory memory, long offset, long bytes) {}

  private record Page(ReplayedMemory memory, long offset) {}

  final SimulatedFunction function;

  /** What the trace's device answered last, by the register's offset. */
  final Map<Long, Long> lastRead = new HashMap<>();

  private final boolean tracked;
  private final Map<Integer, ReplayedMemory> memories = new HashMap<>();
  private final Map<Long, Page> pages = new HashMap<>();
  private final Set<Long> objectPages = new HashSet<>();
  private List<Range> written = new ArrayList<>();

  /**
   * The side of a function.
   *
   * @param tracked whether what the device writes is kept for {@link #takeWritten}
   */
  ReplayedHost(SimulatedFunction function, boolean tracked) {
    this.function = function;
    this.tracked = tracked;
  }

  void map(TraceLine.Map map) {
    ReplayedMemory memory =
        new ReplayedMemory(map.id(), function.place(map.pages(), map.placement()));
    memories.put(map.id(), memory);
    for (int i = 0; i < map.pages().size(); i++) {
      pages.put(map.pages().get(i), new Page(memory, (long) i * Iommu.PAGE));
    }
  }

  void unmap(int id) {
    ReplayedMemory memory = memories.remove(id);
    if (memory != null) {
      for (long at = 0; at < memory.bytes(); at += Iommu.PAGE) {
        pages.remove(memory.iova(at));
        objectPages.remove(memory.iova(at));
      }
      memory.close();
    }
  }

  ReplayedMemory memory(int id) {
    ReplayedMemory memory = memories.get(id);
    if (memory == null) {
      throw new IllegalStateException("no memory " + id);
    }
    return memory;
  }

  Collection<ReplayedMemory> memories() {
    return memories.values();
  }

  /** The device has written, or is about to. */
  void wrote(long iova, long bytes) {
    if (!tracked) {
      if (function.device().isObjectMemory(iova)) {
        objectPages.add(iova & -Iommu.PAGE);
      }
      return;
    }
    for (long at = iova; at < iova + bytes; ) {
      long n = Math.min(iova + bytes - at, Iommu.PAGE - (at & (Iommu.PAGE - 1)));
      @Nullable Page page = pages.get(at & -Iommu.PAGE);
      if (page != null) {
        written.add(new Range(page.memory, page.offset + (at & (Iommu.PAGE - 1)), n));
      }
      at += n;
    }
  }

  /** What the device has written since the last call, in order. */
  List<Range> takeWritten() {
    if (written.isEmpty()) {
      return List.of();
    }
    List<Range> taken = written;
    written = new ArrayList<>();
    return taken;
  }

  /**
   * Whether an address is, or was since it was mapped, that of an object in the Host Memory Cache.
   */
  boolean isObject(long iova) {
    return objectPages.contains(iova & -Iommu.PAGE) || function.device().isObjectMemory(iova);
  }

  /** Closes the function, and what memory it still has. */
  @Override
  public void close() {
    function.close();
    memories.values().forEach(ReplayedMemory::close);
    memories.clear();
    pages.clear();
    written.clear();
  }
}
