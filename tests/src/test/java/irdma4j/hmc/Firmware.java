package irdma4j.hmc;

import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;

/** How the vectors' firmware answers COMMIT_FPM: objects in a row, each kind from 512 bytes on. */
public final class Firmware {
  private Firmware() {}

  /**
   * Answers in place.
   *
   * @param pbleLast whether PBLEs come after everything else
   */
  public static void answer(MemorySegment buffer, FpmLimits limits, boolean pbleLast) {
    List<HmcObject> order = new ArrayList<>(List.of(HmcObject.values()));
    if (pbleLast) {
      order.remove(HmcObject.PBLE);
      order.add(HmcObject.PBLE);
    }
    long base = 0;
    for (HmcObject kind : order) {
      long asked = FpmCommitBuffer.COUNT.get(buffer, kind.commitOffset());
      LittleEndian.setLong(
          buffer, kind.commitOffset(), asked | ((base / FpmCommitBuffer.BASE_UNIT) << 32));
      long count = kind == HmcObject.APBVT ? 1 : asked;
      base += (count * limits.of(kind).size() + 511) / 512 * 512;
    }
  }

  /** Plans as Linux does, commits, and reads the answer. */
  static HmcLayout layout(HmcPlan plan, FpmLimits limits, boolean pbleLast) {
    MemorySegment buffer = Arena.ofAuto().allocate(FpmCommitBuffer.SIZE, 8);
    plan.encode(buffer);
    answer(buffer, limits, pbleLast);
    return HmcLayout.parse(buffer, plan, limits);
  }

  /** Objects of all kinds in a row, in an order, from the given counts and sizes. */
  static HmcLayout row(List<HmcObject> order, EnumMap<HmcObject, long[]> countAndSize) {
    EnumMap<HmcObject, HmcLayout.Area> areas = new EnumMap<>(HmcObject.class);
    long base = 0;
    for (HmcObject kind : order) {
      long[] pair = countAndSize.get(kind);
      if (pair != null) {
        areas.put(kind, new HmcLayout.Area(base, pair[0], pair[1]));
        base += (pair[0] * pair[1] + 511) / 512 * 512;
      }
    }
    long segment = HostMemoryCache.SEGMENT_SIZE;
    return new HmcLayout(areas, (base + segment - 1) / segment);
  }
}
