package irdma4j.cli;

import irdma4j.hmc.FpmLocation;
import irdma4j.hmc.HmcView;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.ObjectUse;
import irdma4j.hmc.SegmentType;
import irdma4j.hmc.SegmentUse;
import irdma4j.hwregs.HmcObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is to be drawn of an FPM space: its objects, and its segments with what lies in them.
 *
 * @param objects what there is of each kind, by address
 * @param strips the segments in order; equal neighbours are one strip
 * @param segments segments of the space
 */
record FpmMap(List<ObjectUse> objects, List<Strip> strips, long segments) {
  /** Bytes of a segment. */
  static final long SEGMENT = HostMemoryCache.SEGMENT_SIZE;

  private static final long PAGE = 4096;

  /**
   * Segments that look the same.
   *
   * @param first index of the first
   * @param last index of the last
   * @param type how they are backed; null if they are not
   * @param pages backed pages of each
   * @param users objects and extents in all of them
   * @param blocks what lies in each, from its beginning on
   */
  record Strip(
      long first,
      long last,
      @Nullable SegmentType type,
      int pages,
      long users,
      List<Block> blocks) {
    /** The segments in words: {@code 7} or {@code 7 to 9}. */
    String numbers() {
      return first == last ? Long.toString(first) : first + " to " + last;
    }
  }

  /**
   * A part of a segment in which objects of one kind lie, all backed or none.
   *
   * @param kind which
   * @param from first byte, within the segment
   * @param to byte after the last
   * @param backed whether there is memory behind it
   */
  record Block(HmcObject kind, long from, long to, boolean backed) {}

  static FpmMap of(HmcView hmc) {
    Map<Integer, SegmentUse> backed = new HashMap<>();
    hmc.segments().forEach(use -> backed.put(use.index(), use));
    List<ObjectUse> objects = hmc.objects();
    List<Strip> strips = new ArrayList<>();
    for (long segment = 0; segment < hmc.layout().segments(); segment++) {
      SegmentUse use = backed.get((int) segment);
      Strip strip =
          new Strip(
              segment,
              segment,
              use == null ? null : use.type(),
              use == null ? 0 : use.pages(),
              use == null ? 0 : use.users(),
              blocks(hmc, objects, segment, use));
      if (!strips.isEmpty() && looksLike(strips.getLast(), strip)) {
        Strip before = strips.removeLast();
        strip =
            new Strip(
                before.first,
                segment,
                before.type,
                before.pages,
                before.users + strip.users,
                before.blocks);
      }
      strips.add(strip);
    }
    return new FpmMap(objects, strips, hmc.layout().segments());
  }

  private static boolean looksLike(Strip a, Strip b) {
    return a.type == b.type && a.pages == b.pages && a.blocks.equals(b.blocks);
  }

  private static List<Block> blocks(
      HmcView hmc, List<ObjectUse> objects, long segment, @Nullable SegmentUse use) {
    long base = segment * SEGMENT;
    List<Block> blocks = new ArrayList<>();
    for (ObjectUse object : objects) {
      long to = Math.min(object.end(), base + SEGMENT);
      for (long at = Math.max(object.base(), base); at < to; ) {
        // Memory begins and ends at pages.
        long next = use == null ? to : Math.min(to, (at / PAGE + 1) * PAGE);
        add(blocks, new Block(object.kind(), at - base, next - base, isBacked(hmc, use, at)));
        at = next;
      }
    }
    return blocks;
  }

  private static boolean isBacked(HmcView hmc, @Nullable SegmentUse use, long address) {
    if (use == null || use.type() == SegmentType.DIRECT) {
      return use != null;
    }
    FpmLocation location = hmc.locate(address);
    return location != null && location.iova() != 0;
  }

  private static void add(List<Block> blocks, Block block) {
    if (!blocks.isEmpty()) {
      Block last = blocks.getLast();
      if (last.kind == block.kind && last.backed == block.backed && last.to == block.from) {
        blocks.set(blocks.size() - 1, new Block(block.kind, last.from, block.to, block.backed));
        return;
      }
    }
    blocks.add(block);
  }

  /** Backed segments. */
  long backedSegments() {
    return strips.stream()
        .filter(strip -> strip.type != null)
        .mapToLong(strip -> strip.last - strip.first + 1)
        .sum();
  }

  /** Bytes of memory behind the space; page descriptors are not counted. */
  long backedBytes() {
    return strips.stream()
        .mapToLong(strip -> (strip.last - strip.first + 1) * strip.pages * PAGE)
        .sum();
  }

  /** Bytes of a kind's area that have memory. */
  long backedBytes(HmcObject kind) {
    long bytes = 0;
    for (Strip strip : strips) {
      for (Block block : strip.blocks) {
        if (block.kind == kind && block.backed) {
          bytes += (strip.last - strip.first + 1) * (block.to - block.from);
        }
      }
    }
    return bytes;
  }

  /** The letter by which a kind is known in the pictures. */
  static char letter(HmcObject kind) {
    return switch (kind) {
      case QP -> 'Q';
      case CQ -> 'C';
      case HTE -> 'H';
      case ARP -> 'A';
      case APBVT -> 'B';
      case MR -> 'M';
      case XF -> 'X';
      case XFFL -> 'F';
      case Q1 -> 'I';
      case Q1FL -> 'L';
      case TIMER -> 'T';
      case FSIMC -> 'G';
      case FSIAV -> 'V';
      case PBLE -> 'P';
      case RRF -> 'R';
      case RRFFL -> 'N';
      case HDR -> 'D';
      case MD -> 'E';
      case OOISC -> 'O';
      case OOISCFFL -> 'Z';
    };
  }
}
