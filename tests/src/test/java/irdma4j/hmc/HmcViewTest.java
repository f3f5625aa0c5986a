package irdma4j.hmc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.HmcObject;
import irdma4j.tests.FakePciFunction;
import irdma4j.tests.HmcDevice;
import irdma4j.uapi.PciException;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a cache says about itself, refuses, and keeps when the device can't be told. */
class HmcViewTest {
  private static final int PAGE = 4096;

  /** The first segment, and half of the second, are queue pairs; PBLEs follow. */
  private static final long PBLES = HostMemoryCache.SEGMENT_SIZE * 3 / 2;

  private static final HmcLayout LAYOUT =
      new HmcLayout(
          Map.of(
              HmcObject.QP, new HmcLayout.Area(0, PBLES / 512, 512),
              HmcObject.PBLE, new HmcLayout.Area(PBLES, 3 * 262144, 8)),
          5);

  private final FakePciFunction memory = new FakePciFunction();
  private final HmcDevice device = new HmcDevice(memory, 5);

  private HostMemoryCache paged() {
    return new HostMemoryCache(memory, device, LAYOUT, SegmentType.PAGED);
  }

  @Test
  void tellsWhatThereIs() {
    HostMemoryCache cache = paged();
    cache.create(HmcObject.QP, 6, 4);
    Extent extent = cache.extend(PBLES, 3);
    cache.extend(2 * HostMemoryCache.SEGMENT_SIZE, 512);
    assertEquals(4, cache.count(HmcObject.QP));
    assertEquals(0, cache.count(HmcObject.CQ));
    assertEquals(3, cache.segmentCount());
    assertEquals(
        List.of(
            new ObjectUse(HmcObject.QP, 0, PBLES, PBLES / 512, 4, 0),
            new ObjectUse(HmcObject.PBLE, PBLES, PBLES + 3 * 262144 * 8, 3 * 262144, 0, 515)),
        cache.objects());
    List<SegmentUse> segments = cache.segments();
    assertEquals(List.of(0, 1, 2), segments.stream().map(SegmentUse::index).toList());
    assertEquals(List.of(2, 3, 512), segments.stream().map(SegmentUse::pages).toList());
    assertEquals(List.of(4L, 1L, 1L), segments.stream().map(SegmentUse::users).toList());
    FpmLocation place = cache.locate(PBLES + 2 * PAGE + 40);
    assertNotNull(place);
    assertEquals(new FpmLocation(HmcObject.PBLE, 2 * 512 + 5, 1, 258, place.iova()), place);
    extent.segmentView().set(ValueLayout.JAVA_LONG, 2 * PAGE + 40, 7);
    assertEquals(7, memory.deviceWord(place.iova()));
    assertNull(cache.locate(PBLES + 3 * 262144 * 8));
    cache.close();
    assertEquals(0, memory.dmaUsage().currentBytes());
    assertEquals(0, cache.segmentCount() + cache.count(HmcObject.QP));
    assertEquals(0, cache.objects().getLast().extentPages());
    cache.close();
    memory.close();
  }

  /** Fails if the place told of a byte in a direct segment is not where the device finds it. */
  @Test
  void tellsWhereADirectSegmentIs() {
    HostMemoryCache cache = new HostMemoryCache(memory, device, LAYOUT, SegmentType.DIRECT);
    cache.extend(2 * HostMemoryCache.SEGMENT_SIZE, 512);
    assertEquals(SegmentType.DIRECT, cache.segments().getFirst().type());
    long address = 2 * HostMemoryCache.SEGMENT_SIZE + 7 * PAGE + 40;
    FpmLocation place = cache.locate(address);
    assertNotNull(place);
    assertTrue(place.iova() != 0);
    assertEquals(device.translate(address), place.iova());
    cache.close();
    assertEquals(0, memory.dmaUsage().currentBytes());
  }

  @Test
  void rangesEndWhereTheAreaEnds() {
    HostMemoryCache cache = paged();
    long all = PBLES / 512;
    cache.create(HmcObject.QP, all - 1, 1);
    HmcException refused =
        assertThrows(HmcException.class, () -> cache.create(HmcObject.QP, all - 1, 2));
    assertEquals("QP 6143 to 6144: there are 6144", refused.getMessage());
    assertThrows(HmcException.class, () -> cache.create(HmcObject.QP, -1, 1));
    assertThrows(HmcException.class, () -> cache.create(HmcObject.QP, 0, -1));
    HmcLayout endless = new HmcLayout(Map.of(HmcObject.MR, new HmcLayout.Area(0, 1L << 33, 1)), 9);
    HostMemoryCache other = new HostMemoryCache(memory, device, endless, SegmentType.PAGED);
    assertEquals(
        "MR 2147483647 is beyond what can be made",
        assertThrows(HmcException.class, () -> other.create(HmcObject.MR, Integer.MAX_VALUE, 1))
            .getMessage());
    cache.delete(HmcObject.QP);
    cache.close();
    assertEquals(0, memory.dmaUsage().currentBytes());
  }

