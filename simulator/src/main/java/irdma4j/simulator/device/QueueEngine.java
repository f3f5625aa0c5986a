package irdma4j.simulator.device;

import irdma4j.simulator.wire.Payload;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The device's queue pairs and their transport, as the rest of the device drives them. Every call
 * is made on the engine's thread.
 */
public interface QueueEngine {
  /**
   * A queue pair was created or its context replaced by the control QP.
   *
   * @param context a copy of the 256-byte context; not kept
   * @param attributes what the control QP's WQE says beside the context
   */
  void contextWritten(int qpId, MemorySegment context, QpAttributes attributes);

  /** The queue pair enters another state (the values of the control QP's next-state field). */
  void stateChanged(int qpId, int state);

  /** Writes the queue pair's live values back into a 256-byte context. */
  void storeContext(int qpId, MemorySegment context);

  /** Drops all outstanding work with flush completions. */
  void flush(int qpId, boolean sq, int sqMajor, int sqMinor, boolean rq, int rqMajor, int rqMinor);

  /** The queue pair is gone. */
  void destroyed(int qpId);

  /** The doorbell of a queue pair was rung. */
  void doorbell(int qpId);

  /** The doorbell of a push page was rung, for a queue pair. */
  default void pushed(int qpId, PushPage page) {
    doorbell(qpId);
  }

  /**
   * A frame (without FCS) arrived; valid during the call only.
   *
   * @param lent where its payload lies, or null if that stands in the frame
   */
  void receive(MemorySegment frame, int bytes, @Nullable Payload lent);

  /**
   * Does a bounded amount of pending work: fetches WQEs, sends a few packets of each ready queue
   * pair in turn.
   *
   * @return whether anything was done
   */
  boolean run();

  /** A requested timer is due. */
  void timer(long now);

  /** Forgets everything, as a function reset does. */
  void reset();
}
