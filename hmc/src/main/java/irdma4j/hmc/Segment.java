package irdma4j.hmc;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.PageDescriptorEntry;
import irdma4j.uapi.DmaMemory;
import org.jspecify.annotations.Nullable;

/** A backed segment: its memory, and how many objects use it. */
final class Segment {
  static final int PAGES = 512;
  static final int PAGE_SIZE = 4096;

  final int index;
  final SegmentType type;

  /** The 2 MiB block, or the page of page descriptors. */
  final DmaMemory root;

  /** Objects and extents that lie at least partly here. */
  long users;

  /** Of a paged segment: IOVA of each page, 0 where there is none. */
  private final long[] pageIova;

  private final int[] pageUsers;
  private final @Nullable DmaMemory[] pageMemory;

  Segment(int index, SegmentType type, DmaMemory root) {
    this.index = index;
    this.type = type;
    this.root = root;
    int pages = type == SegmentType.PAGED ? PAGES : 0;
    pageIova = new long[pages];
    pageUsers = new int[pages];
    pageMemory = new @Nullable DmaMemory[pages];
  }

  boolean hasPage(int page) {
    return pageIova[page] != 0;
  }

  /** Backed bytes, page descriptors not counted. */
  int backedPages() {
    if (type == SegmentType.DIRECT) {
      return PAGES;
    }
    int pages = 0;
    for (long iova : pageIova) {
      pages += iova == 0 ? 0 : 1;
    }
    return pages;
  }

  /**
   * Backs a page and writes its descriptor; {@code owned} is freed with it, or null if the memory
   * belongs to an extent.
   */
  void addPage(int page, long iova, @Nullable DmaMemory owned) {
    pageIova[page] = iova;
    pageMemory[page] = owned;
    showPage(page);
  }

  /** Writes the descriptor of a backed page. */
  void showPage(int page) {
    LittleEndian.setLongRelease(
        root.segment(), page * 8L, pageIova[page] | PageDescriptorEntry.VALID.mask());
  }

  /** Clears the descriptor of a page, which stays backed. */
  void hidePage(int page) {
    LittleEndian.setLongRelease(root.segment(), page * 8L, 0);
  }

  /**
   * Ends the backing of a hidden page.
   *
   * @return its memory if the segment owned it
   */
  @Nullable DmaMemory removePage(int page) {
    DmaMemory memory = pageMemory[page];
    pageMemory[page] = null;
    pageIova[page] = 0;
    return memory;
  }

  int addPageUsers(int page, int count) {
    pageUsers[page] += count;
    return pageUsers[page];
  }

  /** IOVA of a byte of the segment, or 0 if it is not backed. */
  long iova(int offset) {
    if (type == SegmentType.DIRECT) {
      return root.iova(offset);
    }
    long page = pageIova[offset / PAGE_SIZE];
    return page == 0 ? 0 : page + offset % PAGE_SIZE;
  }

  void free() {
    for (int page = 0; page < pageMemory.length; page++) {
      DmaMemory memory = removePage(page);
      if (memory != null) {
        memory.close();
      }
    }
    root.close();
  }
}
