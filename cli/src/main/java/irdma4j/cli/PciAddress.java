package irdma4j.cli;

import java.util.Locale;

/** PCI addresses as people write them. */
final class PciAddress {
  private PciAddress() {}

  /** The kernel's spelling: lower case, with a domain; "pci:" before it is taken off. */
  static String normal(String text) {
    String address = text.toLowerCase(Locale.ROOT).strip();
    if (address.startsWith("pci:")) {
      address = address.substring("pci:".length());
    }
    return address.matches("[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]") ? "0000:" + address : address;
  }
}
