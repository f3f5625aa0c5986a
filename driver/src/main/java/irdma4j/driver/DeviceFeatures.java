package irdma4j.driver;

import irdma4j.hwregs.RdmaFeature;
import irdma4j.hwregs.cqp.QueryRdmaFeatures;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the firmware says of itself.
 *
 * <p>Source: Linux irdma_get_rdma_features in ctrl.c.
 *
 * @param values the 48 bits of each feature, by its type; types that are not known are left out
 */
record DeviceFeatures(Map<Integer, Long> values) {
  /** Number of types that are known. */
  static final int TYPES = 27;

  private static final int FIRMWARE_VERSION = 0;
  private static final int FEWEST = 2;
  private static final int ALIGNMENT = 8;

  /**
   * Asks for them, once more if they need a larger buffer.
   *
   * @throws RdmaException if the answer makes no sense
   */
  static DeviceFeatures query(PciFunction function, ControlQueue control) {
    int words = TYPES;
    while (true) {
      int bytes = words * RdmaFeature.SIZE;
      try (DmaMemory buffer = function.allocateDma(bytes, ALIGNMENT)) {
        control.execute(new QueryRdmaFeatures(buffer.iova(), bytes));
        MemorySegment answer = buffer.segment();
        int count = (int) RdmaFeature.FEATURE_CNT.get(answer, 0);
        if (count < FEWEST) {
          throw new RdmaException("the device reports " + count + " feature words");
        }
        if (count <= words) {
          return decode(answer, count);
        }
        if (words > TYPES) {
          throw new RdmaException(
              "the device reports %d feature words, then %d".formatted(words, count));
        }
        words = count;
      }
    }
  }

  private static DeviceFeatures decode(MemorySegment answer, int count) {
    Map<Integer, Long> values = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      long at = (long) i * RdmaFeature.SIZE;
      int type = (int) RdmaFeature.FEATURE_TYPE.get(answer, at);
      if (type < TYPES) {
        values.put(type, RdmaFeature.FEATURE_INFO.get(answer, at));
      }
    }
    return new DeviceFeatures(values);
  }

  /** The firmware's version, "major.minor". */
  String firmwareVersion() {
    long version = values.getOrDefault(FIRMWARE_VERSION, 0L);
    return "%d.%d".formatted(version >>> 16 & 0xffff, version & 0xffff);
  }
}
