package irdma4j.uapi.trace;

import irdma4j.uapi.DmaPlacement;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/**
 * A recorded trace, read and checked as a whole before anything is done with it.
 *
 * <p>It is a text file, compressed by gzip or not: the first line is {@code irdma4j-trace 1}, the
 * second {@code device} and a description of the device, the third {@code functions} and their
 * number, the last {@code end}. Between them each line is a {@link TraceLine}; docs/watching.md
 * describes them. An empty line, or one that begins with {@code #}, says nothing.
 *
 * @param device the description: words, some of them {@code name=value}
 * @param functions how many functions there are, 1 to 256
 * @param lines in the order of the file
 */
public record DeviceTrace(String device, int functions, List<TraceLine> lines) {
  /** The first line of a file of the one version there is. */
  public static final String MAGIC = "irdma4j-trace 1";

  /** The most DMA memory that a trace may have mapped at once, in bytes. */
  public static final long MOST_MEMORY = 1L << 32;

  static final int PAGE = 4096;

  private static final int GZIP_MAGIC = 0x1f8b;
  private static final int MOST_FUNCTIONS = 256;
  private static final int MOST_VECTORS = 2048;

  /** Keeps a copy of the lines. */
  public DeviceTrace {
    lines = List.copyOf(lines);
  }

  /**
   * Reads a file.
   *
   * @throws TraceException which names the line that is wrong
   * @throws IOException if the file cannot be read
   */
  public static DeviceTrace read(Path file) throws IOException {
    try (InputStream input = new BufferedInputStream(Files.newInputStream(file))) {
      input.mark(2);
      int magic = input.read() << 8 | input.read();
      input.reset();
      InputStream plain = magic == GZIP_MAGIC ? new GZIPInputStream(input) : input;
      return read(new InputStreamReader(plain, StandardCharsets.US_ASCII));
    }
  }

  /**
   * Reads a text.
   *
   * @throws TraceException which names the line that is wrong
   */
  public static DeviceTrace read(Reader text) throws IOException {
    return new Parser(new BufferedReader(text)).parse();
  }

  private static final class Parser {
    private final BufferedReader in;
    private final List<TraceLine> lines = new ArrayList<>();
    private final Map<Integer, TraceLine.Map> mapped = new HashMap<>();
    private final Map<Long, Integer> pages = new HashMap<>();
    private long mappedBytes;
    private int functions;
    private int number;
    private String[] words = {};
    private int next;

    Parser(BufferedReader in) {
      this.in = in;
    }

    DeviceTrace parse() throws IOException {
      if (!line().equals(MAGIC)) {
        throw wrong("not a trace of this version: the first line is '" + MAGIC + "'");
      }
      String device = header("device ");
      String count = header("functions ");
      functions = count.matches("[0-9]{1,3}") ? Integer.parseInt(count) : 0;
      if (functions < 1 || functions > MOST_FUNCTIONS) {
        throw wrong("'" + count + "' functions: 1 to " + MOST_FUNCTIONS);
      }
      while (true) {
        String text = line();
        if (text.equals("end")) {
          return new DeviceTrace(device, functions, lines);
        }
        words = text.split(" ", -1);
        next = 1;
        TraceLine parsed = action(words[0]);
        if (next != words.length) {
          throw wrong("'" + words[next] + "' is one word too many");
        }
        lines.add(parsed);
      }
    }

    private String header(String name) throws IOException {
      String text = line();
      if (!text.startsWith(name)) {
        throw wrong("'" + name.strip() + " ...' is expected here");
      }
      return text.substring(name.length());
    }

    /** The next line that says something. */
    private String line() throws IOException {
      while (true) {
        String text;
        try {
          text = in.readLine();
        } catch (IOException e) {
          throw wrong("cannot be read: " + e.getMessage());
        }
        number++;
        if (text == null) {
          throw wrong("the trace breaks off: its last line is 'end'");
        }
        if (!text.isEmpty() && text.charAt(0) != '#') {
          return text;
        }
      }
    }

    private TraceLine action(String verb) {
      return switch (verb) {
        case "map" -> map();
        case "unmap" -> unmap();
        case "host" -> {
          TraceLine.Map memory = memory();
          long offset = number("an offset");
          yield new TraceLine.HostBytes(
              number, memory.function(), memory.id(), offset, bytes(memory, offset));
        }
        case "device" -> {
          TraceLine.Map memory = memory();
          long offset = number("an offset");
          yield new TraceLine.DeviceBytes(
              number, memory.function(), memory.id(), offset, bytes(memory, offset));
        }
        case "write32" -> new TraceLine.Write(number, time(), function(), 32, offset(4), value(32));
        case "write64" -> new TraceLine.Write(number, time(), function(), 64, offset(8), value(64));
        case "read32" -> new TraceLine.Read(number, time(), function(), 32, offset(4), value(32));
        case "read64" -> new TraceLine.Read(number, time(), function(), 64, offset(8), value(64));
        case "pause" -> new TraceLine.Pause(number, time(), function(), duration());
        case "await" ->
            new TraceLine.Await(
                number, time(), function(), vector(), duration(), choice("fired", "quiet"));
        case "fired" ->
            new TraceLine.Fired(number, time(), function(), vector(), number("a count"));
        case "vectors" ->
            new TraceLine.Vectors(number, time(), function(), below(MOST_VECTORS + 1, "vectors"));
        case "master" -> new TraceLine.BusMaster(number, time(), function(), choice("on", "off"));
        case "reset" -> new TraceLine.Reset(number, time(), function());
        case "close" -> {
          TraceLine.Close close = new TraceLine.Close(number, time(), function());
          List.copyOf(mapped.values()).stream()
              .filter(memory -> memory.function() == close.function())
              .forEach(this::forget);
          yield close;
        }
        default -> throw wrong("'" + verb + "' is no action of a trace");
      };
    }

