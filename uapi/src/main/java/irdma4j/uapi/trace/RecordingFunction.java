package irdma4j.uapi.trace;

import irdma4j.uapi.Bar;
import irdma4j.uapi.ConfigSpace;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.DmaUsage;
import irdma4j.uapi.Interrupts;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.MemorySegment;

/** A function whose doings are written down; all is done by the function behind it. */
final class RecordingFunction implements PciFunction {
  private final Recorder recorder;
  private final int index;
  private final PciFunction function;
  private final DeviceClock clock = new Clock();
  private boolean closed;

  RecordingFunction(Recorder recorder, int index, PciFunction function) {
    this.recorder = recorder;
    this.index = index;
    this.function = function;
  }

  private long now() {
    return function.clock().nanos();
  }

  @Override
  public String address() {
    return function.address();
  }

  @Override
  public ConfigSpace config() {
    return function.config();
  }

  @Override
  public Bar bar(int number) {
    Bar bar = function.bar(number);
    return number == 0 ? new Registers(bar) : bar;
  }

  @Override
  public DmaMemory allocateDma(long bytes, long alignment, DmaPlacement placement) {
    DmaMemory memory = function.allocateDma(bytes, alignment, placement);
    try {
      return new Memory(memory, recorder.mapped(index, memory));
    } catch (RuntimeException | OutOfMemoryError e) {
      memory.close();
      throw e;
    }
  }

  @Override
  public DmaUsage dmaUsage() {
    return function.dmaUsage();
  }

  @Override
  public Interrupts interrupts() {
    return new Vectors(function.interrupts());
  }

  @Override
  public DeviceClock clock() {
    return clock;
  }

  @Override
  public void setBusMaster(boolean enabled) {
    recorder.begins();
    long nanos = now();
    function.setBusMaster(enabled);
    recorder.ended("master", nanos, index, enabled ? "on" : "off");
  }

  @Override
  public void reset() {
    recorder.begins();
    long nanos = now();
    function.reset();
    recorder.ended("reset", nanos, index, "");
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      recorder.closing(index, now());
    }
    function.close();
  }

  private final class Registers implements Bar {
    private final Bar bar;

    Registers(Bar bar) {
      this.bar = bar;
    }

    @Override
    public int index() {
      return bar.index();
    }

    @Override
    public long size() {
      return bar.size();
    }

    @Override
    public int read32(long offset) {
      recorder.begins();
      long nanos = now();
      int value = bar.read32(offset);
      recorder.ended(
          "read32", nanos, index, "0x%x 0x%x".formatted(offset, Integer.toUnsignedLong(value)));
      return value;
    }

    @Override
    public void write32(long offset, int value) {
      recorder.begins();
      long nanos = now();
      recorder.action(
          "write32", nanos, index, "0x%x 0x%x".formatted(offset, Integer.toUnsignedLong(value)));
      bar.write32(offset, value);
    }

    @Override
    public long read64(long offset) {
      recorder.begins();
      long nanos = now();
      long value = bar.read64(offset);
      recorder.ended("read64", nanos, index, "0x%x 0x%x".formatted(offset, value));
      return value;
    }

    @Override
    public void write64(long offset, long value) {
      recorder.begins();
      long nanos = now();
      recorder.action("write64", nanos, index, "0x%x 0x%x".formatted(offset, value));
      bar.write64(offset, value);
    }
  }

  private final class Clock implements DeviceClock {
    @Override
    public long nanos() {
      return now();
    }

    @Override
    public void pause(long wait) {
      recorder.begins();
      long nanos = now();
      function.clock().pause(wait);
      recorder.ended("pause", nanos, index, Long.toString(wait));
    }
  }

  private final class Vectors implements Interrupts {
    private final Interrupts interrupts;

    Vectors(Interrupts interrupts) {
      this.interrupts = interrupts;
    }

    @Override
    public int count() {
      return interrupts.count();
    }

    @Override
    public void enable(int vectors) {
      recorder.begins();
      long nanos = now();
      interrupts.enable(vectors);
      recorder.ended("vectors", nanos, index, Integer.toString(vectors));
    }

    @Override
    public void disable() {
      recorder.begins();
      long nanos = now();
      interrupts.disable();
      recorder.ended("vectors", nanos, index, "0");
    }

    @Override
    public boolean poll(int vector) {
      return await(vector, 0);
    }

    @Override
    public boolean await(int vector, long timeoutNanos) {
      recorder.begins();
      long nanos = now();
      boolean fired =
          timeoutNanos <= 0 ? interrupts.poll(vector) : interrupts.await(vector, timeoutNanos);
      recorder.ended(
          "await",
          nanos,
          index,
          vector + " " + Math.max(0, timeoutNanos) + (fired ? " fired" : " quiet"));
      return fired;
    }

    @Override
    public long fired(int vector) {
      recorder.begins();
      long nanos = now();
      long count = interrupts.fired(vector);
      recorder.ended("fired", nanos, index, vector + " " + count);
      return count;
    }
  }

  private final class Memory implements DmaMemory {
    private final DmaMemory memory;
    private final int id;

    Memory(DmaMemory memory, int id) {
      this.memory = memory;
      this.id = id;
    }

    @Override
    public MemorySegment segment() {
      return memory.segment();
    }

    @Override
    public long size() {
      return memory.size();
    }

    @Override
    public DmaPlacement placement() {
      return memory.placement();
    }

    @Override
    public long iova(long offset) {
      return memory.iova(offset);
    }

    @Override
    public void close() {
      recorder.unmapped(index, id);
      memory.close();
    }
  }
}
