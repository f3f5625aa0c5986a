package irdma4j.simulator.watch;

import irdma4j.simulator.DeviceEvent;
import irdma4j.simulator.DeviceWatcher;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The places where a function can be watched. While neither a watcher is set nor Flight Recorder
 * asks for that kind of event, each is two comparisons and allocates nothing.
 */
public final class Watch {
  /** Of a device outside a simulation. */
  public static final Watch NONE = new Watch(-1, null, () -> 0, new Object());

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int WORDS_OF_AN_ENTRY = 4;

  private final int function;
  private final @Nullable DeviceWatcher watcher;
  private final LongSupplier clock;
  private final Object lock;

  /**
   * The places of a function.
   *
   * @param function its index
   * @param watcher who is told, or null
   * @param clock the simulation's time in nanoseconds
   * @param lock held while the watcher is told; one for all functions of a simulation
   */
  public Watch(int function, @Nullable DeviceWatcher watcher, LongSupplier clock, Object lock) {
    this.function = function;
    this.watcher = watcher;
    this.clock = clock;
    this.lock = lock;
  }

  private void tell(DeviceEvent event) {
    long now = clock.getAsLong();
    FlightEvents.commit(now, function, event);
    if (watcher != null) {
      synchronized (lock) {
        watcher.event(now, function, event);
      }
    }
  }

  /** The names of the events of Flight Recorder. */
  public static List<String> flightEvents() {
    return FlightEvents.names();
  }

  /** A register is read. */
  public void registerRead(int offset, int value) {
    if (watcher != null || FlightEvents.REGISTER_READ.isEnabled()) {
      tell(new DeviceEvent.RegisterRead(offset, value));
    }
  }

  /** A register write has arrived. */
  public void registerWrite(int offset, int value) {
    if (watcher != null || FlightEvents.REGISTER_WRITE.isEnabled()) {
      tell(new DeviceEvent.RegisterWrite(offset, value));
    }
  }

  /** An operation of the control queue pair is done. */
  public void controlDone(int index, int opcode, int major, int minor, int value) {
    if (watcher != null || FlightEvents.CONTROL_OPERATION.isEnabled()) {
      tell(new DeviceEvent.ControlDone(index, opcode, major, minor, value));
    }
  }

  /** A WQE was fetched; it lies at offset 0. */
  public void wqe(
      DeviceEvent.Ring ring,
      int queuePair,
      int index,
      boolean pushed,
      MemorySegment wqe,
      long bytes) {
    if (watcher != null || FlightEvents.WQE_FETCH.isEnabled()) {
      tell(new DeviceEvent.WqeFetched(ring, queuePair, index, pushed, copy(wqe, bytes)));
    }
  }

  /** An address in a region was translated. */
  public void region(int stag, long address, long bytes, long iova) {
    if (watcher != null || FlightEvents.REGION_TRANSLATION.isEnabled()) {
      tell(new DeviceEvent.RegionTranslated(stag, address, bytes, iova));
    }
  }

  /** An FPM address was translated. */
  public void object(long address, long iova) {
    if (watcher != null || FlightEvents.OBJECT_TRANSLATION.isEnabled()) {
      tell(new DeviceEvent.ObjectTranslated(address, iova));
    }
  }

  /** Host memory was read. */
  public void hostRead(long iova, long bytes) {
    if (watcher != null || FlightEvents.HOST_READ.isEnabled()) {
      tell(new DeviceEvent.HostRead(iova, bytes));
    }
  }

  /** Host memory was written. */
  public void hostWrite(long iova, long bytes) {
    if (watcher != null || FlightEvents.HOST_WRITE.isEnabled()) {
      tell(new DeviceEvent.HostWrite(iova, bytes));
    }
  }

  /** The IOMMU refused an access. */
  public void hostRefused(long iova, boolean write) {
    if (watcher != null || FlightEvents.HOST_REFUSAL.isEnabled()) {
      tell(new DeviceEvent.HostRefused(iova, write));
    }
  }

  /** A frame goes to the wire. */
  public void frameSent(MemorySegment frame, int bytes) {
    if (watcher != null || FlightEvents.FRAME_SENT.isEnabled()) {
      tell(new DeviceEvent.FrameSent(copy(frame, bytes)));
    }
  }

  /** Whether anyone is told of frames. */
  public boolean seesFrames() {
    return watcher != null
        || FlightEvents.FRAME_SENT.isEnabled()
        || FlightEvents.FRAME_RECEIVED.isEnabled();
  }

  /** Whether anyone is shown all bytes of frames; Flight Recorder tells of their headers alone. */
  public boolean seesPayloads() {
    return watcher != null;
  }

  /** A frame has arrived. */
  public void frameReceived(MemorySegment frame, int bytes) {
    if (watcher != null || FlightEvents.FRAME_RECEIVED.isEnabled()) {
      tell(new DeviceEvent.FrameReceived(copy(frame, bytes)));
    }
  }

  /** A completion was written, of four words and perhaps an extended entry of words 0, 2 and 3. */
  public void completion(
      int queue,
      long iova,
      long word0,
      long word1,
      long word2,
      long word3,
      boolean extended,
      long extended0,
      long extended2,
      long extended3) {
    if (watcher != null || FlightEvents.COMPLETION.isEnabled()) {
      long[] words = new long[extended ? 2 * WORDS_OF_AN_ENTRY : WORDS_OF_AN_ENTRY];
      MemorySegment entry = MemorySegment.ofArray(words);
      set(entry, 0, word0, word1, word2, word3);
      if (extended) {
        set(entry, WORDS_OF_AN_ENTRY, extended0, 0, extended2, extended3);
      }
      tell(new DeviceEvent.CompletionWritten(queue, iova, entry.asReadOnly()));
    }
  }

  private static void set(MemorySegment entry, int first, long... words) {
    for (int i = 0; i < words.length; i++) {
      entry.setAtIndex(LONG, first + i, words[i]);
    }
  }

  /** An entry of a completion event queue was written. */
  public void completionEvent(int eventQueue, int queue) {
    if (watcher != null || FlightEvents.COMPLETION_EVENT.isEnabled()) {
      tell(new DeviceEvent.CompletionEvent(eventQueue, queue));
    }
  }

  /** An asynchronous event was raised. */
  public void asyncEvent(
      int id, int code, int source, int wqeIndex, long context, boolean written) {
    if (watcher != null || FlightEvents.ASYNC_EVENT.isEnabled()) {
      tell(new DeviceEvent.AsyncEvent(id, code, source, wqeIndex, context, written));
    }
  }

  /** An MSI-X message was sent. */
  public void interrupt(int vector) {
    if (watcher != null || FlightEvents.INTERRUPT.isEnabled()) {
      tell(new DeviceEvent.Interrupt(vector));
    }
  }

  /** A copy on the heap whose words are aligned. */
  private static MemorySegment copy(MemorySegment from, long bytes) {
    MemorySegment copy =
        MemorySegment.ofArray(new long[(int) ((bytes + Long.BYTES - 1) / Long.BYTES)]);
    MemorySegment.copy(from, 0, copy, 0, bytes);
    return copy.asSlice(0, bytes).asReadOnly();
  }
}
