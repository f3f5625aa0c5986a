package irdma4j.driver.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * What the consumers of a connection tell each other in its messages. On the wire it has the length
 * that its message gives it, with zeros at the end. Immutable.
 */
public final class PrivateData {
  /** Nothing. */
  public static final PrivateData NONE = new PrivateData(new byte[0]);

  private final byte[] bytes;

  private PrivateData(byte[] bytes) {
    this.bytes = bytes;
  }

  /** A copy of some bytes. */
  public static PrivateData of(byte... bytes) {
    return new PrivateData(bytes.clone());
  }

  static PrivateData read(MemorySegment m, long from, int count) {
    return new PrivateData(m.asSlice(from, count).toArray(ValueLayout.JAVA_BYTE));
  }

  /** Writes it and zeros up to the end. */
  void write(MemorySegment m, long at, int room) {
    requireAtMost(room);
    MemorySegment.copy(bytes, 0, m, ValueLayout.JAVA_BYTE, at, bytes.length);
    m.asSlice(at + bytes.length, room - bytes.length).fill((byte) 0);
  }

  PrivateData requireAtMost(int room) {
    if (bytes.length > room) {
      throw new IllegalArgumentException(
          "private data of %d bytes: this message has room for %d".formatted(bytes.length, room));
    }
    return this;
  }

  /** A copy of the bytes. */
  public byte[] bytes() {
    return bytes.clone();
  }

  /** How many bytes there are. */
  public int length() {
    return bytes.length;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PrivateData that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return "PrivateData[" + java.util.HexFormat.of().formatHex(bytes) + "]";
  }
}
