package irdma4j.simulator;

import java.lang.foreign.MemorySegment;

/** Sees every frame that a function puts on the wire, in order, before it may be lost. */
@FunctionalInterface
public interface FrameTap {
  /**
   * Called on the engine's thread for each frame.
   *
   * @param timeNanos when its last bit left the sender, on the simulation's clock
   * @param fromFunction index of the function that sent it
   * @param frame the frame at offset 0, without FCS; valid during the call only
   * @param bytes its length
   * @param dropped whether the wire loses it
   */
  void frame(long timeNanos, int fromFunction, MemorySegment frame, int bytes, boolean dropped);
}