  @Test
  void rangesMayTouchAndAreAllDeletedAtOnce() {
    HostMemoryCache cache = paged();
    cache.create(HmcObject.QP, 10, 5);
    cache.create(HmcObject.QP, 0, 10);
    cache.create(HmcObject.QP, 15, 5);
    cache.create(HmcObject.QP, 100, 5);
    assertThrows(HmcException.class, () -> cache.create(HmcObject.QP, 99, 2));
    assertEquals(25, cache.count(HmcObject.QP));
    cache.delete(HmcObject.QP);
    assertEquals(0, cache.count(HmcObject.QP));
    assertEquals(0, memory.dmaUsage().currentBytes());
    assertTrue(device.table().isEmpty());
  }

  @Test
  void extentsOfOneSegmentComeAndGoAlone() {
    HostMemoryCache cache = paged();
    Extent first = cache.extend(PBLES, 4);
    Extent second = cache.extend(PBLES + 4 * PAGE, 4);
    assertThrows(HmcException.class, () -> cache.extend(PBLES + 3 * PAGE, 1));
    assertThrows(HmcException.class, () -> cache.extend(PBLES + PAGE, 1));
    assertThrows(HmcException.class, () -> cache.extend(PBLES + 7 * PAGE, 2));
    cache.release(first);
    assertThrows(PciException.class, () -> device.read(PBLES + 3 * PAGE));
    assertEquals(0, device.read(PBLES + 4 * PAGE));
    assertThrows(HmcException.class, () -> cache.release(first));
    cache.release(cache.extend(PBLES, 4));
    cache.release(second);
    assertEquals(0, memory.dmaUsage().currentBytes());
    assertTrue(device.table().isEmpty());
  }

  /**
   * Whichever call the device refuses while an extent is given back, the extent stays whole and can
   * be given back afterwards. Fails if a page stays hidden from the device, a count of users is not
   * restored, or memory goes.
   */
  @Test
  void anExtentThatCannotBeGivenBackStays() {
    for (int refused = 1; refused <= 6; refused++) {
      HostMemoryCache cache = paged();
      long address = 2 * HostMemoryCache.SEGMENT_SIZE;
      Extent neighbour = cache.extend(PBLES, 1);
      Extent extent = cache.extend(address, 5);
      List<SegmentUse> before = cache.segments();
      long bytes = memory.dmaUsage().currentBytes();
      List<Long> places = places(address, 5);

      device.failCall(refused, false);
      assertThrows(HmcDevice.Refused.class, () -> cache.release(extent));
      assertEquals(before, cache.segments());
      assertEquals(bytes, memory.dmaUsage().currentBytes());
      assertEquals(places, places(address, 5));
      assertThrows(HmcException.class, () -> cache.extend(address, 1));
      extent.segmentView().set(ValueLayout.JAVA_LONG, 4 * PAGE + 8, refused);
      assertEquals(refused, device.read(address + 4 * PAGE + 8));

      cache.release(extent);
      assertEquals(List.of(before.getFirst()), cache.segments());
      cache.release(neighbour);
      assertEquals(0, memory.dmaUsage().currentBytes());
      assertTrue(device.table().isEmpty());
      cache.close();
    }
  }

  /** Where the device finds pages. */
  private List<Long> places(long address, int pages) {
    List<Long> places = new ArrayList<>();
    for (int page = 0; page < pages; page++) {
      places.add(device.translate(address + (long) page * PAGE));
    }
    return places;
  }

  /** The page that holds the last queue pairs may hold the first PBLEs too. */
  @Test
  void pagesOfObjectsAreNotHandedOut() {
    HmcLayout shared =
        new HmcLayout(
            Map.of(
                HmcObject.QP, new HmcLayout.Area(0, 17, 512),
                HmcObject.PBLE, new HmcLayout.Area(2 * PAGE, 4096, 8)),
            1);
    HostMemoryCache cache = new HostMemoryCache(memory, device, shared, SegmentType.PAGED);
    cache.create(HmcObject.QP);
    assertThrows(HmcException.class, () -> cache.extend(2 * PAGE, 2));
    cache.release(cache.extend(3 * PAGE, 2));
    cache.delete(HmcObject.QP);
    cache.release(cache.extend(2 * PAGE, 2));
    assertEquals(0, memory.dmaUsage().currentBytes());
  }

