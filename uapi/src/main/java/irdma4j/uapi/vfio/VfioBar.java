package irdma4j.uapi.vfio;

import irdma4j.uapi.Bar;
import irdma4j.uapi.linux.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A BAR of a VFIO device, mapped as far as the kernel lets it be; the holes, such as the table of
 * MSI-X vectors, are reached by system calls.
 *
 * <p>An access to a mapped register is one load or store of its width, which the processor neither
 * splits nor merges: opaque access in the Java memory model. Before a store stands a release fence,
 * after a load an acquire fence. On x86 these cost nothing, and the mapping's type (uncached) makes
 * the processor keep the order of accesses to the device. On Arm the fences order accesses among
 * processors; memory that the device reads by DMA is ordered against a store to its register by the
 * mapping's type (device memory) and the barrier that {@link #write32} adds: a full fence.
 */
final class VfioBar implements Bar {
  private static final VarHandle INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final VarHandle LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final boolean STRONG_STORES =
      System.getProperty("os.arch").equals("amd64") || System.getProperty("os.arch").equals("x86");

  private final DeviceFile device;
  private final Region region;
  private final Arena arena = Arena.ofShared();

  /** The whole region, if one mapping has all of it. */
  private final @Nullable MemorySegment whole;

  private final List<Part> parts = new ArrayList<>();

  private record Part(long offset, MemorySegment memory) {}

  /**
   * Maps a region.
   *
   * @throws irdma4j.uapi.SystemCallException if the kernel refuses; nothing stays mapped then
   */
  VfioBar(SystemCalls calls, DeviceFile device, Region region) {
    this.device = device;
    this.region = region;
    try {
      for (Region.Area area : region.areas()) {
        MemorySegment mapping =
            device.mmap(
                area.size(),
                Linux.PROT_READ() | Linux.PROT_WRITE(),
                Linux.MAP_SHARED(),
                region.offset() + area.offset());
        // After close() an access is an exception and not a fault of the process.
        parts.add(new Part(area.offset(), mapping.reinterpret(arena, calls::munmap)));
      }
    } catch (RuntimeException e) {
      arena.close();
      throw e;
    }
    whole =
        parts.size() == 1 && parts.getFirst().memory().byteSize() == region.size()
            ? parts.getFirst().memory()
            : null;
  }

  @Override
  public int index() {
    return region.index();
  }

  @Override
  public long size() {
    return region.size();
  }

  /** Whether an access of that many bytes goes to a mapping, and not to a system call. */
  boolean isMapped(long offset, int bytes) {
    return whole != null || part(offset, bytes) != null;
  }

  private @Nullable Part part(long offset, int bytes) {
    for (Part part : parts) {
      if (offset >= part.offset() && offset - part.offset() <= part.memory().byteSize() - bytes) {
        return part;
      }
    }
    return null;
  }

  private void check(long offset, int bytes) {
    if (offset < 0 || offset > region.size() - bytes) {
      throw new IndexOutOfBoundsException(
          "offset 0x%x of BAR %d, which has %d bytes"
              .formatted(offset, region.index(), region.size()));
    }
    if ((offset & (bytes - 1)) != 0) {
      throw new IllegalArgumentException(
          "offset 0x%x is not aligned to %d bytes".formatted(offset, bytes));
    }
  }

  @Override
  public int read32(long offset) {
    MemorySegment memory = whole;
    long at = offset;
    if (memory == null) {
      check(offset, Integer.BYTES);
      Part part = part(offset, Integer.BYTES);
      if (part == null) {
        return (int) readBySystemCall(offset, Integer.BYTES);
      }
      memory = part.memory();
      at = offset - part.offset();
    }
    int value = (int) INT.getOpaque(memory, at);
    VarHandle.acquireFence();
    return value;
  }

  @Override
  public void write32(long offset, int value) {
    MemorySegment memory = whole;
    long at = offset;
    if (memory == null) {
      check(offset, Integer.BYTES);
      Part part = part(offset, Integer.BYTES);
      if (part == null) {
        writeBySystemCall(offset, Integer.BYTES, value);
        return;
      }
      memory = part.memory();
      at = offset - part.offset();
    }
    fenceBeforeStore();
    INT.setOpaque(memory, at, value);
  }

  @Override
  public long read64(long offset) {
    MemorySegment memory = whole;
    long at = offset;
    if (memory == null) {
      check(offset, Long.BYTES);
      Part part = part(offset, Long.BYTES);
      if (part == null) {
        return readBySystemCall(offset, Long.BYTES);
      }
      memory = part.memory();
      at = offset - part.offset();
    }
    long value = (long) LONG.getOpaque(memory, at);
    VarHandle.acquireFence();
    return value;
  }

  @Override
  public void write64(long offset, long value) {
    MemorySegment memory = whole;
    long at = offset;
    if (memory == null) {
      check(offset, Long.BYTES);
      Part part = part(offset, Long.BYTES);
      if (part == null) {
        writeBySystemCall(offset, Long.BYTES, value);
        return;
      }
      memory = part.memory();
      at = offset - part.offset();
    }
    fenceBeforeStore();
    LONG.setOpaque(memory, at, value);
  }

  private static void fenceBeforeStore() {
    if (STRONG_STORES) {
      VarHandle.releaseFence();
    } else {
      VarHandle.fullFence();
    }
  }

  private long readBySystemCall(long offset, int bytes) {
    try (Arena confined = Arena.ofConfined()) {
      MemorySegment buffer = confined.allocate(bytes, bytes);
      device.pread(buffer, region.offset() + offset);
      return bytes == Integer.BYTES
          ? Integer.toUnsignedLong((int) INT.get(buffer, 0L))
          : (long) LONG.get(buffer, 0L);
    }
  }

  private void writeBySystemCall(long offset, int bytes, long value) {
    try (Arena confined = Arena.ofConfined()) {
      MemorySegment buffer = confined.allocate(bytes, bytes);
      if (bytes == Integer.BYTES) {
        INT.set(buffer, 0L, (int) value);
      } else {
        LONG.set(buffer, 0L, value);
      }
      device.pwrite(buffer, region.offset() + offset);
    }
  }

  /** Takes the mappings away. */
  void close() {
    arena.close();
  }
}
