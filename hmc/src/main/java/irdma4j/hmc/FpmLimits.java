package irdma4j.hmc;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.FpmQueryBuffer;
import irdma4j.hwregs.HmcObject;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * What the card lets a function have in its Host Memory Cache: the answer to QUERY_FPM.
 *
 * @param objects for each kind, the most there can be and the bytes of one
 * @param firstSegment index of the function's first segment descriptor
 * @param maxSegments number of segment descriptors, of 2 MiB each
 * @param maxCeqs most completion event queues
 * @param xfBlockSize transmit FIFO entries of a free-list block
 * @param q1BlockSize incoming read requests of a free-list block
 * @param hashTableMultiplier hash table entries for each one that is wanted
 * @param timerBucket timers of a bucket
 * @param rrfBlockSize read response FIFO entries of a free-list block
 * @param ooiscBlockSize out-of-order contexts of a free-list block
 */
public record FpmLimits(
    Map<HmcObject, Limit> objects,
    int firstSegment,
    int maxSegments,
    int maxCeqs,
    long xfBlockSize,
    long q1BlockSize,
    int hashTableMultiplier,
    int timerBucket,
    long rrfBlockSize,
    long ooiscBlockSize) {

  /**
   * The limit of one kind of object.
   *
   * @param maxCount the most there can be
   * @param size bytes of one
   */
  public record Limit(long maxCount, long size) {}

  /** Copies the map. */
  public FpmLimits {
    objects = Collections.unmodifiableMap(new EnumMap<>(objects));
  }

  /** The limit of one kind. */
  public Limit of(HmcObject kind) {
    Limit limit = objects.get(kind);
    return limit == null ? new Limit(0, 1) : limit;
  }

  /**
   * Reads the answer to QUERY_FPM.
   *
   * @param buffer at least {@link FpmQueryBuffer#SIZE} bytes
   * @throws HmcException if a block size is zero where there are objects to be put in blocks
   */
  public static FpmLimits parse(MemorySegment buffer) {
    EnumMap<HmcObject, Limit> objects = new EnumMap<>(HmcObject.class);
    for (HmcObject kind : HmcObject.values()) {
      Field maximum = kind.maximum();
      Field logSize = kind.logSize();
      long count = maximum == null ? 1 : maximum.get(buffer, 0);
      long size = logSize == null ? kind.fixedSize() : 1L << (logSize.get(buffer, 0) & 63);
      objects.put(kind, new Limit(count, size));
    }
    FpmLimits limits =
        new FpmLimits(
            objects,
            (int) FpmQueryBuffer.FIRST_PE_SD_INDEX.get(buffer, 0),
            (int) FpmQueryBuffer.MAX_PE_SDS.get(buffer, 0),
            (int) FpmQueryBuffer.MAX_CEQS.get(buffer, 0),
            FpmQueryBuffer.XFBLOCKSIZE.get(buffer, 0),
            FpmQueryBuffer.Q1BLOCKSIZE.get(buffer, 0),
            (int) FpmQueryBuffer.HTMULTIPLIER.get(buffer, 0),
            (int) FpmQueryBuffer.TIMERBUCKET.get(buffer, 0),
            FpmQueryBuffer.RRFBLOCKSIZE.get(buffer, 0),
            FpmQueryBuffer.OOISCFBLOCKSIZE.get(buffer, 0));
    requireBlock("XF", limits.xfBlockSize, 1);
    requireBlock("Q1", limits.q1BlockSize, 1);
    requireBlock("RRF", limits.rrfBlockSize, limits.of(HmcObject.RRFFL).maxCount());
    requireBlock("OOISC", limits.ooiscBlockSize, limits.of(HmcObject.OOISCFFL).maxCount());
    return limits;
  }

  /** Objects beyond a segment's size don't exist; their sums would overflow. */
  void requireSensibleSize(HmcObject kind) {
    long size = of(kind).size();
    if (size < 1 || size > HostMemoryCache.SEGMENT_SIZE) {
      throw new HmcException(
          "the card reports %s bytes for one of %s".formatted(Long.toUnsignedString(size), kind));
    }
  }

  private static void requireBlock(String kind, long blockSize, long users) {
    if (blockSize == 0 && users != 0) {
      throw new HmcException("the card reports a block size of 0 for " + kind);
    }
  }
}
