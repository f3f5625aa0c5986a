package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.vectors.Json;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * What Linux's driver did to the card, to compare ours with. The two take their DMA memory at
 * different IOVAs, so a page of the one stands for a page of the other, always the same.
 */
final class RecordedTrace {
  private static final long FIRST_IOVA = 0xa5_0000_0000L;
  private static final long LAST_IOVA = 0xa6_0000_0000L;
  private static final long PAGE = 4096;
  private static final int CONTEXT_WORD = 1;
  private static final int HEADER_WORD = 3;

  private final Map<Long, Long> pages = new HashMap<>();
  private final Map<Long, Long> pagesBack = new HashMap<>();

  /** The register accesses and WQEs of a trace. */
  static List<ScriptedCard.Event> events(List<Json> trace) {
    List<ScriptedCard.Event> events = new ArrayList<>();
    for (Json event : trace) {
      switch (event.text("op")) {
        case "W", "R" ->
            events.add(
                new ScriptedCard.Event.Access(
                    event.text("op").equals("W"), event.number("reg"), event.integer("val")));
        case "cqp_wqe" ->
            events.add(new ScriptedCard.Event.Wqe(event.integer("idx"), event.text("hex")));
        default -> {}
      }
    }
    return events;
  }

  /** Compares step by step. */
  void compare(List<ScriptedCard.Event> linux, List<ScriptedCard.Event> ours) {
    for (int i = 0; i < Math.min(linux.size(), ours.size()); i++) {
      String at = "step " + i + " of " + linux + " and " + ours;
      switch (linux.get(i)) {
        case ScriptedCard.Event.Access theirs -> access(at, theirs, ours.get(i));
        case ScriptedCard.Event.Wqe theirs -> {
          ScriptedCard.Event.Wqe wqe = (ScriptedCard.Event.Wqe) ours.get(i);
          assertEquals(theirs.slot(), wqe.slot(), at);
          wqe(at, words(theirs.hex()), words(wqe.hex()));
        }
      }
    }
    assertEquals(linux.size(), ours.size(), linux + " and " + ours);
  }

  private static void access(String at, ScriptedCard.Event.Access theirs, ScriptedCard.Event ours) {
    boolean address =
        theirs.write()
            && (theirs.offset() == Registers.PFPE_CCQPLOW.offset()
                || theirs.offset() == Registers.PFPE_CCQPHIGH.offset());
    if (!address || theirs.value() == 0) {
      assertEquals(theirs, ours, at);
      return;
    }
    // The context's address is not Linux's, but neither half may be missing.
    ScriptedCard.Event.Access access = (ScriptedCard.Event.Access) ours;
    assertEquals(theirs.offset(), access.offset(), at);
    assertTrue(access.write() && access.value() != 0, at);
  }

  private void wqe(String at, long[] theirs, long[] ours) {
    int opcode = (int) (theirs[HEADER_WORD] >>> 32) & 0x3f;
    for (int i = 0; i < theirs.length; i++) {
      String where = "word " + i + " of " + at;
      if (i == CONTEXT_WORD && isCqContext(opcode)) {
        assertTrue(theirs[i] != 0 && ours[i] != 0, where);
      } else if (theirs[i] >= FIRST_IOVA && theirs[i] < LAST_IOVA) {
        assertEquals(theirs[i] % PAGE, ours[i] % PAGE, where);
        Long known = pages.putIfAbsent(theirs[i] / PAGE, ours[i] / PAGE);
        assertTrue(known == null || known == ours[i] / PAGE, where);
        Long back = pagesBack.putIfAbsent(ours[i] / PAGE, theirs[i] / PAGE);
        assertTrue(back == null || back == theirs[i] / PAGE, where);
      } else {
        assertEquals(Long.toHexString(theirs[i]), Long.toHexString(ours[i]), where);
      }
    }
  }

  /** A completion queue's context is the driver's own business. */
  private static boolean isCqContext(int opcode) {
    return opcode == CqpOpcode.CREATE_CQ.code() || opcode == CqpOpcode.DESTROY_CQ.code();
  }

  private static long[] words(String hex) {
    ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(hex)).order(ByteOrder.LITTLE_ENDIAN);
    long[] words = new long[bytes.remaining() / Long.BYTES];
    bytes.asLongBuffer().get(words);
    return words;
  }
}
