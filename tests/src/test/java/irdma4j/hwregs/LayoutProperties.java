package irdma4j.hwregs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Every field of every layout holds what was put there, and nothing else. */
class LayoutProperties {
  @Provide
  Arbitrary<Layout> layout() {
    return Arbitraries.of(Layouts.all());
  }

  /**
   * Random values, written field by field into bytes that were random before, read back as
   * themselves, and the bits that no field owns stay. It fails if two fields of one case overlap or
   * a field writes beyond its bits.
   */
  @Property(tries = 3000)
  void valuesReadBackAsWritten(@ForAll("layout") Layout layout, @ForAll long seed) {
    Random random = new Random(seed);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(layout.size(), 8);
      for (long at = 0; at < layout.size(); at += 8) {
        LittleEndian.setLong(memory, at, random.nextLong());
      }
      MemorySegment before = arena.allocate(layout.size(), 8).copyFrom(memory);
      List<Field> fields = oneCase(layout, random);
      long[] values = new long[fields.size()];
      for (int i = 0; i < values.length; i++) {
        values[i] = random.nextLong() & fields.get(i).max();
        fields.get(i).set(memory, 0, values[i]);
      }
      for (int i = 0; i < values.length; i++) {
        assertEquals(values[i], fields.get(i).get(memory, 0), fields.get(i).name());
      }
      for (int at = 0; at < layout.size(); at += 8) {
        int offset = at;
        long owned =
            fields.stream()
                .filter(field -> field.offset() == offset)
                .mapToLong(Field::mask)
                .reduce(0, (a, b) -> a | b);
        long was = LittleEndian.getLong(before, at);
        assertEquals(was & ~owned, LittleEndian.getLong(memory, at) & ~owned);
      }
    }
  }

  /** Picks, of fields that share bits, one at random. */
  private static List<Field> oneCase(Layout layout, Random random) {
    List<Field> shuffled = new java.util.ArrayList<>(layout.fields());
    java.util.Collections.shuffle(shuffled, random);
    List<Field> chosen = new java.util.ArrayList<>();
    for (Field field : shuffled) {
      boolean free =
          chosen.stream()
              .noneMatch(
                  other -> other.offset() == field.offset() && (other.mask() & field.mask()) != 0);
      if (free) {
        chosen.add(field);
      }
    }
    return chosen;
  }

  /** A value with a bit beyond the field is refused, with the field's name, width and the value. */
  @Property(tries = 1000)
  void tooWideIsRefused(@ForAll("layout") Layout layout, @ForAll long value) {
    for (Field field : layout.fields()) {
      if (field.width() < 64 && (value & ~field.max()) != 0) {
        FieldRangeException refused =
            assertThrows(FieldRangeException.class, () -> field.encode(value));
        assertTrue(refused.getMessage().contains(field.name()));
        assertTrue(refused.getMessage().contains(String.valueOf(field.width())));
        assertTrue(refused.getMessage().contains(Long.toHexString(value)));
      }
    }
  }

  @Example
  void namesAreUniqueAndMeaningsSaySomething() {
    Set<String> names = new HashSet<>();
    for (Layout layout : Layouts.all()) {
      assertTrue(names.add(layout.name()), layout.name());
      Set<String> fields = new HashSet<>();
      for (Field field : layout.fields()) {
        assertTrue(fields.add(field.name()), layout.name() + " " + field.name());
        assertTrue(field.meaning().length() > 3, layout.name() + " " + field.name());
      }
    }
  }
}
