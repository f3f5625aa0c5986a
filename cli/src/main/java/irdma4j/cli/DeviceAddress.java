package irdma4j.cli;

/** Which device a command opens. */
sealed interface DeviceAddress {
  /**
   * A function of the simulator, in this process: {@code sim:0}.
   *
   * @param function its number, from 0
   */
  record Simulated(int function) implements DeviceAddress {
    @Override
    public String toString() {
      return "sim:" + function;
    }
  }

  /**
   * A card, through the kernel's VFIO: {@code pci:0000:3b:00.0}.
   *
   * @param bdf its PCI address as the kernel spells it
   */
  record Card(String bdf) implements DeviceAddress {
    @Override
    public String toString() {
      return "pci:" + bdf;
    }
  }

  /** Reads an address; throws {@link UserError} if it is none. */
  static DeviceAddress parse(String text) {
    String address = text.strip();
    if (address.matches("sim:[0-9]{0,3}")) {
      String number = address.substring("sim:".length());
      return new Simulated(number.isEmpty() ? 0 : Integer.parseInt(number));
    }
    String bdf = PciAddress.normal(address);
    if (address.startsWith("pci:") && PciAddress.isNormal(bdf)) {
      return new Card(bdf);
    }
    throw new UserError(
        "'%s' is no device; they look like sim:0 or pci:0000:3b:00.0".formatted(text));
  }
}
