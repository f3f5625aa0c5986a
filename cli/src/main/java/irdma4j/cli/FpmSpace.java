package irdma4j.cli;

import irdma4j.hmc.HmcView;
import java.util.List;
import java.util.Locale;

/**
 * The FPM space of one function, as it is shown.
 *
 * @param heading whose it is
 * @param summary how much is in use, and by what rule
 * @param notes what was given up
 * @param hmc what is asked about addresses
 * @param map what is drawn
 */
record FpmSpace(String heading, String summary, List<String> notes, HmcView hmc, FpmMap map) {
  /**
   * Looks at a function's space.
   *
   * @param name whose it is
   * @param most what the card offers, or empty
   * @param rule by which its objects were numbered
   */
  static FpmSpace of(String name, String most, HmcView hmc, String rule, List<String> notes) {
    FpmMap map = FpmMap.of(hmc);
    String summary =
        String.format(
            Locale.ROOT,
            "%d%s segments in use, %d backed (%s); %s",
            map.segments(),
            most,
            map.backedSegments(),
            ByteSize.format(map.backedBytes()),
            rule);
    return new FpmSpace("FPM space of " + name, summary, notes, hmc, map);
  }
}
