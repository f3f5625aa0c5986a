package irdma4j.vectors;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A value of a vector file: an object, a list, a string, a number, a boolean or null. Numbers are
 * written as such or as {@code "0x.."} strings.
 */
public final class Json {
  private final Object value;

  private Json(Object value) {
    this.value = value;
  }

  /** Reads one value. */
  public static Json parse(String text) {
    Parser parser = new Parser(text);
    Json json = parser.value();
    parser.end();
    return json;
  }

  /** Whether an object has a member that is not null. */
  public boolean has(String name) {
    Json member = object().get(name);
    return member != null && !member.isNull();
  }

  /** A member of an object. */
  public Json get(String name) {
    Json member = object().get(name);
    if (member == null) {
      throw new IllegalArgumentException("no " + name + " in " + object().keySet());
    }
    return member;
  }

  /** A member of an object, as a number. */
  public long number(String name) {
    return get(name).number();
  }

  /** A member of an object, as a number that is an int or, unsigned, fits one. */
  public int integer(String name) {
    long number = number(name);
    if (number < Integer.MIN_VALUE || number > 0xffffffffL) {
      throw new IllegalArgumentException(name + " is " + number);
    }
    return (int) number;
  }

  /** Whether a member of an object is a number other than 0. */
  public boolean flag(String name) {
    return number(name) != 0;
  }

  /** A member of an object, as a string. */
  public String text(String name) {
    return get(name).text();
  }

  /** A member of an object, as the bytes that it gives in hex. */
  public byte[] bytes(String name) {
    return HexFormat.of().parseHex(text(name));
  }

  /** A member of an object, as a list. */
  public List<Json> list(String name) {
    return get(name).list();
  }

  /** Whether it is null. */
  public boolean isNull() {
    return value == Null.NULL;
  }

  /** It as a number, unsigned if it is in hex. */
  public long number() {
    if (value instanceof Long number) {
      return number;
    }
    String text = text();
    if (!text.startsWith("0x")) {
      throw new IllegalArgumentException("not a number: " + text);
    }
    return Long.parseUnsignedLong(text.substring(2), 16);
  }

  /** It as a string. */
  public String text() {
    if (value instanceof String text) {
      return text;
    }
    throw new IllegalArgumentException("not a string: " + value);
  }

  /** It as a list. */
  @SuppressWarnings("unchecked")
  public List<Json> list() {
    if (value instanceof List<?> list) {
      return (List<Json>) list;
    }
    throw new IllegalArgumentException("not a list: " + value);
  }

  /** It as an object: its members in their order. */
  @SuppressWarnings("unchecked")
  public Map<String, Json> object() {
    if (value instanceof Map<?, ?> map) {
      return (Map<String, Json>) map;
    }
    throw new IllegalArgumentException("not an object: " + value);
  }

  @Override
  public String toString() {
    return value.toString();
  }

  private enum Null {
    NULL
  }

  private static final class Parser {
    private final String text;
    private int at;

    Parser(String text) {
      this.text = text;
    }

    Json value() {
      char c = peek();
      return switch (c) {
        case '{' -> new Json(members());
        case '[' -> new Json(elements());
        case '"' -> new Json(string());
        case 't' -> word("true", true);
        case 'f' -> word("false", false);
        case 'n' -> word("null", Null.NULL);
        default -> new Json(digits());
      };
    }

    void end() {
      skipSpace();
      if (at != text.length()) {
        throw error();
      }
    }

    private Map<String, Json> members() {
      Map<String, Json> members = new LinkedHashMap<>();
      expect('{');
      if (peek() != '}') {
        do {
          peek();
          String name = string();
          expect(':');
          members.put(name, value());
        } while (accept(','));
      }
      expect('}');
      return members;
    }

    private List<Json> elements() {
      List<Json> elements = new ArrayList<>();
      expect('[');
      if (peek() != ']') {
        do {
          elements.add(value());
        } while (accept(','));
      }
      expect(']');
      return elements;
    }

    private String string() {
      int end = text.indexOf('"', at + 1);
      String string = text.substring(at + 1, end);
      if (string.indexOf('\\') >= 0) {
        throw error();
      }
      at = end + 1;
      return string;
    }

    private long digits() {
      int from = at;
      while (at < text.length() && "-0123456789".indexOf(text.charAt(at)) >= 0) {
        at++;
      }
      return Long.parseLong(text, from, at, 10);
    }

    private Json word(String word, Object meaning) {
      if (!text.startsWith(word, at)) {
        throw error();
      }
      at += word.length();
      return new Json(meaning);
    }

    private char peek() {
      skipSpace();
      if (at == text.length()) {
        throw error();
      }
      return text.charAt(at);
    }

    private boolean accept(char c) {
      if (peek() != c) {
        return false;
      }
      at++;
      return true;
    }

    private void expect(char c) {
      if (!accept(c)) {
        throw error();
      }
    }

    private void skipSpace() {
      while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
        at++;
      }
    }

    private IllegalArgumentException error() {
      return new IllegalArgumentException("at " + at + " of " + text);
    }
  }
}
