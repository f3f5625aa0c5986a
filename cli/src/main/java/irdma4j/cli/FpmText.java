package irdma4j.cli;

import irdma4j.hmc.ObjectUse;
import irdma4j.hmc.SegmentType;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** FPM spaces as text: the objects of each, and a line of letters for each of its segments. */
final class FpmText {
  private static final int CELLS = 64;
  private static final long CELL = FpmMap.SEGMENT / CELLS;

  private FpmText() {}

  static void print(List<FpmSpace> spaces, PrintWriter out) {
    String legend =
        String.format(
            Locale.ROOT,
            "One letter is %d KiB of a segment: the kind that fills most of it, small where it has"
                + " no memory, '.' where nothing lies.%n%n",
            CELL >> 10);
    String before = "";
    for (FpmSpace space : spaces) {
      out.print(before);
      objects(space, out);
      out.print(legend);
      for (FpmMap.Strip strip : space.map().strips()) {
        out.printf("%13s  %s  %s%n", strip.numbers(), cells(strip), memory(strip));
      }
      legend = "";
      before = System.lineSeparator();
    }
  }

  private static void objects(FpmSpace space, PrintWriter out) {
    FpmMap map = space.map();
    out.println(space.heading() + ": " + space.summary());
    space.notes().forEach(note -> out.println("  given up: " + note));
    out.println();
    out.printf(
        "  %-8s %10s %10s %5s  %-13s %-13s %-13s %s%n",
        "kind", "objects", "exist", "bytes", "from", "to", "segments", "backed");
    for (ObjectUse use : map.objects()) {
      if (use.count() > 0) {
        out.printf(
            "%c %-8s %10d %10d %5d  0x%011x 0x%011x %-13s %s%n",
            FpmMap.letter(use.kind()),
            use.kind(),
            use.count(),
            use.existing(),
            (use.end() - use.base()) / use.count(),
            use.base(),
            use.end() - 1,
            segments(use),
            backed(map, use));
      }
    }
    out.println();
  }

  /** The segments of a kind in words. */
  static String segments(ObjectUse use) {
    long first = use.base() / FpmMap.SEGMENT;
    long last = (use.end() - 1) / FpmMap.SEGMENT;
    return first == last ? Long.toString(first) : first + " to " + last;
  }

  /** How much of a kind's area has memory, in words. */
  static String backed(FpmMap map, ObjectUse use) {
    long backed = map.backedBytes(use.kind());
    long bytes = use.end() - use.base();
    if (backed == 0) {
      return "no";
    }
    return backed == bytes
        ? "yes, " + ByteSize.format(bytes)
        : String.format(Locale.ROOT, "%s of %s", ByteSize.format(backed), ByteSize.format(bytes));
  }

  /** The memory behind a strip, in words. */
  static String memory(FpmMap.Strip strip) {
    SegmentType type = strip.type();
    if (type == null) {
      return "no memory";
    }
    return type == SegmentType.DIRECT
        ? "direct, %d users".formatted(strip.users())
        : "paged, %d of 512 pages, %d users".formatted(strip.pages(), strip.users());
  }

  private static String cells(FpmMap.Strip strip) {
    char[] cells = new char[CELLS];
    Arrays.fill(cells, '.');
    for (int cell = 0; cell < CELLS; cell++) {
      long most = 0;
      for (FpmMap.Block block : strip.blocks()) {
        long bytes = Math.min(block.to(), (cell + 1) * CELL) - Math.max(block.from(), cell * CELL);
        if (bytes > most) {
          most = bytes;
          char letter = FpmMap.letter(block.kind());
          cells[cell] = block.backed() ? letter : Character.toLowerCase(letter);
        }
      }
    }
    return new String(cells);
  }
}