  /**
   * A device that misses the first invalidation of an undoing keeps the memory it may still use.
   */
  @Test
  void memoryThatTheDeviceMayUseIsKept() {
    int[] calls = {0};
    SegmentProgrammer deaf =
        new SegmentProgrammer() {
          @Override
          public void updateSegments(List<SegmentUpdate> list) {}

          @Override
          public void invalidatePage(int segment, int page) {
            calls[0]++;
            if (calls[0] == 2 || calls[0] == 3) {
              throw new IllegalStateException("call " + calls[0]);
            }
          }
        };
    HostMemoryCache cache = new HostMemoryCache(memory, deaf, LAYOUT, SegmentType.PAGED);
    IllegalStateException failure =
        assertThrows(IllegalStateException.class, () -> cache.extend(PBLES, 3));
    assertEquals("call 2", failure.getMessage());
    assertEquals("call 3", failure.getSuppressed()[0].getMessage());
    assertEquals(4, calls[0]);
    assertEquals(3 * PAGE, memory.dmaUsage().currentBytes());
    assertEquals(0, cache.segmentCount());
    cache.close();
    assertEquals(0, memory.dmaUsage().currentBytes());
  }

  @Test
  void aPageThatStaysIsAnnouncedAgain() {
    HostMemoryCache cache = paged();
    cache.create(HmcObject.QP, 0, 1);
    device.takeInvalidations();
    device.failCall(2, false);
    assertThrows(HmcDevice.Refused.class, () -> cache.delete(HmcObject.QP));
    assertEquals(2, device.takeInvalidations().size());
    assertEquals(1, cache.count(HmcObject.QP));
    assertEquals(0, device.read(0));
    cache.delete(HmcObject.QP);
    assertEquals(0, memory.dmaUsage().currentBytes());
  }

  /** Fails if objects are listed in the order of their kinds, not of their addresses. */
  @Test
  void objectsAreListedByAddress() {
    HmcLayout turned =
        new HmcLayout(
            Map.of(
                HmcObject.QP, new HmcLayout.Area(4096, 8, 512),
                HmcObject.PBLE, new HmcLayout.Area(0, 512, 8)),
            1);
    HostMemoryCache cache = new HostMemoryCache(memory, device, turned, SegmentType.PAGED);
    assertEquals(
        List.of(HmcObject.PBLE, HmcObject.QP),
        cache.objects().stream().map(ObjectUse::kind).toList());
  }

  /** Fails if a segment is made beyond those of the layout. */
  @Test
  void noSegmentIsMadeBeyondTheLast() {
    HmcLayout cut = new HmcLayout(Map.of(HmcObject.QP, new HmcLayout.Area(0, 8192, 512)), 1);
    HostMemoryCache cache = new HostMemoryCache(memory, device, cut, SegmentType.DIRECT);
    assertThrows(HmcException.class, () -> cache.create(HmcObject.QP, 4096, 1));
    assertEquals(0, memory.dmaUsage().currentBytes());
  }

  /** Fails if a device that would not forget a segment is not told of it again. */
  @Test
  void aSegmentThatStaysIsAnnouncedAgain() {
    List<SegmentUpdate> told = new ArrayList<>();
    SegmentProgrammer stubborn =
        new SegmentProgrammer() {
          @Override
          public void updateSegments(List<SegmentUpdate> list) {
            told.addAll(list);
            if (!list.getFirst().valid()) {
              throw new IllegalStateException("stays");
            }
          }

          @Override
          public void invalidatePage(int segment, int page) {}
        };
    HostMemoryCache cache = new HostMemoryCache(memory, stubborn, LAYOUT, SegmentType.DIRECT);
    cache.create(HmcObject.QP, 0, 1);
    SegmentUpdate there = told.getFirst();
    assertThrows(IllegalStateException.class, () -> cache.delete(HmcObject.QP, 0, 1));
    assertEquals(List.of(there, new SegmentUpdate(0, SegmentType.DIRECT, 0, false), there), told);
    assertEquals(1, cache.count(HmcObject.QP));
    cache.close();
    assertEquals(0, memory.dmaUsage().currentBytes());
  }
}
