package irdma4j.hmc;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.UpdatePeSds;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Control operations as bytes, without what depends on the place in the ring. */
final class UpdateBytes {
  private static final int AT_ONCE = 11;
  private static final int IN_WQE = 3;

  private UpdateBytes() {}

  /** The operations, and after each the entries that don't fit into it, that an update takes. */
  static List<String> of(List<SegmentUpdate> updates) {
    List<String> bytes = new ArrayList<>();
    for (int from = 0; from < updates.size(); from += AT_ONCE) {
      List<SegmentUpdate> some = updates.subList(from, Math.min(updates.size(), from + AT_ONCE));
      SegmentUpdate second = some.size() > 1 ? some.get(1) : null;
      SegmentUpdate third = some.size() > 2 ? some.get(2) : null;
      List<SegmentUpdate> rest = some.subList(Math.min(IN_WQE, some.size()), some.size());
      bytes.addAll(
          of(
              new UpdatePeSds(
                  some.get(0).command(),
                  some.get(0).data(),
                  0,
                  0,
                  second == null ? 0 : second.command(),
                  second != null,
                  second == null ? 0 : second.data(),
                  third == null ? 0 : third.command(),
                  third != null,
                  third == null ? 0 : third.data(),
                  rest.size(),
                  false)));
      if (!rest.isEmpty()) {
        MemorySegment memory = Arena.ofAuto().allocate(rest.size() * 16L, 8);
        for (int i = 0; i < rest.size(); i++) {
          LittleEndian.setLong(memory, i * 16L, Integer.toUnsignedLong(rest.get(i).command()));
          LittleEndian.setLong(memory, i * 16L + 8, rest.get(i).data());
        }
        bytes.add(HexFormat.of().formatHex(memory.toArray(ValueLayout.JAVA_BYTE)));
      }
    }
    return bytes;
  }

  static List<String> of(CqpCommand command) {
    MemorySegment wqe = Arena.ofAuto().allocate(64, 8);
    LittleEndian.setLong(wqe, 24, command.encode(wqe, 0));
    return List.of(HexFormat.of().formatHex(wqe.toArray(ValueLayout.JAVA_BYTE)));
  }

  /** Recorded operations with the valid bit and the buffer's address cleared. */
  static List<String> withoutRing(List<String> recorded) {
    return recorded.stream().map(UpdateBytes::withoutRing).toList();
  }

  private static String withoutRing(String hex) {
    if (hex.length() != 128) {
      return hex;
    }
    byte[] bytes = HexFormat.of().parseHex(hex);
    bytes[31] &= 0x7f;
    bytes[16] &= 0x3f;
    java.util.Arrays.fill(bytes, 17, 24, (byte) 0);
    return HexFormat.of().formatHex(bytes);
  }
}
