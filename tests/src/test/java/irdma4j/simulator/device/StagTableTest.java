package irdma4j.simulator.device;

import static irdma4j.simulator.device.DeviceServices.ACCESS_OK;
import static irdma4j.simulator.device.DeviceServices.LOCAL_READ;
import static irdma4j.simulator.device.DeviceServices.LOCAL_WRITE;
import static irdma4j.simulator.device.DeviceServices.REMOTE_READ;
import static irdma4j.simulator.device.DeviceServices.REMOTE_WRITE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.cqp.AllocateMw;
import irdma4j.hwregs.cqp.AllocateStag;
import irdma4j.hwregs.cqp.DeallocateStag;
import irdma4j.hwregs.cqp.RegisterMr;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Regions whose page lists the tests build by hand, seen through the device. */
final class StagTableTest {
  private static final int PAGE = 4096;
  private static final int PD = 5;
  private static final int ALL_RIGHTS = LOCAL_READ | LOCAL_WRITE | REMOTE_READ | REMOTE_WRITE;
  private static final long DATA = Iommu.BASE + 0x8000_0000L;

  /** A region in host memory whose pages lie anywhere, between pages that are not the region's. */
  private static final class Region {
    final int stag;
    final long address;
    final int length;
    final MemorySegment host;
    final int[] hostPage;
    final int offset;

    Region(BareCard card, Random random, int index) {
      int level = new int[] {0, 1, 3}[random.nextInt(3)];
      boolean addressBased = random.nextBoolean();
      offset = random.nextInt(PAGE);
      int pages = level == 3 ? 513 + random.nextInt(700) : 1 + random.nextInt(60);
      length = Math.max(1, pages * PAGE - offset - random.nextInt(PAGE));
      pages = (offset + length + PAGE - 1) / PAGE;
      long base = addressBased ? (random.nextLong() & -PAGE) | offset : offset;
      if (addressBased && Long.compareUnsigned(base + length - 1, base) < 0) {
        base = 0x7f00_0000_0000L | offset;
      }
      address = addressBased ? base : 0;
      host = card.host.map(DATA, 2L * pages * PAGE);
      hostPage = new int[pages];
      for (int i = 0; i < pages; i++) {
        // Every page of the region has a neighbour that must stay as it is.
        hostPage[i] = level == 0 ? pages / 2 + i : 2 * i + random.nextInt(2);
      }
      long firstPble = 8L * random.nextInt(1000);
      if (level == 1) {
        for (int i = 0; i < pages; i++) {
          card.pble(firstPble + i, DATA + (long) hostPage[i] * PAGE);
        }
      } else if (level == 3) {
        long leaf = firstPble + 4096;
        for (int i = 0; i < pages; i++) {
          if (i % 512 == 0) {
            leaf += 512L * (1 + random.nextInt(3));
            card.pble(firstPble + i / 512, leaf);
          }
          card.pble(leaf + i % 512, DATA + (long) hostPage[i] * PAGE);
        }
      }
      int key = random.nextInt(256);
      stag = index << 8 | key;
      card.require(
          card.execute(
              new RegisterMr(
                  base,
                  length,
                  PD,
                  key,
                  index,
                  DATA + (long) hostPage[0] * PAGE,
                  0,
                  level == 0 ? 0 : (int) firstPble,
                  true,
                  level,
                  0,
                  ALL_RIGHTS,
                  true,
                  addressBased,
                  false,
                  false)));
    }

    int hostOffset(int at) {
      int position = offset + at;
      return hostPage[position / PAGE] * PAGE + position % PAGE;
    }
  }

