package irdma4j.cli;

import java.util.Locale;

/** PCI addresses as people write them. */
final class PciAddress {
  private static final String SHORT = "[0-9a-f]{2}:[01][0-9a-f]\\.[0-7]";

  private PciAddress() {}

  /** The kernel's spelling: lower case, with a domain; "pci:" before it is taken off. */
  static String normal(String text) {
    String address = text.toLowerCase(Locale.ROOT).strip();
    if (address.startsWith("pci:")) {
      address = address.substring("pci:".length());
    }
    return address.matches(SHORT) ? "0000:" + address : address;
  }

  /** Whether that is an address in the kernel's spelling. */
  static boolean isNormal(String text) {
    return text.matches("[0-9a-f]{4,8}:" + SHORT);
  }
}
