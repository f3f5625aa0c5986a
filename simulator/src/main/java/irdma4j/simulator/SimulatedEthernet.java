package irdma4j.simulator;

import irdma4j.simulator.wire.Link;
import irdma4j.uapi.EthernetPort;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.ArrayBlockingQueue;

/** The LAN side of a simulated port: what is not RoCE waits here to be taken. */
final class SimulatedEthernet implements EthernetPort {
  /** Frames that wait at most; further ones are lost, as in a full receive queue. */
  private static final int DEPTH = 256;

  private static final long GROUP_BIT = 1L << 40;

  private final ArrayBlockingQueue<MemorySegment> waiting = new ArrayBlockingQueue<>(DEPTH);
  private final Engine engine;
  private final Link link;
  private final int port;

  SimulatedEthernet(Engine engine, Link link, int port) {
    this.engine = engine;
    this.link = link;
    this.port = port;
  }

  /** A frame that is not RoCE arrived; on the engine's thread. */
  void arrived(long ownMac, MemorySegment frame, int bytes) {
    long destination = Link.destination(frame);
    if ((destination == ownMac || (destination & GROUP_BIT) != 0) && bytes <= MAX_FRAME) {
      waiting.offer(copy(frame, bytes));
    }
  }

  private static MemorySegment copy(MemorySegment frame, int bytes) {
    return MemorySegment.ofArray(frame.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
  }

  @Override
  public void send(MemorySegment frame, int bytes) {
    if (bytes < Link.LEAST_FRAME || bytes > MAX_FRAME) {
      throw new IllegalArgumentException("frame of " + bytes + " bytes");
    }
    engine.checkAlive();
    // The caller's segment may be one that only its own thread may read.
    MemorySegment copy = copy(frame, bytes);
    engine.call(() -> link.send(port, copy, bytes, engine.now()));
  }

  @Override
  public int receive(MemorySegment target) {
    MemorySegment frame = waiting.poll();
    if (frame == null) {
      return 0;
    }
    MemorySegment.copy(frame, 0, target, 0, frame.byteSize());
    return (int) frame.byteSize();
  }
}
