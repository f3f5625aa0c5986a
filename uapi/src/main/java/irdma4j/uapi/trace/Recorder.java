package irdma4j.uapi.trace;

import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciException;
import irdma4j.uapi.PciFunction;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Predicate;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes down what passes between a driver and its device, whatever device it is: give the driver
 * {@link #record} of a function in place of the function.
 *
 * <p>DMA memory is looked through before and after each action: what changed between two actions is
 * taken for the driver's, what changed during one for the device's. A device that goes on by itself
 * also writes between actions; a trace of it cannot tell whose those bytes are.
 *
 * <p>Each look reads all DMA memory, so that a recorded driver is slow. Threads: actions are
 * written in the order in which they begin; the driver should have one thread.
 */
public final class Recorder implements AutoCloseable {
  /** The most bytes that one line holds. */
  private static final int MOST_BYTES = 4096;

  private final Writer out;
  private final List<Recorded> memories = new ArrayList<>();
  private final HexFormat hex = HexFormat.of();
  private @Nullable IOException failure;
  private long recordedBytes;
  private int functions;
  private int expected;
  private int nextId;
  private boolean closed;

  /** DMA memory, and what was last written down of it. */
  private record Recorded(
      int function, int id, MemorySegment memory, MemorySegment known, Arena arena) {}

  private Recorder(Writer out) {
    this.out = out;
  }

  /**
   * Creates or replaces a file; one whose name ends in {@code .gz} is compressed.
   *
   * @param device describes the device, in one line
   * @param functions how many functions will be recorded
   * @throws IOException if the file cannot be written
   */
  public static Recorder create(Path file, String device, int functions) throws IOException {
    OutputStream stream = Files.newOutputStream(file);
    try {
      OutputStream packed =
          file.toString().endsWith(".gz") ? new GZIPOutputStream(stream, 1 << 16) : stream;
      return to(
          new BufferedWriter(new OutputStreamWriter(packed, StandardCharsets.US_ASCII)),
          device,
          functions);
    } catch (IOException e) {
      stream.close();
      throw e;
    }
  }

  /** Writes to a writer, which is closed with the recorder. */
  public static Recorder to(Writer out, String device, int functions) throws IOException {
    Recorder recorder = new Recorder(out);
    recorder.expected = functions;
    out.write(DeviceTrace.MAGIC + "\ndevice " + device + "\nfunctions " + functions + "\n");
    return recorder;
  }

  /**
   * The function to give to the driver. It is closed with the function behind it.
   *
   * @throws IllegalStateException if all the functions that were announced have been recorded
   */
  public synchronized PciFunction record(PciFunction function) {
    if (functions == expected) {
      throw new IllegalStateException("all " + expected + " functions are recorded already");
    }
    return new RecordingFunction(this, functions++, function);
  }

  // Lines.

  private void line(String text) {
    if (failure == null && !closed) {
      try {
        out.write(text);
        out.write('\n');
      } catch (IOException e) {
        failure = e;
      }
    }
  }

  /** The driver begins an action: what it changed until now comes first. */
  synchronized void begins() {
    look("host");
  }

  /** An action that the device answers at once, or not at all. */
  synchronized void action(String verb, long nanos, int function, String rest) {
    line(verb + ' ' + nanos + ' ' + function + (rest.isEmpty() ? "" : ' ' + rest));
  }

  /** An action during which the device may have written. */
  synchronized void ended(String verb, long nanos, int function, String rest) {
    action(verb, nanos, function, rest);
    look("device");
  }

  private void look(String who) {
    VarHandle.acquireFence();
    for (Recorded recorded : memories) {
      long size = recorded.memory.byteSize();
      long at = 0;
      while (at < size) {
        long found = MemorySegment.mismatch(recorded.memory, at, size, recorded.known, at, size);
        if (found < 0) {
          break;
        }
        long start = (at + found) & -Long.BYTES;
        long end = endOfChange(recorded, start);
        MemorySegment.copy(recorded.memory, start, recorded.known, start, end - start);
        byte[] bytes = recorded.known.asSlice(start, end - start).toArray(ValueLayout.JAVA_BYTE);
        line(
            who
                + ' '
                + recorded.function
                + ' '
                + recorded.id
                + " 0x"
                + Long.toHexString(start)
                + ' '
                + hex.formatHex(bytes));
        at = end;
      }
    }
  }

  private static long endOfChange(Recorded recorded, long start) {
    long most = Math.min(start + MOST_BYTES, recorded.memory.byteSize());
    long end = start + Long.BYTES;
    while (end < most
        && recorded.memory.get(ValueLayout.JAVA_LONG, end)
            != recorded.known.get(ValueLayout.JAVA_LONG, end)) {
      end += Long.BYTES;
    }
    return end;
  }

  // Memory.

  /** Memory was allocated; returns its id. */
  synchronized int mapped(int function, DmaMemory memory) {
    if (memory.size() > DeviceTrace.MOST_MEMORY - recordedBytes) {
      throw new PciException(
          "a recording has room for %d bytes of DMA memory; %d more were asked for"
              .formatted(DeviceTrace.MOST_MEMORY, memory.size()));
    }
    int id = nextId++;
    boolean contiguous = memory.placement() == DmaPlacement.CONTIGUOUS;
    StringBuilder text = new StringBuilder("map ").append(function).append(' ').append(id);
    text.append(' ').append(memory.size()).append(contiguous ? " contiguous" : " scattered");
    for (long at = 0; at < (contiguous ? 1 : memory.size()); at += DeviceTrace.PAGE) {
      text.append(" 0x").append(Long.toHexString(memory.iova(at)));
    }
    line(text.toString());
    Arena arena = Arena.ofShared();
    recordedBytes += memory.size();
    memories.add(
        new Recorded(
            function,
            id,
            memory.segment(),
            arena.allocate(memory.size(), DeviceTrace.PAGE),
            arena));
    return id;
  }

  /** Memory is about to be given back. */
  synchronized void unmapped(int function, int id) {
    look("host");
    if (forget(recorded -> recorded.id == id)) {
      line("unmap " + function + ' ' + id);
    }
  }

  /** A function is about to be closed. */
  synchronized void closing(int function, long nanos) {
    look("host");
    action("close", nanos, function, "");
    forget(recorded -> recorded.function == function);
  }

  private boolean forget(Predicate<Recorded> which) {
    List<Recorded> gone = memories.stream().filter(which).toList();
    memories.removeAll(gone);
    gone.forEach(
        recorded -> {
          recordedBytes -= recorded.known.byteSize();
          recorded.arena.close();
        });
    return !gone.isEmpty();
  }

  /**
   * Ends the trace.
   *
   * @throws IOException the first error of the whole run
   */
  @Override
  public synchronized void close() throws IOException {
    if (closed) {
      return;
    }
    line("end");
    closed = true;
    forget(recorded -> true);
    try (out) {
      if (failure != null) {
        throw failure;
      }
    }
  }
}
