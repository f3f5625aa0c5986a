package irdma4j.uapi.vfio;

import irdma4j.uapi.Interrupts;
import irdma4j.uapi.PciException;
import irdma4j.uapi.linux.Linux;
import irdma4j.uapi.linux.vfio_irq_info;
import irdma4j.uapi.linux.vfio_irq_set;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Interrupts of a VFIO device, each an eventfd that the kernel signals: MSI-X if the device has it,
 * otherwise MSI, otherwise INTx, which is unmasked again when its interrupt is taken.
 *
 * <p>For one thread at a time, but {@link #await} and {@link #poll} may run on others, one for each
 * vector. A thread that waits when they are disabled wakes and is told that nothing fired.
 */
final class VfioInterrupts implements Interrupts {
  private record Kind(int index, int count) {}

  private final SystemCalls calls;
  private final DeviceFile device;
  private final Kind kind;
  private volatile Enabled enabled;

  /** The kernel did not do what {@link #disable} asked of it. */
  private boolean stuck;

  /** The vectors that are enabled, with what each has counted. */
  private record Enabled(EventFiles files, AtomicLongArray fired) {}

  VfioInterrupts(SystemCalls calls, DeviceFile device) {
    this(
        calls,
        device,
        Linux.VFIO_PCI_MSIX_IRQ_INDEX(),
        Linux.VFIO_PCI_MSI_IRQ_INDEX(),
        Linux.VFIO_PCI_INTX_IRQ_INDEX());
  }

  /** The first of some kinds that the device has. */
  VfioInterrupts(SystemCalls calls, DeviceFile device, int... kinds) {
    this.calls = calls;
    this.device = device;
    this.kind = first(kinds);
    this.enabled = none();
  }

  private Enabled none() {
    return new Enabled(new EventFiles(calls, 0), new AtomicLongArray(0));
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
      device.ioctl(
          "VFIO_DEVICE_GET_IRQ_INFO(%d)".formatted(index), Linux.VFIO_DEVICE_GET_IRQ_INFO(), info);
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
    if (enabled.files().count() != 0) {
      throw new IllegalStateException("interrupts are enabled");
    }
    if (stuck) {
      turnOff();
    }
    EventFiles files = new EventFiles(calls, vectors);
    try {
      trigger(files.descriptors());
    } catch (RuntimeException e) {
      files.close();
      throw e;
    }
    enabled = new Enabled(files, new AtomicLongArray(vectors));
  }

  private void trigger(int... descriptors) {
    int got =
        set(
            "enable",
            Linux.VFIO_IRQ_SET_DATA_EVENTFD() | Linux.VFIO_IRQ_SET_ACTION_TRIGGER(),
            descriptors.length,
            descriptors);
    // The kernel then enables none. Source: vfio_msi_enable in Linux vfio_pci_intrs.c.
    if (got > 0) {
      throw new PciException(
          "the machine has only %d of %d interrupt vectors left for the device: ask for fewer"
              .formatted(got, descriptors.length));
    }
  }

  private int set(String what, int flags, int count, int... data) {
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
      return device.ioctl(
          "VFIO_DEVICE_SET_IRQS(%s, %d vectors)".formatted(what, count),
          Linux.VFIO_DEVICE_SET_IRQS(),
          set);
    }
  }

  @Override
  public void disable() {
    Enabled gone = enabled;
    if (gone.files().count() == 0 && !stuck) {
      return;
    }
    enabled = none();
    // First, because a thread that takes an interrupt may tell the kernel that it has.
    gone.files().stop();
    try {
      turnOff();
    } finally {
      gone.files().close();
    }
  }

  private void turnOff() {
    stuck = true;
    set("disable", Linux.VFIO_IRQ_SET_DATA_NONE() | Linux.VFIO_IRQ_SET_ACTION_TRIGGER(), 0);
    stuck = false;
  }

  private Enabled enabled(int vector) {
    Enabled now = enabled;
    int count = now.files().count();
    if (vector < 0 || vector >= count) {
      throw new IllegalArgumentException(
          "interrupt vector " + vector + ": " + count + " are enabled");
    }
    return now;
  }

  @Override
  public boolean poll(int vector) {
    return poll(enabled(vector), vector);
  }

  private boolean poll(Enabled of, int vector) {
    return of.files().use(vector, false, file -> take(of, vector, file));
  }

  private boolean take(Enabled of, int vector, int file) {
    long count = calls.readEvent(file);
    // What stopping signals to wake a thread is no interrupt.
    if (count == 0 || of.files().isStopped()) {
      return false;
    }
    of.fired().addAndGet(vector, count);
    if (kind.index() == Linux.VFIO_PCI_INTX_IRQ_INDEX()) {
      // The kernel has masked it, so that a line that stays up does not stop the machine.
      set("unmask", Linux.VFIO_IRQ_SET_DATA_NONE() | Linux.VFIO_IRQ_SET_ACTION_UNMASK(), 1);
    }
    return true;
  }

  @Override
  public boolean await(int vector, long timeoutNanos) {
    Enabled now = enabled(vector);
    if (poll(now, vector)) {
      return true;
    }
    return timeoutNanos > 0
        && now.files().use(vector, false, file -> calls.awaitEvent(file, timeoutNanos))
        && poll(now, vector);
  }

  @Override
  public long fired(int vector) {
    return enabled(vector).fired().get(vector);
  }

  /** Signals a vector as the device would: a way to try what waits for it. */
  void trigger(int vector) {
    enabled(vector);
    if (vector != 0) {
      throw new PciException("only vector 0 can be tried");
    }
    set("try", Linux.VFIO_IRQ_SET_DATA_NONE() | Linux.VFIO_IRQ_SET_ACTION_TRIGGER(), 1);
  }
}
