package irdma4j.endtoend;

import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Several allocations that pass for one, as memory in large pages looks: each is a run of IOVAs
 * that begins at a multiple of its size, and they do not follow one another.
 *
 * @param unit bytes that a part stands for
 * @param parts the allocations; each may be shorter than its unit, so that pages of 1 GiB need
 *     little memory: the IOVAs behind it are mapped to nothing
 */
record SplicedMemory(long unit, List<DmaMemory> parts) implements DmaMemory {
  /** Parts of {@code unit} bytes of which the first {@code there} exist. */
  static SplicedMemory of(RdmaPair.Side side, int pages, long unit, long there, Random random) {
    List<DmaMemory> parts = new ArrayList<>();
    for (int i = 0; i < pages; i++) {
      DmaMemory part = side.device.function().allocateDma(there, unit, DmaPlacement.CONTIGUOUS);
      side.memories.add(part);
      parts.add(part);
    }
    do {
      Collections.shuffle(parts, random);
    } while (parts.get(0).iova() + unit == parts.get(1).iova());
    return new SplicedMemory(unit, parts);
  }

  /** The process's view from a byte to the end of its part. */
  MemorySegment at(long offset) {
    return parts.get((int) (offset / unit)).segment().asSlice(offset % unit);
  }

  @Override
  public long iova(long offset) {
    return parts.get((int) (offset / unit)).iova() + offset % unit;
  }

  @Override
  public long size() {
    return unit * parts.size();
  }

  @Override
  public MemorySegment segment() {
    throw new UnsupportedOperationException("the parts lie apart");
  }

  @Override
  public DmaPlacement placement() {
    return DmaPlacement.SCATTERED;
  }

  @Override
  public void close() {}
}