    private TraceLine map() {
      int function = function();
      int id = below(Integer.MAX_VALUE, "an id");
      long bytes = number("a size");
      boolean contiguous = choice("contiguous", "scattered");
      if (bytes < PAGE || bytes % PAGE != 0 || bytes > MOST_MEMORY - mappedBytes) {
        throw wrong(
            bytes + " bytes: whole pages of 4096 are mapped, at most " + MOST_MEMORY + " at once");
      }
      if (mapped.containsKey(id)) {
        throw wrong("memory " + id + " is mapped already, on line " + mapped.get(id).number());
      }
      List<Long> own = new ArrayList<>();
      for (long at = 0; at < bytes; at += PAGE) {
        long page = contiguous && at > 0 ? own.getFirst() + at : number("an IOVA");
        if ((page & (PAGE - 1)) != 0) {
          throw wrong("IOVA 0x%x is not that of a page".formatted(page));
        }
        Integer other = pages.putIfAbsent(key(function, page), id);
        if (other != null) {
          throw wrong("IOVA 0x%x is mapped already, in memory %d".formatted(page, other));
        }
        own.add(page);
      }
      mappedBytes += bytes;
      TraceLine.Map map =
          new TraceLine.Map(
              number,
              function,
              id,
              bytes,
              contiguous ? DmaPlacement.CONTIGUOUS : DmaPlacement.SCATTERED,
              own);
      mapped.put(id, map);
      return map;
    }

    /** Functions have IOVA spaces of their own; the low bits of a page's address are free. */
    private static long key(int function, long page) {
      return page | function;
    }

    private TraceLine unmap() {
      TraceLine.Map memory = memory();
      forget(memory);
      return new TraceLine.Unmap(number, memory.function(), memory.id());
    }

    private void forget(TraceLine.Map memory) {
      mapped.remove(memory.id());
      memory.pages().forEach(page -> pages.remove(key(memory.function(), page)));
      mappedBytes -= memory.bytes();
    }

    private TraceLine.Map memory() {
      int function = function();
      int id = below(Integer.MAX_VALUE, "an id");
      TraceLine.Map memory = mapped.get(id);
      if (memory == null || memory.function() != function) {
        throw wrong("function " + function + " has no memory " + id + " here");
      }
      return memory;
    }

    private MemorySegment bytes(TraceLine.Map memory, long offset) {
      String text = word("bytes in hex");
      byte[] bytes;
      try {
        bytes = HexFormat.of().parseHex(text);
      } catch (IllegalArgumentException e) {
        throw wrong("not bytes in hex, two digits each");
      }
      if (bytes.length == 0 || offset < 0 || offset > memory.bytes() - bytes.length) {
        throw wrong(
            "%d bytes at 0x%x are not inside memory %d of 0x%x bytes"
                .formatted(bytes.length, offset, memory.id(), memory.bytes()));
      }
      return MemorySegment.ofArray(bytes).asReadOnly();
    }

    private long time() {
      return number("a time");
    }

    private int function() {
      return below(functions, "a function");
    }

    private int vector() {
      return below(MOST_VECTORS, "a vector");
    }

    private long duration() {
      long nanos = number("a duration");
      if (nanos < 0) {
        throw wrong("a duration is not negative");
      }
      return nanos;
    }

    private long offset(int width) {
      long offset = number("an offset");
      if (offset < 0 || offset >= 1L << 31 || offset % width != 0) {
        throw wrong("0x%x is no offset of %d bytes in a BAR".formatted(offset, width));
      }
      return offset;
    }

    private long value(int width) {
      long value = number("a value");
      if (width == 32 && value >>> 32 != 0) {
        throw wrong("0x%x has more than 32 bits".formatted(value));
      }
      return value;
    }

    private int below(long limit, String what) {
      long value = number(what);
      if (value < 0 || value >= limit) {
        throw wrong(value + " is not " + what + ": 0 to " + (limit - 1));
      }
      return (int) value;
    }

    private boolean choice(String yes, String no) {
      String text = word(yes + " or " + no);
      if (!text.equals(yes) && !text.equals(no)) {
        throw wrong("'" + text + "' where '" + yes + "' or '" + no + "' is expected");
      }
      return text.equals(yes);
    }

    private long number(String what) {
      String text = word(what);
      try {
        return text.startsWith("0x")
            ? Long.parseUnsignedLong(text, 2, text.length(), 16)
            : Long.parseLong(text);
      } catch (NumberFormatException e) {
        throw wrong("'" + text + "' where " + what + " is expected");
      }
    }

    private String word(String what) {
      if (next == words.length) {
        throw wrong(what + " is missing");
      }
      return words[next++];
    }

    private TraceException wrong(String reason) {
      return new TraceException(number, reason);
    }
  }
}
