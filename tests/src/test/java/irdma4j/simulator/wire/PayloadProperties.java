package irdma4j.simulator.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
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
    return fill(payload, sizes, random, new ArrayList<>());
  }

  private static byte[] fill(
      Payload payload, List<Integer> sizes, Random random, List<byte[]> memories) {
    ByteArrayOutputStream model = new ByteArrayOutputStream();
    for (int size : sizes) {
      byte[] memory = new byte[MEMORY];
      random.nextBytes(memory);
      memories.add(memory);
      int at = random.nextInt(MEMORY - size + 1);
      payload.add(MemorySegment.ofArray(memory), at, size);
      model.write(memory, at, size);
    }
    return model.toByteArray();
  }

  /**
   * Fails if bytes that a payload owns, or shares with one that does, still are in the memory that
   * they came from, or if it forgets how many packets they are.
   */
  @Property(tries = 100)
  void ownedBytesStayAsTheyWere(
      @ForAll @Size(min = 1, max = 6) List<@IntRange(min = 1, max = MEMORY) Integer> sizes,
      @ForAll @IntRange(min = 1, max = 8) int packets,
      @ForAll long seed) {
    Random random = new Random(seed);
    Payload payload = new Payload();
    payload.own();
    assertTrue(payload.isEmpty());
    List<byte[]> memories = new ArrayList<>();
    byte[] model = fill(payload, sizes, random, memories);
    payload.carries(packets);
    payload.own();
    memories.forEach(random::nextBytes);
    Payload other = new Payload();
    fill(other, sizes, random);
    other.share(payload);
    payload.own();
    for (Payload one : List.of(payload, other)) {
      assertEquals(packets, one.packets());
      assertEquals(model.length, one.bytes());
      byte[] found = new byte[model.length];
      one.copyTo(0, MemorySegment.ofArray(found), 0, model.length);
      assertArrayEquals(model, found);
    }
    payload.clear();
    assertEquals(1, payload.packets());
    assertEquals(packets, other.packets());
  }

  /** Fails if a packet's bytes are looked for elsewhere than behind those of the packets before. */
  @Example
  void eachPacketHasItsBytes() {
    Payload payload = new Payload();
    payload.add(MemorySegment.ofArray(new byte[] {0, 1, 2, 3, 4}), 1, 4);
    payload.add(MemorySegment.ofArray(new byte[] {5, 6, 7}), 0, 2);
    payload.carries(3);
    assertEquals(List.of(0, 3), List.of(payload.first(), payload.packets()));
    byte[] two = new byte[2];
    for (int packet = 0; packet < 3; packet++) {
      payload.startAt(2L * packet);
      payload.copyTo(0, MemorySegment.ofArray(two), 0, 2);
      assertArrayEquals(new byte[] {(byte) (2 * packet + 1), (byte) (2 * packet + 2)}, two);
      payload.copyTo(1, MemorySegment.ofArray(two), 0, 1);
      assertEquals(2 * packet + 2, two[0]);
      assertEquals(packet == 2, payload.isLast(packet));
    }
    assertThrows(
        IndexOutOfBoundsException.class,
        () -> payload.copyTo(0, MemorySegment.ofArray(new byte[3]), 0, 3));
    payload.handle(1, 1);
    assertEquals(List.of(1, 1), List.of(payload.first(), payload.packets()));
    assertFalse(payload.isLast(1));
    payload.handle(2, 1);
    assertTrue(payload.isLast(2));
    payload.clear();
    assertEquals(List.of(0, 1), List.of(payload.first(), payload.packets()));
  }
}
