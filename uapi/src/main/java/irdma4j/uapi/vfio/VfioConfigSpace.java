package irdma4j.uapi.vfio;

import irdma4j.uapi.ConfigSpace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Configuration space of a VFIO device, by reads and writes of its file. */
final class VfioConfigSpace implements ConfigSpace {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final DeviceFile device;
  private final Region region;

  VfioConfigSpace(DeviceFile device, Region region) {
    this.device = device;
    this.region = region;
  }

  private long position(int offset, int bytes) {
    if (offset < 0 || offset > region.size() - bytes) {
      throw new IndexOutOfBoundsException(
          "offset 0x%x of the %d bytes of configuration space".formatted(offset, region.size()));
    }
    if (offset % bytes != 0) {
      throw new IllegalArgumentException(
          "offset 0x%x is not aligned to %d bytes".formatted(offset, bytes));
    }
    return region.offset() + offset;
  }

  private MemorySegment read(Arena arena, int offset, int bytes) {
    long at = position(offset, bytes);
    MemorySegment buffer = arena.allocate(bytes, bytes);
    device.pread(buffer, at);
    return buffer;
  }

  @Override
  public int read8(int offset) {
    try (Arena arena = Arena.ofConfined()) {
      return read(arena, offset, Byte.BYTES).get(ValueLayout.JAVA_BYTE, 0) & 0xff;
    }
  }

  @Override
  public int read16(int offset) {
    try (Arena arena = Arena.ofConfined()) {
      return read(arena, offset, Short.BYTES).get(SHORT, 0) & 0xffff;
    }
  }

  @Override
  public int read32(int offset) {
    try (Arena arena = Arena.ofConfined()) {
      return read(arena, offset, Integer.BYTES).get(INT, 0);
    }
  }

  @Override
  public void write16(int offset, int value) {
    try (Arena arena = Arena.ofConfined()) {
      long at = position(offset, Short.BYTES);
      MemorySegment buffer = arena.allocate(SHORT);
      buffer.set(SHORT, 0, (short) value);
      device.pwrite(buffer, at);
    }
  }

  @Override
  public void write32(int offset, int value) {
    try (Arena arena = Arena.ofConfined()) {
      long at = position(offset, Integer.BYTES);
      MemorySegment buffer = arena.allocate(INT);
      buffer.set(INT, 0, value);
      device.pwrite(buffer, at);
    }
  }
}
