package irdma4j.hmc;

import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * How many objects of each kind a function will have: what COMMIT_FPM asks for.
 *
 * @param counts objects of each kind
 * @param segments segments of 2 MiB that they need together
 * @param rounds rounds that the search took
 * @param notes what was given up, and why
 */
public record HmcPlan(Map<HmcObject, Long> counts, long segments, int rounds, List<String> notes) {

  /** Copies the map and the list. */
  public HmcPlan {
    notes = List.copyOf(notes);
    counts = Collections.unmodifiableMap(new EnumMap<>(counts));
  }

  /** Objects of one kind. */
  public long count(HmcObject kind) {
    return counts.getOrDefault(kind, 0L);
  }

  /** Writes the counts where COMMIT_FPM expects them. */
  public void encode(MemorySegment buffer) {
    buffer.asSlice(0, FpmCommitBuffer.SIZE).fill((byte) 0);
    for (HmcObject kind : HmcObject.values()) {
      if (kind.isCommitted()) {
        LittleEndian.setLong(
            buffer, kind.commitOffset(), FpmCommitBuffer.COUNT.encode(count(kind)));
      }
    }
  }
}
