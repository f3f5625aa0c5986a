package irdma4j.cli;

import irdma4j.hmc.ObjectUse;
import irdma4j.hwregs.HmcObject;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * FPM spaces as an SVG picture: a strip for each segment, then a table that is the legend. Backed
 * parts are full, others hatched; letters and names say what colours say.
 */
final class FpmSvg {
  private static final int WIDTH = 1240;
  private static final int MARGIN = 36;
  private static final int STRIP_LEFT = 150;
  private static final int STRIP_WIDTH = 768;
  private static final int STRIP_HEIGHT = 26;
  private static final int STRIP_STEP = 34;
  private static final int ROW_STEP = 24;
  private static final int LETTER_WIDTH = 12;
  private static final int CHARACTER = 8;
  private static final int MEMORY_LEFT = STRIP_LEFT + STRIP_WIDTH + 50;

  /** Where the columns of the table begin, or end if their numbers stand to the right. */
  private static final int[] COLUMNS = {36, 66, 150, 480, 580, 640, 700, 850, 968};

  private static final Set<Integer> NUMBERS = Set.of(3, 4, 5);

  private final StringBuilder text = new StringBuilder();
  private int y = MARGIN;

  private FpmSvg() {}

  /** The whole file: the spaces one below the other. */
  static String draw(List<FpmSpace> spaces) {
    FpmSvg picture = new FpmSvg();
    for (FpmSpace space : spaces) {
      picture.heading(space);
      picture.strips(space.map());
      picture.table(space.map());
      picture.y += MARGIN;
    }
    return """
        <svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" viewBox="0 0 %1$d %2$d" \
        font-family="Inter, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif" \
        font-size="13" fill="#1f2933">
        <title>%3$s</title>
        <rect width="100%%" height="100%%" fill="#fcfcfa"/>
        %4$s%5$s</svg>
        """
        .formatted(WIDTH, picture.y, escape(spaces.getFirst().heading()), patterns(), picture.text);
  }

  private void heading(FpmSpace space) {
    y += 10;
    say(MARGIN, "font-size=\"21\" font-weight=\"600\"", space.heading());
    y += 24;
    say(MARGIN, "fill=\"#52606d\"", space.summary());
    for (String note : space.notes()) {
      y += 19;
      say(MARGIN, "fill=\"#8a4b08\"", "Given up: " + note);
    }
    y += 34;
  }

  private void strips(FpmMap map) {
    say(MARGIN, "font-weight=\"600\"", "Segment");
    for (int quarter = 0; quarter <= 4; quarter++) {
      int x = STRIP_LEFT + STRIP_WIDTH * quarter / 4;
      say(
          x,
          "text-anchor=\"middle\" fill=\"#52606d\" font-size=\"12\"",
          quarter == 0 ? "0" : quarter * 512 + " KiB");
      line(x, y + 5, x, y + 11);
    }
    say(MEMORY_LEFT, "font-weight=\"600\"", "Memory");
    y += 16;
    for (FpmMap.Strip strip : map.strips()) {
      say(MARGIN, "dy=\"17\"", strip.numbers());
      say(MEMORY_LEFT, "dy=\"17\" fill=\"#52606d\"", FpmText.memory(strip));
      rectangle(STRIP_LEFT, STRIP_WIDTH, "fill=\"#eef0f2\" stroke=\"#cbd2d9\"", "");
      strip.blocks().forEach(block -> block(strip, block));
      y += STRIP_STEP;
    }
    y += 14;
    say(
        MARGIN,
        "fill=\"#52606d\" font-size=\"12\"",
        "Equal neighbours are drawn once. Full: has memory. Hatched: no memory. Grey: nothing lies"
            + " there. Point at a part for its range.");
    y += 34;
  }

  private void block(FpmMap.Strip strip, FpmMap.Block block) {
    double x = STRIP_LEFT + (double) block.from() * STRIP_WIDTH / FpmMap.SEGMENT;
    double width = (double) (block.to() - block.from()) * STRIP_WIDTH / FpmMap.SEGMENT;
    rectangle(
        x,
        Math.max(width, 0.75),
        "fill=\"%s\" stroke=\"%s\" stroke-width=\"0.75\""
            .formatted(fill(block.kind(), block.backed()), dark(block.kind())),
        "%s, bytes 0x%x to 0x%x of segment %s, %s"
            .formatted(
                block.kind(),
                block.from(),
                block.to() - 1,
                strip.numbers(),
                block.backed() ? "backed" : "not backed"));
    String name = block.kind().name();
    String label =
        width >= name.length() * CHARACTER + 6
            ? name
            : width >= LETTER_WIDTH ? String.valueOf(FpmMap.letter(block.kind())) : "";
    if (!label.isEmpty()) {
      centred(x + width / 2, 17, block.backed(), label);
    }
  }

