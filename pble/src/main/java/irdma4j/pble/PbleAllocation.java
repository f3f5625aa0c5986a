package irdma4j.pble;

import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * PBLEs in use: one run (level 1), or a root whose entries are the indices of leaves of up to 512
 * PBLEs (level 2).
 *
 * <p>It belongs to the {@link PblePool} that made it until {@link PblePool#free}. Not thread-safe.
 */
public final class PbleAllocation {
  /** PBLEs of a full leaf. */
  public static final int LEAF = 512;

  private final int count;
  private final int level;
  private final Run head;
  private final Run[] leaves;

  PbleAllocation(int count, Run run) {
    this.count = count;
    this.level = 1;
    this.head = run;
    this.leaves = new Run[0];
  }

  PbleAllocation(int count, Run root, Run[] leaves) {
    this.count = count;
    this.level = 2;
    this.head = root;
    this.leaves = leaves;
  }

  /** Number of pages that the list can hold. */
  public int count() {
    return count;
  }

  /** 1 or 2. */
  public int level() {
    return level;
  }

  /** What the device is told: index of the first PBLE, or of the root's first. */
  public int firstIndex() {
    return head.index();
  }

  /** Number of leaves; 0 for level 1. */
  public int leafCount() {
    return leaves.length;
  }

  /** Index of a leaf's first PBLE. */
  public int leafIndex(int leaf) {
    return leaves[leaf].index();
  }

  /** PBLEs in use, the root's included. */
  public int entries() {
    return level == 1 ? count : count + leaves.length;
  }

  /** Writes the pages' IOVAs into the list. */
  public void fill(PageList pages) {
    if (level == 1) {
      fill(head, pages, 0, count);
      return;
    }
    for (int leaf = 0; leaf < leaves.length; leaf++) {
      fill(leaves[leaf], pages, (long) leaf * LEAF, leaves[leaf].count());
    }
  }

  /** The IOVA that stands in the list for a page. */
  public long page(int page) {
    Run run = level == 1 ? head : leaves[page / LEAF];
    int entry = level == 1 ? page : page % LEAF;
    return LittleEndian.getLong(run.chunk().memory(), run.offset() + 8L * entry);
  }

  Run head() {
    return head;
  }

  Run[] leaves() {
    return leaves;
  }

  private static void fill(Run run, PageList pages, long firstPage, int count) {
    MemorySegment memory = run.chunk().memory();
    long offset = run.offset();
    for (int entry = 0; entry < count; entry++) {
      LittleEndian.setLong(memory, offset + 8L * entry, pages.iova(firstPage + entry));
    }
  }
}
