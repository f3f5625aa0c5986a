package irdma4j.uapi.vfio;

import irdma4j.uapi.linux.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A PCI function as VFIO shows it: regions, interrupts, resets, and what state it is in. */
final class CardStandIn {
  static final String BDF = "0000:3b:00.0";
  static final int GROUP = 7;
  static final int CONFIG = Linux.VFIO_PCI_CONFIG_REGION_INDEX();
  private static final int COMMAND = 4;
  private static final int BUS_MASTER = 4;

  /** What a mapping shows where a hole is: an access that goes there is seen at once. */
  static final byte HOLE = (byte) 0xee;

  /**
   * A region.
   *
   * @param mapped what the kernel lets be mapped; null if all of it, without a capability that says
   *     so
   */
  record Bar(int index, MemorySegment memory, MemorySegment byCalls, List<Region.Area> mapped) {}

  /** Another function that a reset of the bus would reset, and who has it. */
  record Neighbour(int group, int device, int bus, int place) {}

  private final List<Bar> bars = new ArrayList<>();
  private final byte[] config = new byte[4096];
  int[] vectors = {1, 1, 16};
  int vectorsLeft = 16;
  boolean hasReset = true;
  boolean hasBusReset = true;
  List<Neighbour> neighbours = new ArrayList<>(List.of(new Neighbour(GROUP, 1, 0x3b, 0)));
  int resets;
  int busResets;

  /** Kind and eventfds of the interrupts that are enabled; kind -1 if none are. */
  int enabledKind = -1;

  int[] eventfds = {};

  CardStandIn() {
    config[0] = (byte) 0x86;
    config[1] = (byte) 0x80;
    config[2] = (byte) 0x93;
    config[3] = 0x15;
  }

  /** Adds a BAR, of which the areas can be mapped. */
  CardStandIn withBar(int index, long size, Region.Area... areas) {
    MemorySegment memory = Arena.ofAuto().allocate(size, 4096);
    if (areas.length != 0) {
      memory.fill(HOLE);
      for (Region.Area area : areas) {
        memory.asSlice(area.offset(), area.size()).fill((byte) 0);
      }
    }
    bars.add(
        new Bar(
            index,
            memory,
            MemorySegment.ofArray(new byte[(int) size]),
            areas.length == 0 ? null : List.of(areas)));
    return this;
  }

  Bar bar(int index) {
    return bars.stream().filter(bar -> bar.index() == index).findFirst().orElse(null);
  }

  /** The bytes of a region as system calls reach them. */
  MemorySegment bytes(int index) {
    if (index == CONFIG) {
      return MemorySegment.ofArray(config);
    }
    Bar bar = bar(index);
    return bar == null ? MemorySegment.NULL : bar.byCalls();
  }

  boolean isBusMaster() {
    return (config[COMMAND] & BUS_MASTER) != 0;
  }

  boolean hasInterrupts() {
    return enabledKind >= 0;
  }

  int read32(int bar, int offset) {
    return bytes(bar).get(ValueLayout.JAVA_INT_UNALIGNED, offset);
  }

  /** What the kernel does with a function that it is given back. */
  void quieten() {
    config[COMMAND] &= ~BUS_MASTER;
    enabledKind = -1;
    eventfds = new int[0];
  }

  @Override
  public String toString() {
    return "bus master %b, interrupts %s".formatted(isBusMaster(), Arrays.toString(eventfds));
  }
}
