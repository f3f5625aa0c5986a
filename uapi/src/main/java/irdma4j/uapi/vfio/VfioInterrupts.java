package irdma4j.uapi.vfio;

import irdma4j.uapi.Interrupts;
import irdma4j.uapi.PciException;
import irdma4j.uapi.linux.Linux;
import irdma4j.uapi.linux.vfio_irq_info;
import irdma4j.uapi.linux.vfio_irq_set;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Interrupts of a VFIO device, each an eventfd that the kernel signals: MSI-X if the device has it,
 * otherwise MSI, otherwise INTx, which is unmasked again when its interrupt is taken.
 *
 * <p>Not thread-safe, but {@link #await} may run on one thread for each vector.
 */
final class VfioInterrupts implements Interrupts {
  private record Kind(int index, int count) {}

  private final SystemCalls calls;
  private final int device;
  private final Kind kind;
  private int[] eventfds = new int[0];
  private long[] fired = new long[0];

  VfioInterrupts(SystemCalls calls, int device) {
    this(
        calls,
        device,
        Linux.VFIO_PCI_MSIX_IRQ_INDEX(),
        Linux.VFIO_PCI_MSI_IRQ_INDEX(),
        Linux.VFIO_PCI_INTX_IRQ_INDEX());
  }

  /** The first of some kinds that the device has. */
  VfioInterrupts(SystemCalls calls, int device, int... kinds) {
    this.calls = calls;
    this.device = device;
    this.kind = first(kinds);
  }

  private Kind first(int... kinds) {
    for (int index : kinds) {
      int count = count(index);
      if (count > 0) {
        return new Kind(index, count);
      }
    }
    return new Kind(Linux.VFIO_PCI_MSIX_IRQ_INDEX(), 0);
  }

  private int count(int index) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = vfio_irq_info.allocate(arena);
      vfio_irq_info.argsz(info, (int) info.byteSize());
      vfio_irq_info.index(info, index);
      calls.ioctl(
          "VFIO_DEVICE_GET_IRQ_INFO(%d)".formatted(index),
          device,
          Linux.VFIO_DEVICE_GET_IRQ_INFO(),
          info);
      boolean byEventfd = (vfio_irq_info.flags(info) & Linux.VFIO_IRQ_INFO_EVENTFD()) != 0;
      return byEventfd ? vfio_irq_info.count(info) : 0;
    }
  }

  @Override
  public int count() {
    return kind.count();
  }

  @Override
  public void enable(int vectors) {
    if (vectors < 1 || vectors > kind.count()) {
      throw new IllegalArgumentException(
          vectors + " interrupt vectors: the device has " + kind.count());
    }
    if (eventfds.length != 0) {
      throw new IllegalStateException("interrupts are enabled");
    }
    int[] made = new int[vectors];
    int count = 0;
    try {
      while (count < vectors) {
        made[count] = calls.eventfd();
        count++;
      }
      trigger(made);
    } catch (RuntimeException e) {
      for (int i = 0; i < count; i++) {
        calls.close(made[i]);
      }
      throw e;
    }
    eventfds = made;
    fired = new long[vectors];
  }

  private void trigger(int[] descriptors) {
    set(
        "enable",
        Linux.VFIO_IRQ_SET_DATA_EVENTFD() | Linux.VFIO_IRQ_SET_ACTION_TRIGGER(),
        descriptors.length,
        descriptors);
  }

  private void set(String what, int flags, int count, int... data) {
    long header = vfio_irq_set.layout().byteSize();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment set =
          arena.allocate(header + (long) data.length * Integer.BYTES, Integer.BYTES);
      vfio_irq_set.argsz(set, (int) set.byteSize());
      vfio_irq_set.flags(set, flags);
      vfio_irq_set.index(set, kind.index());
      vfio_irq_set.start(set, 0);
      vfio_irq_set.count(set, count);
      for (int i = 0; i < data.length; i++) {
        set.set(Linux.C_INT, header + (long) i * Integer.BYTES, data[i]);
      }
      calls.ioctl(
          "VFIO_DEVICE_SET_IRQS(%s, %d vectors)".formatted(what, count),
          device,
          Linux.VFIO_DEVICE_SET_IRQS(),
          set);
    }
  }

  @Override
  public void disable() {
    if (eventfds.length == 0) {
      return;
    }
    int[] gone = eventfds;
    eventfds = new int[0];
    fired = new long[0];
    try {
      set("disable", Linux.VFIO_IRQ_SET_DATA_NONE() | Linux.VFIO_IRQ_SET_ACTION_TRIGGER(), 0);
    } finally {
      Arrays.stream(gone).forEach(calls::close);
    }
  }

  private int eventfd(int vector) {
    if (vector < 0 || vector >= eventfds.length) {
      throw new IllegalArgumentException(
          "interrupt vector " + vector + ": " + eventfds.length + " are enabled");
    }
    return eventfds[vector];
  }

  @Override
  public boolean poll(int vector) {
    long count = calls.readEvent(eventfd(vector));
    if (count == 0) {
      return false;
    }
    fired[vector] += count;
    if (kind.index() == Linux.VFIO_PCI_INTX_IRQ_INDEX()) {
      // The kernel has masked it, so that a line that stays up does not stop the machine.
      set("unmask", Linux.VFIO_IRQ_SET_DATA_NONE() | Linux.VFIO_IRQ_SET_ACTION_UNMASK(), 1);
    }
    return true;
  }

  @Override
  public boolean await(int vector, long timeoutNanos) {
    if (poll(vector)) {
      return true;
    }
    if (timeoutNanos <= 0 || !calls.awaitEvent(eventfd(vector), timeoutNanos)) {
      return false;
    }
    return poll(vector);
  }

  @Override
  public long fired(int vector) {
    eventfd(vector);
    return fired[vector];
  }

  /** Signals a vector as the device would: a way to try what waits for it. */
  void trigger(int vector) {
    eventfd(vector);
    if (vector != 0) {
      throw new PciException("only vector 0 can be tried");
    }
    set("try", Linux.VFIO_IRQ_SET_DATA_NONE() | Linux.VFIO_IRQ_SET_ACTION_TRIGGER(), 1);
  }
}
