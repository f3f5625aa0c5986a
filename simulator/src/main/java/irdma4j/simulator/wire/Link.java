package irdma4j.simulator.wire;

import irdma4j.simulator.FrameTap;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Joins ports as a switch does: a frame goes to the port whose MAC address it names (its own
 * sender's included, as inside a NIC), to the port from which that address was last heard, and to
 * all other ports if nothing is known of it. Ports with an address of their own are not learned
 * from. Each sender's frames take their time on a wire of a given rate, then a fixed delay, then
 * arrive in order of time; faults are drawn from a seed.
 *
 * <p>Frames stand in buffers that are used again; a frame allocates nothing once there are enough.
 * Used on the engine's thread only.
 */
public final class Link {
  /**
   * Bytes of a port's frames in flight at which {@link #hasRoom} asks it to wait: several times
   * what the wire holds, and little enough to stay in a processor's cache.
   */
  public static final int HIGH_WATER = 1 << 16;

  /** Bytes of the smallest frame: its Ethernet header. */
  public static final int LEAST_FRAME = 14;

  private static final int PREAMBLE_FCS_GAP = 8 + 4 + 12;
  private static final int SLOT_BYTES = 9728;

  /** The longest pause of a delayed frame in nanoseconds; a retransmission timer is longer. */
  private static final long MOST_PAUSE = 200_000;

  private static final int BLOCK = 64;
  private static final long NO_ADDRESS = -1;
  private static final int NO_SLOT = -1;

  /** Takes a frame that has arrived. */
  @FunctionalInterface
  public interface Receiver {
    /**
     * A frame arrives.
     *
     * @param port the port at which it arrives
     * @param frame the frame at offset 0, without FCS; valid during the call only
     * @param bytes its length
     * @param lent where its payload lies, and which packets have arrived that the frame stands for;
     *     null if it stands in the frame, which is one packet then
     */
    void arrived(int port, MemorySegment frame, int bytes, @Nullable Payload lent);
  }

  private final long[] portMac;
  private final long[] busyUntil;
  private final int[] busyHundredths;
  private final long[] sentInFlight;
  private final int hundredthsPerByte;
  private final long delayNanos;
  private final LinkFaults faults;
  private final SplittableRandom random;
  private final @Nullable FrameTap tap;
  private final @Nullable MemorySegment apart;
  private final boolean lends;
  private final boolean ideal;
  private final LearnedAddresses learned = new LearnedAddresses();
  private boolean learns;

  private MemorySegment[] slot = new MemorySegment[0];
  private int[] slotBytes = new int[0];
  private int[] slotSender = new int[0];

  /** Payloads that stand in their sender's memory; those of all other frames are empty. */
  private Payload[] slotLent = new Payload[0];

  // Of a frame that stands for several packets: when the first arrives, in nanoseconds and
  // hundredths, and how many have.
  private long[] slotArrival = new long[0];
  private int[] slotHundredths = new int[0];
  private int[] slotDone = new int[0];

  private int[] free = new int[0];
  private int freeCount;

  /** Slot and port of what is on its way. */
  private final TimeHeap arrivals = new TimeHeap();

  private long nextOrder;

  /**
   * A link.
   *
   * @param ports how many ports it joins, at most 256
   * @param gigabits rate of each port in Gb/s, 1 to 800
   * @param delayNanos time from the last bit's departure to its arrival
   * @param faults what it does to frames
   * @param seed of the faults
   * @param tap sees every frame sent, or null
   */
  public Link(
      int ports,
      int gigabits,
      long delayNanos,
      LinkFaults faults,
      long seed,
      @Nullable FrameTap tap) {
    if (ports < 1 || ports > 256 || gigabits < 1 || gigabits > 800 || delayNanos < 0) {
      throw new IllegalArgumentException(
          "link of " + ports + " ports, " + gigabits + " Gb/s, " + delayNanos + " ns");
    }
    this.portMac = new long[ports];
    Arrays.fill(portMac, NO_ADDRESS);
    this.busyUntil = new long[ports];
    Arrays.fill(busyUntil, Long.MIN_VALUE);
    this.busyHundredths = new int[ports];
    this.sentInFlight = new long[ports];
    this.hundredthsPerByte = 800 / gigabits;
    this.delayNanos = delayNanos;
    this.faults = faults;
    this.random = new SplittableRandom(seed);
    this.tap = tap;
    // What is changed on its way may not be what its sender goes on to use.
    boolean changes = faults.corrupt() > 0 || faults.mark() > 0;
    this.apart = changes ? RoceFrame.allocate(Arena.ofAuto(), SLOT_BYTES) : null;
    this.lends = tap == null && !changes && faults.duplicate() == 0;
    this.ideal = tap == null && faults.equals(LinkFaults.NONE);
  }

  /** The MAC address that a frame goes to, a 48-bit integer. */
  public static long destination(MemorySegment frame) {
    return BigEndian.get48(frame, 0);
  }

  /** Lets the link learn who is behind the ports that have no MAC address of their own. */
  public void learn() {
    learns = true;
  }

  /** Gives a port its MAC address, a 48-bit integer. */
  public void attach(int port, long mac) {
    portMac[port] = mac;
  }

  /** Whether nothing looks at the frames on their way, and nothing changes a byte of them. */
  public boolean isPrivate() {
    return tap == null && faults.corrupt() == 0 && !learns;
  }

  /** Whether few enough of a port's frames are in flight for it to go on sending. */
  public boolean hasRoom(int port) {
    return sentInFlight[port] < HIGH_WATER;
  }

  /** Frames in flight. */
  public int inFlight() {
    return arrivals.size();
  }

  /**
   * Where to build the next frame to send, so that it need not be copied: valid until a frame is
   * sent.
   */
  public MemorySegment buffer() {
    if (apart != null) {
      return apart;
    }
    int index = nextSlot();
    slotLent[index].clear();
    return slot[index];
  }

  private int nextSlot() {
    if (freeCount == 0) {
      grow();
    }
    return free[freeCount - 1];
  }

  /**
   * Lets the payload of the next frame stay where it is, in its sender's memory, until the frame
   * arrives. The frame's length is that with payload; only its headers stand in the {@link
   * #buffer}. Before that memory may change or go, its owner calls {@link #carryAll}.
   *
   * @return an empty payload, to be filled; null if the bytes of frames are seen, changed or
   *     doubled on their way
   */
  public @Nullable Payload lend() {
    if (!lends || learns) {
      return null;
    }
    int index = nextSlot();
    slotLent[index].clear();
    return slotLent[index];
  }

  /**
   * How many packets of a length a port may send now in one frame, as {@link Payload#carries}: as
   * many as it might send one after the other to one port. Each arrives when it would alone. None
   * if the wire does something to packets.
   */
  public int trainRoom(int port, int bytes) {
    if (!ideal || learns) {
      return 0;
    }
    long room = HIGH_WATER - sentInFlight[port];
    return (int) ((room + bytes - 1) / bytes);
  }

  /** Copies all payloads that were lent. */
  public void carryAll() {
    for (int i = 0; i < arrivals.size(); i++) {
      slotLent[arrivals.what(i) >>> 8].own();
    }
  }

  /**
   * Sends a frame from a port at the given time.
   *
   * @param frame at offset 0; its bytes are copied unless it stands in {@link #buffer}
   */
  public void send(int port, MemorySegment frame, int bytes, long now) {
    if (bytes < LEAST_FRAME || bytes > SLOT_BYTES) {
      throw new IllegalArgumentException("frame of " + bytes + " bytes");
    }
    if (draw(faults.delay())) {
      busyUntil[port] = Math.max(busyUntil[port], now) + 1 + random.nextLong(MOST_PAUSE);
    }
    int next = nextSlot();
    int own = frame == slot[next] ? next : NO_SLOT;
    long departed = occupy(port, bytes, now);
    boolean dropped = draw(faults.loss());
    if (tap != null) {
      tap.frame(departed, port, frame, bytes, dropped);
    }
    if (dropped) {
      return;
    }
    long arrival = departed + delayNanos;
    if (draw(faults.reorder())) {
      arrival += 1 + random.nextLong(8 * (delayNanos + 500));
    }
    if (own != NO_SLOT) {
      slotHundredths[own] = busyHundredths[port];
      for (int i = slotLent[own].all(); i > 1; i--) {
        occupy(port, bytes, now);
      }
    }
    forward(port, frame, own, bytes, arrival);
    if (draw(faults.duplicate())) {
      forward(port, frame, NO_SLOT, bytes, arrival + 1 + random.nextLong(2 * (delayNanos + 500)));
    }
  }

  /**
   * Brings a frame back to its sender's own port without the wire: it is neither tapped, lost nor
   * delayed. Its bytes are copied.
   */
  public void loopBack(int port, MemorySegment frame, int bytes, long now) {
    enqueue(port, port, frame, NO_SLOT, bytes, now, false);
  }

  private long occupy(int port, int bytes, long now) {
    if (busyUntil[port] < now) {
      busyUntil[port] = now;
      busyHundredths[port] = 0;
    }
    int hundredths = busyHundredths[port] + hundredths(bytes);
    busyUntil[port] += hundredths / 100;
    busyHundredths[port] = hundredths % 100;
    return busyUntil[port];
  }

  private int hundredths(int bytes) {
    return (bytes + PREAMBLE_FCS_GAP) * hundredthsPerByte;
  }

  /** When a packet of a frame arrives. */
  private long arrival(int index, int packet) {
    return slotArrival[index]
        + (slotHundredths[index] + (long) packet * hundredths(slotBytes[index])) / 100;
  }

  private boolean draw(double percent) {
    return percent > 0 && random.nextDouble() * 100 < percent;
  }

  private void forward(int port, MemorySegment frame, int own, int bytes, long arrival) {
    long destination = destination(frame);
    if (learns && portMac[port] == NO_ADDRESS) {
      learned.heard(BigEndian.get48(frame, 6), port);
    }
    for (int i = 0; i < portMac.length; i++) {
      if (portMac[i] == destination) {
        enqueue(port, i, frame, own, bytes, arrival, true);
        return;
      }
    }
    if (learns) {
      int known = learned.portOf(destination);
      if (known >= 0) {
        // A frame to where it came from is for a neighbour on that segment, who has it already.
        if (known != port) {
          enqueue(port, known, frame, own, bytes, arrival, true);
        }
        return;
      }
    }
    if (own != NO_SLOT) {
      slotLent[own].own();
    }
    for (int i = 0; i < portMac.length; i++) {
      if (i != port) {
        enqueue(port, i, frame, own, bytes, arrival, true);
      }
    }
  }

  private void enqueue(
      int sender,
      int port,
      MemorySegment frame,
      int own,
      int bytes,
      long arrival,
      boolean outside) {
    int index = nextSlot();
    freeCount--;
    if (index != own) {
      MemorySegment.copy(frame, 0, slot[index], 0, bytes);
      slotLent[index].clear();
      if (own != NO_SLOT) {
        slotLent[index].share(slotLent[own]);
        slotHundredths[index] = slotHundredths[own];
      }
    }
    slotBytes[index] = bytes;
    slotSender[index] = sender;
    slotArrival[index] = arrival;
    slotDone[index] = 0;
    sentInFlight[sender] += (long) bytes * slotLent[index].all();
    if (outside && draw(faults.mark())) {
      Ecn.mark(slot[index], bytes);
    }
    if (outside && draw(faults.corrupt())) {
      int at = random.nextInt(bytes);
      int flip = 1 + random.nextInt(255);
      slot[index].set(
          ValueLayout.JAVA_BYTE, at, (byte) (slot[index].get(ValueLayout.JAVA_BYTE, at) ^ flip));
    }
    arrivals.add(arrival, nextOrder++, index << 8 | port);
  }

  /** Packets of a frame have arrived, or are thrown away; the frame goes with its last. */
  private boolean release(int index, int packets) {
    sentInFlight[slotSender[index]] -= (long) slotBytes[index] * packets;
    slotDone[index] += packets;
    boolean last = slotDone[index] == slotLent[index].all();
    if (last) {
      free[freeCount++] = index;
    }
    return last;
  }

  private void grow() {
    int old = slot.length;
    slot = Arrays.copyOf(slot, old + BLOCK);
    slotBytes = Arrays.copyOf(slotBytes, old + BLOCK);
    slotSender = Arrays.copyOf(slotSender, old + BLOCK);
    slotLent = Arrays.copyOf(slotLent, old + BLOCK);
    slotArrival = Arrays.copyOf(slotArrival, old + BLOCK);
    slotHundredths = Arrays.copyOf(slotHundredths, old + BLOCK);
    slotDone = Arrays.copyOf(slotDone, old + BLOCK);
    free = new int[old + BLOCK];
    Arena arena = Arena.ofAuto();
    for (int i = 0; i < BLOCK; i++) {
      slot[old + i] = RoceFrame.allocate(arena, SLOT_BYTES);
      slotLent[old + i] = new Payload();
      free[freeCount++] = old + i;
    }
  }

  /** When the next frame arrives, or {@link Long#MAX_VALUE} if none is in flight. */
  public long nextArrival() {
    return arrivals.nextTime();
  }

  /**
   * Hands over the next frame if it has arrived by the given time, and of one that stands for
   * several packets those that have, and that no other frame comes before.
   *
   * @return whether there was one
   */
  public boolean deliver(long now, Receiver receiver) {
    if (arrivals.size() == 0 || arrivals.nextTime() > now) {
      return false;
    }
    int top = arrivals.what(0);
    long order = arrivals.nextOrder();
    arrivals.removeNext();
    int index = top >>> 8;
    Payload lent = slotLent[index];
    int first = slotDone[index];
    int packets = 1;
    for (int next = first + 1; next < lent.all(); next++) {
      long when = arrival(index, next);
      if (when > now || !arrivals.isFirst(when, order)) {
        break;
      }
      packets++;
    }
    try {
      lent.handle(first, packets);
      receiver.arrived(top & 0xff, slot[index], slotBytes[index], lent.isEmpty() ? null : lent);
    } finally {
      if (!release(index, packets)) {
        arrivals.add(arrival(index, slotDone[index]), order, top);
      }
    }
    return true;
  }

  /** Throws away all frames in flight to a port, as a reset of its function does. */
  public void discard(int port) {
    arrivals.keep(
        what -> {
          boolean kept = (what & 0xff) != port;
          if (!kept) {
            int index = what >>> 8;
            release(index, slotLent[index].all() - slotDone[index]);
          }
          return kept;
        });
  }
}
