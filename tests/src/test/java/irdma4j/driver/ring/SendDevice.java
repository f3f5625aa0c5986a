package irdma4j.driver.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.QpShadow;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.SqWqe;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * The device's end of a send queue, from the layouts alone: it finds WQEs by their valid bits.
 *
 * <p>Awake, it fetches. When it finds no new WQE it publishes its tail, looks once more, and goes
 * to sleep; only a doorbell wakes it, and a doorbell that comes while it is awake is forgotten.
 */
final class SendDevice {
  /** What stands in a WQE; the index is that of its first quantum. */
  record Fetched(int index, int opcode, boolean signaled, String content) {}

  private enum State {
    ASLEEP,
    LOOKING,
    PUBLISHED
  }

  private final MemorySegment memory;
  private final int size;
  private final MemorySegment shadow;
  private final List<Fetched> fetched = new ArrayList<>();
  private State state = State.ASLEEP;
  private int index;
  private int polarity = 1;

  SendDevice(MemorySegment memory, int size, MemorySegment shadow) {
    this.memory = memory;
    this.size = size;
    this.shadow = shadow;
  }

  void doorbell() {
    if (state == State.ASLEEP) {
      state = State.LOOKING;
    }
  }

  boolean isAsleep() {
    return state == State.ASLEEP;
  }

  /** Everything fetched, padding included. */
  List<Fetched> fetched() {
    return fetched;
  }

  /** Does one thing, if awake. */
  void step() {
    switch (state) {
      case LOOKING -> {
        if (isNew()) {
          fetch();
        } else {
          LittleEndian.setLong(shadow, 0, QpShadow.HW_SQ_TAIL.encode(index));
          state = State.PUBLISHED;
        }
      }
      case PUBLISHED -> state = isNew() ? State.LOOKING : State.ASLEEP;
      case ASLEEP -> {}
    }
  }

  private boolean isNew() {
    return SqWqe.VALID.get(memory, base(index)) == polarity;
  }

  private void fetch() {
    long base = base(index);
    long header = LittleEndian.getLong(memory, base + 24);
    int opcode = (int) SqWqe.OPCODE.decode(header);
    boolean single = opcode == SqOpcode.NOP.code() || opcode == SqOpcode.LOCAL_INVALIDATE.code();
    StringBuilder content = new StringBuilder();
    content.append(Long.toHexString(LittleEndian.getLong(memory, base + 16)));
    content.append('/').append(SqWqe.REMSTAG.decode(header));
    int quanta;
    if (single) {
      quanta = 1;
      content.append(" stag ").append(SqWqe.LOCSTAG.get(memory, base));
    } else if (SqWqe.INLINEDATAFLAG.isSet(header)) {
      quanta = inline(base, (int) SqWqe.INLINEDATALEN.decode(header), content);
    } else {
      quanta = fragments(base, (int) SqWqe.ADDFRAGCNT.decode(header), header, content);
    }
    if (SqWqe.IMMDATAFLAG.isSet(header)) {
      content.append(" immediate ").append(LittleEndian.getLong(memory, base));
    }
    assertTrue(index % 8 + quanta <= 8, "WQE at " + index + " crosses a chunk");
    for (int i = 1; i < quanta; i++) {
      assertEquals(polarity, SqWqe.VALID.get(memory, base(index + i)), "quantum " + (index + i));
    }
    fetched.add(new Fetched(index, opcode, SqWqe.SIGCOMPL.isSet(header), content.toString()));
    index += quanta;
    if (index == size) {
      index = 0;
      polarity ^= 1;
    }
  }

  private int fragments(long base, int additional, long header, StringBuilder content) {
    assertEquals(0, additional % 2, "fragments come in pairs");
    if (!SqWqe.IMMDATAFLAG.isSet(header)) {
      fragment(base, content);
    }
    for (int i = 0; i < additional; i++) {
      fragment(base + 32 + 16L * i, content);
    }
    return 1 + additional / 2;
  }

  private void fragment(long at, StringBuilder content) {
    long word = LittleEndian.getLong(memory, at + 8);
    assertEquals(polarity, SqWqe.FRAG_VALID.decode(word), "fragment");
    if (SqWqe.FRAG_LEN.decode(word) != 0) {
      content.append(
          " %x+%d key %d"
              .formatted(
                  LittleEndian.getLong(memory, at),
                  SqWqe.FRAG_LEN.decode(word),
                  SqWqe.FRAG_STAG.decode(word)));
    }
  }

  private int inline(long base, int bytes, StringBuilder content) {
    byte[] data = new byte[bytes];
    int quanta = 1;
    for (int i = 0; i < bytes; i++) {
      long at = i < 8 ? base + 8 + i : base + 32 + (i - 8) / 31 * 32L + (i - 8) % 31;
      data[i] = memory.get(ValueLayout.JAVA_BYTE, at);
      quanta = i < 8 ? 1 : 2 + (i - 8) / 31;
    }
    content.append(" inline ").append(HexFormat.of().formatHex(data));
    return quanta;
  }

  private static long base(int index) {
    return (long) index * 32;
  }
}
