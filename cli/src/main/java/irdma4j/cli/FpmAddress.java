package irdma4j.cli;

import irdma4j.hmc.FpmLocation;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HmcView;
import java.util.List;

/**
 * An address that is asked about.
 *
 * @param space 0 for the device's own space, else 1 + the number of the virtual function
 * @param address in that space
 */
record FpmAddress(int space, long address) {
  private static final String VIRTUAL = "vf";

  /**
   * Reads {@code 0x201000}, or {@code vf1:0x201000}.
   *
   * @param virtualFunctions how many there are
   */
  static FpmAddress parse(String text, int virtualFunctions) {
    int colon = text.indexOf(':');
    if (colon < 0) {
      return new FpmAddress(0, number(text, text));
    }
    if (!text.startsWith(VIRTUAL)) {
      throw bad(text);
    }
    long function = number(text, text.substring(VIRTUAL.length(), colon));
    if (function >= virtualFunctions) {
      throw new UserError("--address %s: --vfs is %d".formatted(text, virtualFunctions));
    }
    return new FpmAddress((int) function + 1, number(text, text.substring(colon + 1)));
  }

  private static long number(String text, String part) {
    try {
      long number = Long.decode(part);
      if (number >= 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw bad(text);
  }

  private static UserError bad(String text) {
    return new UserError(
        "--address '" + text + "' is no address; write it as 0x201000 or vf1:0x201000");
  }

  /** What lies there, in words. */
  String answer(List<FpmSpace> spaces) {
    HmcView hmc = spaces.get(space).hmc();
    FpmLocation at = hmc.locate(address);
    if (at == null) {
      throw new UserError(
          "--address %s: no object lies there; the space has %d segments, to 0x%x"
              .formatted(
                  this, hmc.layout().segments(), hmc.layout().segments() * FpmMap.SEGMENT - 1));
    }
    HmcLayout.Area area = hmc.layout().of(at.kind());
    return "%s: %s %d, byte %d of %d; segment %d, page %d; %s"
        .formatted(
            this,
            at.kind(),
            at.index(),
            (address - area.base()) % area.size(),
            area.size(),
            at.segment(),
            at.page(),
            at.iova() == 0 ? "no memory" : "IOVA 0x%x".formatted(at.iova()));
  }

  @Override
  public String toString() {
    String number = "0x%x".formatted(address);
    return space == 0 ? number : VIRTUAL + (space - 1) + ":" + number;
  }
}
