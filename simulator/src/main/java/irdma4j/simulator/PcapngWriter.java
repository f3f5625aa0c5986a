package irdma4j.simulator;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Writes the frames on the wire as a pcapng file: one interface per function, nanosecond times. A
 * frame that the wire loses is in the file with the comment {@code dropped}. The same frames give
 * the same bytes.
 *
 * <p>A write error during the run does not disturb the simulation: it is thrown by {@link #close}.
 * Not thread-safe.
 */
public final class PcapngWriter implements FrameTap, AutoCloseable {
  private static final int BUFFER = 1 << 18;
  private static final int MAX_FRAME = 16384;
  private static final byte[] DROPPED = "dropped".getBytes(StandardCharsets.US_ASCII);
  private static final int OPTION_COMMENT = 1;
  private static final int OPTION_NAME = 2;
  private static final int OPTION_APPLICATION = 4;
  private static final int OPTION_RESOLUTION = 9;

  private final FileChannel file;
  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(BUFFER).order(ByteOrder.LITTLE_ENDIAN);
  private final MemorySegment memory = MemorySegment.ofBuffer(buffer);
  private @Nullable IOException failure;

  private PcapngWriter(FileChannel file) {
    this.file = file;
  }

  /**
   * Creates or replaces a file.
   *
   * @param functions how many functions the simulation has
   * @throws IOException if the file cannot be written
   */
  public static PcapngWriter create(Path path, int functions) throws IOException {
    FileChannel file =
        FileChannel.open(
            path,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE);
    PcapngWriter writer = new PcapngWriter(file);
    try {
      writer.sectionHeader();
      for (int i = 0; i < functions; i++) {
        writer.interfaceDescription("irdma" + i);
      }
      writer.flush();
    } catch (IOException e) {
      file.close();
      throw e;
    }
    return writer;
  }

  private void sectionHeader() {
    int start = open(0x0a0d0d0a);
    buffer.putInt(0x1a2b3c4d).putShort((short) 1).putShort((short) 0).putLong(-1);
    option(OPTION_APPLICATION, "irdma4j".getBytes(StandardCharsets.US_ASCII));
    endOfOptions();
    close(start);
  }

  private void interfaceDescription(String name) {
    int start = open(1);
    buffer.putShort((short) 1).putShort((short) 0).putInt(0);
    option(OPTION_NAME, name.getBytes(StandardCharsets.US_ASCII));
    option(OPTION_RESOLUTION, new byte[] {9});
    endOfOptions();
    close(start);
  }

  @Override
  public void frame(
      long timeNanos, int fromFunction, MemorySegment frame, int bytes, boolean dropped) {
    if (failure != null) {
      return;
    }
    if (bytes > MAX_FRAME) {
      throw new IllegalArgumentException("frame of " + bytes + " bytes");
    }
    if (buffer.remaining() < MAX_FRAME + 128) {
      try {
        flush();
      } catch (IOException e) {
        failure = e;
        return;
      }
    }
    int start = open(6);
    buffer.putInt(fromFunction).putInt((int) (timeNanos >>> 32)).putInt((int) timeNanos);
    buffer.putInt(bytes).putInt(bytes);
    MemorySegment.copy(frame, 0, memory, buffer.position(), bytes);
    buffer.position(buffer.position() + bytes);
    align();
    if (dropped) {
      option(OPTION_COMMENT, DROPPED);
      endOfOptions();
    }
    close(start);
  }

  private int open(int type) {
    int start = buffer.position();
    buffer.putInt(type).putInt(0);
    return start;
  }

  private void close(int start) {
    int length = buffer.position() - start + 4;
    buffer.putInt(start + 4, length).putInt(length);
  }

  private void option(int code, byte[] value) {
    buffer.putShort((short) code).putShort((short) value.length).put(value);
    align();
  }

  private void endOfOptions() {
    buffer.putInt(0);
  }

  private void align() {
    while ((buffer.position() & 3) != 0) {
      buffer.put((byte) 0);
    }
  }

  private void flush() throws IOException {
    buffer.flip();
    while (buffer.hasRemaining()) {
      file.write(buffer);
    }
    buffer.clear();
  }

  /**
   * Writes what is left and closes the file.
   *
   * @throws IOException the first error of the whole run
   */
  @Override
  public void close() throws IOException {
    if (!file.isOpen()) {
      return;
    }
    try (file) {
      if (failure == null) {
        flush();
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
