package irdma4j.cli;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A file's bytes in memory, and what they hash to. */
final class FileSource {
  private static final int PART = 1 << 24;

  private FileSource() {}

  /** Fills memory with the file's beginning, or with the file again and again. */
  static void fill(Path file, MemorySegment memory, long bytes) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long done = 0;
      while (done < bytes) {
        ByteBuffer part = memory.asSlice(done, Math.min(PART, bytes - done)).asByteBuffer();
        int read = channel.read(part);
        if (read > 0) {
          done += read;
        } else if (channel.position() == 0) {
          throw new EOFException(file + " became empty");
        } else {
          channel.position(0);
        }
      }
    }
  }

  /** SHA-256 in hexadecimal. */
  static String sha256(MemorySegment memory, long bytes) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (long done = 0; done < bytes; done += PART) {
        digest.update(memory.asSlice(done, Math.min(PART, bytes - done)).asByteBuffer());
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
