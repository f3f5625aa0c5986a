package irdma4j.simulator;

import irdma4j.simulator.device.Device;
import irdma4j.uapi.ConfigSpace;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * The configuration space of an E810 function: its ids, BAR 0 (64 bits wide), and the capabilities
 * power management, PCI Express and MSI-X.
 *
 * <p>Source of ids and class: Linux drivers/net/ethernet/intel/ice/ice_devids.h (E810-C for QSFP).
 */
final class SimulatedConfigSpace implements ConfigSpace {
  private static final int BYTES = 4096;
  private static final int COMMAND = 0x04;
  private static final int BAR0 = 0x10;
  private static final int CAPABILITIES = 0x34;
  private static final int POWER = 0x40;
  private static final int MSIX = 0x70;
  private static final int EXPRESS = 0xa0;
  private static final int MEMORY_64_PREFETCHABLE = 0xc;
  private static final long BAR0_ADDRESS = 0x38_0000_0000L;

  private static final int BUS_MASTER = 1 << 2;
  private static final int COMMAND_WRITABLE = 0x0547;
  private static final int MSIX_CONTROL_WRITABLE = 0xc000;

  private final byte[] bytes = new byte[BYTES];
  private final BooleanSupplier removed;

  /**
   * The space of a function.
   *
   * @param removed whether the card is gone, so that it reads as ones and takes no write
   */
  SimulatedConfigSpace(int vectors, BooleanSupplier removed) {
    this.removed = removed;
    put16(0x00, 0x8086);
    put16(0x02, 0x1592);
    put16(COMMAND, 0x0002);
    put16(0x06, 0x0010);
    bytes[0x08] = 0x02;
    bytes[0x0b] = 0x02;
    put32(BAR0, (int) BAR0_ADDRESS | MEMORY_64_PREFETCHABLE);
    put32(BAR0 + 4, (int) (BAR0_ADDRESS >>> 32));
    put16(0x2c, 0x8086);
    put16(0x2e, 0x0002);
    bytes[CAPABILITIES] = POWER;
    put16(POWER, 0x01 | MSIX << 8);
    put16(POWER + 2, 0x0003);
    put16(MSIX, 0x11 | EXPRESS << 8);
    put16(MSIX + 2, vectors - 1);
    put32(MSIX + 4, 3);
    put32(MSIX + 8, 0x8000 | 3);
    put16(EXPRESS, 0x10);
    put16(EXPRESS + 2, 0x0002);
    // Device capabilities: function-level reset.
    put32(EXPRESS + 4, 1 << 28);
  }

  /** Whether the command register lets the function start accesses. */
  synchronized boolean busMaster() {
    return (get(COMMAND, 2) & BUS_MASTER) != 0;
  }

  synchronized void setBusMaster(boolean enabled) {
    int command = (int) get(COMMAND, 2);
    put16(COMMAND, enabled ? command | BUS_MASTER : command & ~BUS_MASTER);
  }

  @Override
  public synchronized int read8(int offset) {
    return (int) get(offset, 1) & 0xff;
  }

  @Override
  public synchronized int read16(int offset) {
    return (int) get(offset, 2) & 0xffff;
  }

  @Override
  public synchronized int read32(int offset) {
    return (int) get(offset, 4);
  }

  @Override
  public synchronized void write16(int offset, int value) {
    check(offset, 2);
    if (removed.getAsBoolean()) {
      return;
    }
    if (offset == COMMAND) {
      put16(COMMAND, value & COMMAND_WRITABLE);
    } else if (offset == MSIX + 2) {
      int kept = (int) get(offset, 2) & ~MSIX_CONTROL_WRITABLE;
      put16(offset, kept | (value & MSIX_CONTROL_WRITABLE));
    }
  }

  @Override
  public synchronized void write32(int offset, int value) {
    check(offset, 4);
    if (removed.getAsBoolean()) {
      return;
    }
    if (offset == BAR0) {
      put32(BAR0, (value & (int) -Device.BAR_BYTES) | MEMORY_64_PREFETCHABLE);
    } else if (offset == BAR0 + 4) {
      put32(BAR0 + 4, value);
    } else {
      write16(offset, value);
      write16(offset + 2, value >>> 16);
    }
  }

  private long get(int offset, int width) {
    check(offset, width);
    if (removed.getAsBoolean()) {
      return -1;
    }
    long value = 0;
    for (int i = width - 1; i >= 0; i--) {
      value = value << 8 | (bytes[offset + i] & 0xff);
    }
    return value;
  }

  private static void check(int offset, int width) {
    Objects.checkFromIndexSize(offset, width, BYTES);
    if ((offset & (width - 1)) != 0) {
      throw new IllegalArgumentException("offset " + offset + " for " + width + " bytes");
    }
  }

  private void put16(int offset, int value) {
    bytes[offset] = (byte) value;
    bytes[offset + 1] = (byte) (value >>> 8);
  }

  private void put32(int offset, int value) {
    put16(offset, value);
    put16(offset + 2, value >>> 16);
  }
}
