package irdma4j.functions;

import irdma4j.tests.FunctionWatcher;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciException;
import java.util.HashMap;
import java.util.Map;

/**
 * Notes for whom each piece of a function's DMA memory was allocated, and can have none left at a
 * chosen allocation.
 */
final class OwnedMemory implements FunctionWatcher {
  private static final int PAGE = 4096;

  private final Map<Long, Integer> owners = new HashMap<>();
  private final Map<Integer, Long> bytes = new HashMap<>();
  private int owner;
  private int countdown;

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

  /** Whose the page of an address is, or -1 if nobody's. */
  int ownerOf(long iova) {
    return owners.getOrDefault(iova & -PAGE, -1);
  }

  /** Each page's owner, by address. */
  Map<Long, Integer> snapshot() {
    return Map.copyOf(owners);
  }

  @Override
  public void allocating() {
    if (countdown > 0 && --countdown == 0) {
      throw new PciException("out of DMA memory, as the test wants");
    }
  }

  @Override
  public void allocated(DmaMemory memory) {
    for (long at = 0; at < memory.size(); at += PAGE) {
      owners.put(memory.iova(at) & -PAGE, owner);
    }
    bytes.merge(owner, memory.size(), Long::sum);
  }

  @Override
  public void closing(DmaMemory memory) {
    bytes.merge(ownerOf(memory.iova(0)), -memory.size(), Long::sum);
    for (long at = 0; at < memory.size(); at += PAGE) {
      owners.remove(memory.iova(at) & -PAGE);
    }
  }
}
