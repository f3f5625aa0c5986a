package irdma4j.simulator.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** A payload in pieces is the pieces' bytes one after the other. */
class PayloadProperties {
  private static final int MEMORY = 64;

  /**
   * Fails if a part is taken from the wrong piece or place, a piece is lost when there are many, or
   * what was there before {@code clear} shows.
   */
  @Property
  void partsAreThoseOfThePiecesInARow(
      @ForAll @Size(max = 20) List<@IntRange(max = MEMORY) Integer> sizes,
      @ForAll @Size(max = 20) List<@IntRange(max = MEMORY) Integer> before,
      @ForAll long seed) {
    Random random = new Random(seed);
    Payload payload = new Payload();
    fill(payload, before, random);
    payload.clear();
    assertTrue(payload.isEmpty());
    byte[] model = fill(payload, sizes, random);
    assertEquals(sizes.isEmpty(), payload.isEmpty());
    assertEquals(model.length, payload.bytes());
    for (int i = 0; i < 10; i++) {
      int from = random.nextInt(model.length + 1);
      int bytes = random.nextInt(model.length - from + 1);
      byte[] found = new byte[model.length + 8];
      payload.copyTo(from, MemorySegment.ofArray(found), 5, bytes);
      byte[] expected = new byte[model.length + 8];
      System.arraycopy(model, from, expected, 5, bytes);
      assertArrayEquals(expected, found);
    }
    MemorySegment enough = MemorySegment.ofArray(new byte[2 * model.length + 8]);
    assertThrows(
        IndexOutOfBoundsException.class, () -> payload.copyTo(0, enough, 0, model.length + 1L));
    assertThrows(IndexOutOfBoundsException.class, () -> payload.copyTo(model.length, enough, 0, 1));
    assertThrows(IndexOutOfBoundsException.class, () -> payload.copyTo(-1, enough, 0, 1));
    assertThrows(IndexOutOfBoundsException.class, () -> payload.copyTo(1, enough, 0, -1));
  }

  private static byte[] fill(Payload payload, List<Integer> sizes, Random random) {
    ByteArrayOutputStream model = new ByteArrayOutputStream();
    for (int size : sizes) {
      byte[] memory = new byte[MEMORY];
      random.nextBytes(memory);
      int at = random.nextInt(MEMORY - size + 1);
      payload.add(MemorySegment.ofArray(memory), at, size);
      model.write(memory, at, size);
    }
    return model.toByteArray();
  }

  /** Fails if bytes that were lent do not come to stand at their place, or are still lent then. */
  @Property(tries = 100)
  void carriedBytesStandInTheFrame(
      @ForAll @Size(min = 1, max = 6) List<@IntRange(min = 1, max = MEMORY) Integer> sizes,
      @ForAll @IntRange(max = 60) int at,
      @ForAll long seed) {
    Payload payload = new Payload();
    payload.add(MemorySegment.ofArray(new byte[MEMORY]), 0, MEMORY);
    payload.begin(at);
    byte[] model = fill(payload, sizes, new Random(seed));
    byte[] frame = new byte[at + model.length + 4];
    payload.carry(MemorySegment.ofArray(frame));
    byte[] expected = new byte[frame.length];
    System.arraycopy(model, 0, expected, at, model.length);
    assertArrayEquals(expected, frame);
    assertTrue(payload.isEmpty());
    MemorySegment same = MemorySegment.ofArray(frame);
    payload.carry(same);
    assertArrayEquals(expected, same.toArray(ValueLayout.JAVA_BYTE));
  }
}