  private void table(FpmMap map) {
    String[] heads = {
      "", "Kind", "What", "Objects", "Exist", "Bytes", "From", "Segments", "Memory"
    };
    for (int column = 0; column < heads.length; column++) {
      cell(column, "font-weight=\"600\"", heads[column]);
    }
    line(MARGIN, y + 8, WIDTH - MARGIN, y + 8);
    y += 16;
    for (ObjectUse use : map.objects()) {
      if (use.count() > 0) {
        row(map, use);
      }
    }
  }

  private void row(FpmMap map, ObjectUse use) {
    HmcObject kind = use.kind();
    text.append(
        "<rect x=\"%d\" y=\"%d\" width=\"20\" height=\"18\" fill=\"%s\" stroke=\"%s\"/>%n"
            .formatted(COLUMNS[0], y, fill(kind, true), dark(kind)));
    centred(COLUMNS[0] + 10, 13.5, true, String.valueOf(FpmMap.letter(kind)));
    String[] cells = {
      kind.name(),
      kind.meaning(),
      String.format(Locale.ROOT, "%,d", use.count()),
      String.format(Locale.ROOT, "%,d", use.existing()),
      String.valueOf((use.end() - use.base()) / use.count()),
      "0x%x".formatted(use.base()),
      FpmText.segments(use),
      FpmText.backed(map, use)
    };
    for (int cell = 0; cell < cells.length; cell++) {
      cell(cell + 1, "dy=\"14\"", cells[cell]);
    }
    y += ROW_STEP;
  }

  private void cell(int column, String attributes, String what) {
    String anchor = NUMBERS.contains(column) ? " text-anchor=\"end\"" : "";
    say(COLUMNS[column], attributes + anchor, what);
  }

  private void centred(double x, double below, boolean halo, String what) {
    text.append(
        ("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"12\" font-weight=\"600\""
                + " pointer-events=\"none\"%s>%s</text>%n")
            .formatted(
                x,
                y + below,
                halo ? "" : " paint-order=\"stroke\" stroke=\"#fcfcfa\" stroke-width=\"4\"",
                what));
  }

  private void say(int x, String attributes, String what) {
    text.append("<text x=\"%d\" y=\"%d\" %s>%s</text>%n".formatted(x, y, attributes, escape(what)));
  }

  private void line(int x1, int y1, int x2, int y2) {
    text.append(
        "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#9aa5b1\"/>%n"
            .formatted(x1, y1, x2, y2));
  }

  private void rectangle(double x, double width, String attributes, String tip) {
    text.append(
        String.format(
            Locale.ROOT,
            "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" %s>%s</rect>%n",
            x,
            y,
            width,
            STRIP_HEIGHT,
            attributes,
            tip.isEmpty() ? "" : "<title>" + escape(tip) + "</title>"));
  }

  private static String patterns() {
    StringBuilder patterns = new StringBuilder("<defs>\n");
    for (HmcObject kind : HmcObject.values()) {
      patterns.append(
          ("<pattern id=\"%s\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\""
                  + " patternTransform=\"rotate(45)\"><rect width=\"7\" height=\"7\""
                  + " fill=\"#fcfcfa\"/><rect width=\"2.5\" height=\"7\" fill=\"%s\"/></pattern>%n")
              .formatted(kind, light(kind)));
    }
    return patterns.append("</defs>\n").toString();
  }

  private static String fill(HmcObject kind, boolean backed) {
    return backed ? light(kind) : "url(#" + kind + ")";
  }

  private static String light(HmcObject kind) {
    return hsl(kind, 62, 76);
  }

  private static String dark(HmcObject kind) {
    return hsl(kind, 45, 42);
  }

  /** Neighbours in the order of ids, which is the order in the space, are far apart in hue. */
  private static String hsl(HmcObject kind, int saturation, int lightness) {
    int hue = (210 + kind.id() * 137) % 360;
    return "hsl(%d, %d%%, %d%%)".formatted(hue, saturation, lightness + (kind.id() % 3 - 1) * 5);
  }

  private static String escape(String raw) {
    return raw.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
