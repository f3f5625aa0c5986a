package irdma4j.functions;

import irdma4j.simulator.device.Iommu;
import irdma4j.tests.FunctionWatcher;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Notes for whom each piece of a function's DMA memory was allocated, and can have none left at a
 * chosen allocation.
 */
final class OwnedMemory implements FunctionWatcher {
  private static final int PAGE = 4096;
  private static final int NOBODY = -1;

  // By the number of the page in the IOVA space, which begins at its base.
  private int[] owners = new int[0];
  private int[] rounds = new int[0];
  private final Map<Integer, Long> bytes = new HashMap<>();
  private final Map<Integer, Integer> ownersBefore = new HashMap<>();
  private boolean marked;
  private int owner;
  private int countdown;
  private int round;

  /** From now on memory is this owner's. */
  void belongTo(int who) {
    owner = who;
  }

  /**
   * An allocation fails.
   *
   * @param n which one from now on: 1 is the next, 0 none
   */
  void fail(int n) {
    countdown = n;
  }

  /** Bytes that an owner has. */
  long bytesOf(int who) {
    return bytes.getOrDefault(who, 0L);
  }

  /** Bytes that all owners have. */
  long bytes() {
    return bytes.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Whose the page of an address is, or -1 if nobody's. */
  int ownerOf(long iova) {
    long page = page(iova);
    return page >= 0 && page < owners.length ? owners[(int) page] : NOBODY;
  }

  /** Begins a count in which each page is to be met once at most. */
  void beginCount() {
    round++;
  }

  /**
   * Whether the page of an address, which somebody has, is met for the first time in this count.
   */
  boolean isFirst(long iova) {
    int page = (int) page(iova);
    boolean first = rounds[page] != round;
    rounds[page] = round;
    return first;
  }

  /** Each page's owner, by address. */
  Map<Long, Integer> snapshot() {
    Map<Long, Integer> found = new HashMap<>();
    for (int page = 0; page < owners.length; page++) {
      if (owners[page] != NOBODY) {
        found.put(Iommu.BASE + (long) page * PAGE, owners[page]);
      }
    }
    return found;
  }

  /** Notes who has what, for {@link #isAsMarked}. */
  void mark() {
    ownersBefore.clear();
    marked = true;
  }

  /** Whether everybody has what they had at the mark, which is forgotten. */
  boolean isAsMarked() {
    marked = false;
    return ownersBefore.entrySet().stream()
        .allMatch(entry -> owners[entry.getKey()] == entry.getValue());
  }

  @Override
  public void allocating() {
    if (countdown > 0 && --countdown == 0) {
      throw new PciException("out of DMA memory, as the test wants");
    }
  }

  @Override
  public void allocated(DmaMemory memory) {
    give(memory, owner);
    bytes.merge(owner, memory.size(), Long::sum);
  }

  @Override
  public void closing(DmaMemory memory) {
    bytes.merge(ownerOf(memory.iova(0)), -memory.size(), Long::sum);
    give(memory, NOBODY);
  }

  private void give(DmaMemory memory, int to) {
    for (long at = 0; at < memory.size(); at += PAGE) {
      int page = (int) page(memory.iova(at));
      if (page >= owners.length) {
        int before = owners.length;
        owners = Arrays.copyOf(owners, Math.max(page + 1, 2 * before));
        Arrays.fill(owners, before, owners.length, NOBODY);
        rounds = Arrays.copyOf(rounds, owners.length);
      }
      if (marked) {
        ownersBefore.putIfAbsent(page, owners[page]);
      }
      owners[page] = to;
    }
  }

  private static long page(long iova) {
    return (iova - Iommu.BASE) >> 12;
  }
}
