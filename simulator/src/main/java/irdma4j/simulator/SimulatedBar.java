package irdma4j.simulator;

import irdma4j.hwregs.Registers;
import irdma4j.simulator.device.Device;
import irdma4j.simulator.device.Mailbox;
import irdma4j.simulator.device.Presence;
import irdma4j.simulator.device.RegisterFile;
import irdma4j.simulator.watch.Watch;
import irdma4j.uapi.Bar;

/**
 * BAR 0: writes are posted into the device's mailbox, reads wait until all earlier writes of the
 * function were handled.
 */
final class SimulatedBar implements Bar {
  private final Engine engine;
  private final SimulatedFunction function;
  private final Device device;
  private final RegisterFile registers;
  private final Mailbox mailbox;
  private final Watch watch;

  SimulatedBar(Engine engine, SimulatedFunction function, Device device) {
    this.engine = engine;
    this.function = function;
    this.device = device;
    this.registers = device.registers();
    this.mailbox = device.mailbox();
    this.watch = device.watch();
  }

  @Override
  public int index() {
    return 0;
  }

  @Override
  public long size() {
    return Device.BAR_BYTES;
  }

  @Override
  public int read32(long offset) {
    check(offset, 4);
    engine.drain(mailbox);
    int value = value((int) offset);
    watch.registerRead((int) offset, value);
    return value;
  }

  @Override
  public void write32(long offset, int value) {
    check(offset, 4);
    engine.post(mailbox, (int) offset, value);
  }

  @Override
  public long read64(long offset) {
    check(offset, 8);
    engine.drain(mailbox);
    int low = value((int) offset);
    int high = value((int) offset + 4);
    watch.registerRead((int) offset, low);
    watch.registerRead((int) offset + 4, high);
    return Integer.toUnsignedLong(low) | (long) high << 32;
  }

  @Override
  public void write64(long offset, long value) {
    check(offset, 8);
    engine.post(mailbox, (int) offset, (int) value);
    engine.post(mailbox, (int) offset + 4, (int) (value >>> 32));
  }

  private int value(int offset) {
    if (device.presence() != Presence.PRESENT) {
      return -1;
    }
    if (Registers.at(offset) == null) {
      registers.touchedUnknown(offset);
      return 0;
    }
    return registers.get(offset);
  }

  private void check(long offset, int width) {
    if (offset < 0 || offset > Device.BAR_BYTES - width || (offset & (width - 1)) != 0) {
      throw new IndexOutOfBoundsException(
          "BAR 0 has no " + 8 * width + " bits at 0x" + Long.toHexString(offset));
    }
    function.checkOpen();
  }
}
