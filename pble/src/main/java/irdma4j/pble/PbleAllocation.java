package irdma4j.pble;

import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * PBLEs in use: one run (level 1), or a root whose entries are the indices of leaves of up to 512
 * PBLEs (level 2).
 *
 * <pre>
 *   level 1   firstIndex ─► [ page 0 | page 1 | … ]
 *   level 2   firstIndex ─► [ leaf 0 | leaf 1 | … ]
 *                              │        └─► [ page 512 | page 513 | … ]
 *                              └─► [ page 0 | page 1 | … | page 511 ]
 * </pre>
 *
 * <p>It belongs to the {@link PblePool} that made it until {@link PblePool#free}, and must not be
 * used after that: its entries may belong to someone else. Not thread-safe.
 */
public final class PbleAllocation {
  /** PBLEs of a full leaf. */
  public static final int LEAF = 512;

  private static final Chunk[] NO_CHUNKS = {};
  private static final int[] NO_UNITS = {};

  private final int count;
  private final Chunk chunk;
  private final int unit;
  private final Chunk[] leafChunks;
  private final int[] leafUnits;

  /** Who may take it back; null once that has happened. */
  @Nullable PblePool owner;

  PbleAllocation(PblePool owner, int count, Chunk chunk, int unit) {
    this(owner, count, chunk, unit, NO_CHUNKS, NO_UNITS);
  }

  PbleAllocation(
      PblePool owner, int count, Chunk chunk, int unit, Chunk[] leafChunks, int[] leafUnits) {
    this.owner = owner;
    this.count = count;
    this.chunk = chunk;
    this.unit = unit;
    this.leafChunks = leafChunks;
    this.leafUnits = leafUnits;
  }

  /** Number of pages that the list can hold. */
  public int count() {
    return count;
  }

  /** 1 or 2. */
  public int level() {
    return leafUnits.length == 0 ? 1 : 2;
  }

  /** What the device is told: index of the first PBLE, or of the root's first. */
  public int firstIndex() {
    return index(chunk, unit);
  }

  /** Number of leaves; 0 for level 1. */
  public int leafCount() {
    return leafUnits.length;
  }

  /** Index of a leaf's first PBLE. */
  public int leafIndex(int leaf) {
    return index(leafChunks[leaf], leafUnits[leaf]);
  }

  /** PBLEs of a leaf: {@link #LEAF}, or the rest in the last one. */
  public int leafSize(int leaf) {
    Objects.checkIndex(leaf, leafUnits.length);
    return Math.min(LEAF, count - leaf * LEAF);
  }

  /** PBLEs in use, the root's included. */
  public int entries() {
    return count + leafUnits.length;
  }

  /** Writes the pages' IOVAs into the list. */
  public void fill(PageList pages) {
    if (level() == 1) {
      fill(chunk, unit, pages, 0, count);
      return;
    }
    for (int leaf = 0; leaf < leafUnits.length; leaf++) {
      fill(leafChunks[leaf], leafUnits[leaf], pages, leaf * LEAF, leafSize(leaf));
    }
  }

  /**
   * Copies the pages' IOVAs into the list.
   *
   * @param iovas {@link #count()} little-endian words of 64 bits
   */
  public void fill(MemorySegment iovas) {
    Objects.checkFromIndexSize(0, count * 8L, iovas.byteSize());
    if (level() == 1) {
      MemorySegment.copy(iovas, 0, chunk.memory, offset(unit), count * 8L);
      return;
    }
    for (int leaf = 0; leaf < leafUnits.length; leaf++) {
      MemorySegment.copy(
          iovas,
          leaf * (LEAF * 8L),
          leafChunks[leaf].memory,
          offset(leafUnits[leaf]),
          leafSize(leaf) * 8L);
    }
  }

  /**
   * The IOVA that stands in the list for a page.
   *
   * @param page 0 to {@link #count()} - 1
   */
  public long page(int page) {
    Objects.checkIndex(page, count);
    return level() == 1
        ? entry(chunk, unit, page)
        : entry(leafChunks[page / LEAF], leafUnits[page / LEAF], page % LEAF);
  }

  /** The leaf index that stands in the root. */
  long rootEntry(int leaf) {
    Objects.checkIndex(leaf, leafUnits.length);
    return entry(chunk, unit, leaf);
  }

  Chunk chunk() {
    return chunk;
  }

  int unit() {
    return unit;
  }

  Chunk[] leafChunks() {
    return leafChunks;
  }

  int[] leafUnits() {
    return leafUnits;
  }

  private static int index(Chunk chunk, int unit) {
    return chunk.firstIndex + unit * Chunk.UNIT;
  }

  private static long offset(int unit) {
    return (long) unit * Chunk.UNIT * 8;
  }

  private static long entry(Chunk chunk, int unit, int entry) {
    return LittleEndian.getLong(chunk.memory, offset(unit) + 8L * entry);
  }

  private static void fill(Chunk chunk, int unit, PageList pages, int firstPage, int count) {
    MemorySegment entries = chunk.memory.asSlice(offset(unit), count * 8L);
    for (int entry = 0; entry < count; entry++) {
      LittleEndian.setLong(entries, 8L * entry, pages.iova(firstPage + entry));
    }
  }
}
