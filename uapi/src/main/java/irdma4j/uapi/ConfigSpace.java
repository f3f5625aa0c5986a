package irdma4j.uapi;

/** A function's configuration space. Offsets are in bytes, 0 to 4095, aligned to the access. */
public interface ConfigSpace {
  /** Reads 8 bits, zero-extended. */
  int read8(int offset);

  /** Reads 16 bits, zero-extended. */
  int read16(int offset);

  /** Reads 32 bits. */
  int read32(int offset);

  /** Writes 16 bits. */
  void write16(int offset, int value);

  /** Writes 32 bits. */
  void write32(int offset, int value);

  /** The vendor id, 0x8086 for Intel. */
  default int vendorId() {
    return read16(0x00);
  }

  /** The device id. */
  default int deviceId() {
    return read16(0x02);
  }

  /** The revision of the silicon. */
  default int revision() {
    return read8(0x08);
  }
}