  /**
   * Any access is allowed exactly if it lies in the region; an allowed write lands on the bytes
   * that the page list names and on no other, a read gives them back. Fails if bounds are off by
   * one, a level is walked wrongly, a page's end is crossed, the offset in the first page is
   * forgotten, or pages that are translated together go on behind a leaf of the page list.
   */
  @Property(tries = 150)
  void accessesLandInTheRegionAndNowhereElse(@ForAll long seed) {
    Random random = new Random(seed);
    try (BareCard card = new BareCard().up()) {
      Region region = new Region(card, random, 1 + random.nextInt(1023));
      MemorySegment host = region.host;
      for (long i = 0; i < host.byteSize(); i++) {
        host.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + 1));
      }
      byte[] model = host.toArray(ValueLayout.JAVA_BYTE);
      MemorySegment buffer = card.arena.allocate(200_000);
      for (int i = 0; i < 40; i++) {
        long at = random.nextInt(region.length + 200) - 100L;
        int bytes = 1 + random.nextInt(random.nextBoolean() ? 64 : 200_000);
        boolean inside = at >= 0 && at + bytes <= region.length;
        int answer =
            card.device.checkAccess(region.stag, region.address + at, bytes, LOCAL_WRITE, PD, 1);
        assertEquals(inside, answer == ACCESS_OK, at + "+" + bytes + " of " + region.length);
        if (!inside) {
          continue;
        }
        if (random.nextBoolean()) {
          for (int b = 0; b < bytes; b++) {
            byte value = (byte) random.nextInt();
            buffer.set(ValueLayout.JAVA_BYTE, b, value);
            model[region.hostOffset((int) at + b)] = value;
          }
          assertTrue(
              card.device.writeRegion(
                  region.stag, region.address + at, BareCard.payload(buffer), 0, bytes));
        } else {
          assertTrue(card.device.readRegion(region.stag, region.address + at, buffer, 0, bytes));
          for (int b = 0; b < bytes; b++) {
            assertEquals(
                model[region.hostOffset((int) at + b)], buffer.get(ValueLayout.JAVA_BYTE, b));
          }
        }
      }
      assertArrayEquals(model, host.toArray(ValueLayout.JAVA_BYTE));
    }
  }

  private static int check(BareCard card, int stag, long address, long bytes, int rights, int pd) {
    return card.device.checkAccess(stag, address, bytes, rights, pd, 1);
  }

  private static RegisterMr region(int index, int key, long address, long length, int rights) {
    return new RegisterMr(
        address,
        length,
        PD,
        key,
        index,
        DATA,
        0,
        0,
        true,
        0,
        0,
        rights,
        (rights & 12) != 0,
        true,
        false,
        false);
  }

  /** Each way to be refused has its own event code. */
  @Test
  void namesTheReasonOfARefusal() {
    try (BareCard card = new BareCard().up()) {
      card.require(card.execute(region(9, 0x41, 0x10000, 0x1000, LOCAL_READ | LOCAL_WRITE)));
      int stag = 9 << 8 | 0x41;
      assertEquals(ACCESS_OK, check(card, stag, 0x10000, 0x1000, LOCAL_WRITE, PD));
      refused(AeCode.AMP_BOUNDS_VIOLATION, check(card, stag, 0x10000, 0x1001, LOCAL_WRITE, PD));
      refused(AeCode.AMP_BOUNDS_VIOLATION, check(card, stag, 0xffff, 1, LOCAL_WRITE, PD));
      refused(AeCode.AMP_BOUNDS_VIOLATION, check(card, stag, 0x11000, 1, LOCAL_WRITE, PD));
      refused(AeCode.AMP_TO_WRAP, check(card, stag, -1, 2, LOCAL_WRITE, PD));
      refused(AeCode.AMP_BAD_STAG_KEY, check(card, stag ^ 1, 0x10000, 1, LOCAL_READ, PD));
      refused(AeCode.AMP_BAD_PD, check(card, stag, 0x10000, 1, LOCAL_READ, PD + 1));
      refused(AeCode.AMP_RIGHTS_VIOLATION, check(card, stag, 0x10000, 1, REMOTE_READ, PD));
      refused(AeCode.AMP_UNALLOCATED_STAG, check(card, 10 << 8, 0x10000, 1, LOCAL_READ, PD));
      refused(AeCode.AMP_BAD_STAG_INDEX, check(card, 1024 << 8, 0x10000, 1, LOCAL_READ, PD));
      refused(AeCode.AMP_BAD_STAG_INDEX, check(card, -1, 0x10000, 1, LOCAL_READ, PD));
      refused(AeCode.STAG_ZERO_INVALID, check(card, 0x41, 0x10000, 1, LOCAL_READ, PD));
      card.require(
          card.execute(
              new AllocateStag(0x1000, PD, 11, 0, 0, true, 0, 0, ALL_RIGHTS, true, false, false)));
      refused(AeCode.AMP_INVALID_STAG, check(card, 11 << 8, 0, 1, LOCAL_READ, PD));
    }
  }

  /** A region that is closed to peers stays so whatever its rights say. */
  @Test
  void aRegionWithoutRemoteAccessIsClosedToPeers() {
    try (BareCard card = new BareCard().up()) {
      card.require(
          card.execute(
              new RegisterMr(
                  0x10000,
                  0x1000,
                  PD,
                  0x42,
                  12,
                  DATA,
                  0,
                  0,
                  true,
                  0,
                  0,
                  ALL_RIGHTS,
                  false,
                  true,
                  false,
                  false)));
      int stag = 12 << 8 | 0x42;
      assertEquals(ACCESS_OK, check(card, stag, 0x10000, 1, LOCAL_READ | LOCAL_WRITE, PD));
      refused(AeCode.AMP_RIGHTS_VIOLATION, check(card, stag, 0x10000, 1, REMOTE_READ, PD));
      refused(AeCode.AMP_RIGHTS_VIOLATION, check(card, stag, 0x10000, 1, REMOTE_WRITE, PD));
    }
  }

  private static void refused(AeCode expected, int actual) {
    assertEquals(expected, AeCode.of(actual));
  }

  /** A stag is gone once deallocated, and its number can be used again with another key. */
  @Test
  void aDeallocatedStagIsGone() {
    try (BareCard card = new BareCard().up()) {
      card.require(card.execute(region(3, 1, 0x10000, 0x1000, ALL_RIGHTS)));
      assertTrue(
          card.execute(region(3, 2, 0x10000, 0x1000, ALL_RIGHTS)).is(ControlStatus.STAG_INVALID));
      assertTrue(card.execute(new DeallocateStag(PD + 1, 3, true)).is(ControlStatus.STAG_INVALID));
      assertTrue(card.execute(new DeallocateStag(PD, 3, false)).is(ControlStatus.STAG_INVALID));
      card.require(card.execute(new DeallocateStag(PD, 3, true)));
      refused(AeCode.AMP_UNALLOCATED_STAG, check(card, 3 << 8 | 1, 0x10000, 1, LOCAL_READ, PD));
      card.require(card.execute(region(3, 2, 0x10000, 0x1000, ALL_RIGHTS)));
      refused(AeCode.AMP_BAD_STAG_KEY, check(card, 3 << 8 | 1, 0x10000, 1, LOCAL_READ, PD));
    }
  }

  /**
   * The entry is kept in the HMC: zeroing it there, once the copies are dropped, frees the stag.
   */
  @Test
  void entriesLiveInTheHmc() {
    try (BareCard card = new BareCard().up()) {
      card.require(card.execute(region(3, 1, 0x10000, 0x1000, ALL_RIGHTS)));
      long slot = card.bases.get(HmcObject.MR) + 3 * 64;
      assertNotEquals(-1, card.hmc.asSlice(slot, 64).mismatch(card.arena.allocate(64)));
      card.backSegment(0); // the device drops its copies, the entry is still there
      assertEquals(ACCESS_OK, check(card, 3 << 8 | 1, 0x10000, 1, LOCAL_READ, PD));
      card.hmc.asSlice(slot, 64).fill((byte) 0);
      assertEquals(ACCESS_OK, check(card, 3 << 8 | 1, 0x10000, 1, LOCAL_READ, PD));
      card.backSegment(0);
      refused(AeCode.AMP_UNALLOCATED_STAG, check(card, 3 << 8 | 1, 0x10000, 1, LOCAL_READ, PD));
    }
  }

  /** A page that the IOMMU no longer maps ends the copy with a fault. */
  @Test
  void aPageTakenAwayIsAFault() {
    try (BareCard card = new BareCard().up()) {
      card.host.map(DATA, 2 * PAGE);
      card.require(card.execute(region(3, 1, 0x10000, 2 * PAGE, ALL_RIGHTS)));
      MemorySegment buffer = card.arena.allocate(2 * PAGE);
      assertTrue(card.device.readRegion(3 << 8 | 1, 0x10000, buffer, 0, 2 * PAGE));
      card.host.iommu.unmap((int) ((DATA + PAGE - Iommu.BASE) >>> 12));
      assertTrue(card.device.readRegion(3 << 8 | 1, 0x10000, buffer, 0, PAGE));
      assertFalse(card.device.readRegion(3 << 8 | 1, 0x10000, buffer, 0, PAGE + 1));
      assertEquals(1, card.host.counters.dmaFaults);
    }
  }

  /** A number that is given again stands for its new pages, however many of the old were known. */
  @Test
  void aStagUsedAgainForgetsItsPages() {
    int pages = 40;
    try (BareCard card = new BareCard().up()) {
      MemorySegment host = card.host.map(DATA, 2L * pages * PAGE);
      MemorySegment buffer = card.arena.allocate((long) pages * PAGE);
      for (int i = 0; i < 2 * pages; i++) {
        HostPages.word(host, (long) i * PAGE, i);
        card.pble(i, DATA + (long) i * PAGE);
      }
      for (int use = 0; use < 2; use++) {
        card.require(
            card.execute(
                new RegisterMr(
                    0,
                    (long) pages * PAGE,
                    PD,
                    1,
                    3,
                    0,
                    0,
                    use * pages,
                    true,
                    1,
                    0,
                    ALL_RIGHTS,
                    true,
                    false,
                    false,
                    false)));
        for (int i = 0; i < pages; i++) {
          assertTrue(card.device.readRegion(3 << 8 | 1, (long) i * PAGE, buffer, 0, PAGE));
          assertEquals(use * pages + i, buffer.get(ValueLayout.JAVA_LONG, 0));
        }
        // Page 0 is what the next use begins with.
        assertTrue(card.device.readRegion(3 << 8 | 1, 0, buffer, 0, PAGE));
        card.require(card.execute(new DeallocateStag(PD, 3, true)));
      }
    }
  }

  /** A region whose PBLEs were not committed is refused when it is registered. */
  @Test
  void refusesPblesThatAreNotThere() {
    try (BareCard card = new BareCard().up()) {
      RegisterMr beyond =
          new RegisterMr(
              0,
              2 * PAGE,
              PD,
              1,
              3,
              0,
              0,
              0x3ffff,
              true,
              1,
              0,
              ALL_RIGHTS,
              true,
              false,
              false,
              false);
      assertTrue(card.execute(beyond).is(ControlStatus.PBLE_NOT_BACKED));
      refused(AeCode.AMP_UNALLOCATED_STAG, check(card, 3 << 8 | 1, 0, 1, LOCAL_READ, PD));
    }
  }

  /** Invalidation: by the peer only with remote rights; a window of type 1 never. */
  @Test
  void invalidatesWhatMayBeInvalidated() {
    try (BareCard card = new BareCard().up()) {
      card.require(card.execute(region(3, 1, 0x10000, 0x1000, LOCAL_READ | LOCAL_WRITE)));
      card.require(card.execute(region(4, 1, 0x10000, 0x1000, ALL_RIGHTS)));
      card.require(card.execute(new AllocateMw(PD, 5, true, false)));
      assertEquals(
          AeCode.AMP_INVALIDATE_NO_REMOTE_ACCESS_RIGHTS.code(),
          card.device.invalidateStag(3 << 8 | 1, PD, 1, true));
      assertEquals(ACCESS_OK, card.device.invalidateStag(4 << 8 | 1, PD, 1, true));
      refused(AeCode.AMP_INVALID_STAG, check(card, 4 << 8 | 1, 0x10000, 1, LOCAL_READ, PD));
      assertEquals(
          AeCode.AMP_INVALIDATE_TYPE1_MW.code(), card.device.invalidateStag(5 << 8, PD, 1, false));
    }
  }
}
