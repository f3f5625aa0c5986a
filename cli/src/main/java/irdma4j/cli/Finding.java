package irdma4j.cli;

import java.util.List;

/**
 * What the doctor found about one thing.
 *
 * @param what the thing
 * @param state whether it is as it must be
 * @param text in plain words
 * @param fix the command that puts it right, or the empty string
 */
record Finding(String what, State state, String text, String fix) {
  /** Whether it is as it must be. */
  enum State {
    /** It is. */
    OK,
    /** It works, but not as well as it could. */
    NOTE,
    /** It stands in the way. */
    BAD
  }

  static Finding ok(String what, String text) {
    return new Finding(what, State.OK, text, "");
  }

  static Finding note(String what, String text, String fix) {
    return new Finding(what, State.NOTE, text, fix);
  }

  static Finding bad(String what, String text, String fix) {
    return new Finding(what, State.BAD, text, fix);
  }

  /** As a person reads it: what it is, and below it the command that puts it right. */
  List<String> lines() {
    String mark =
        switch (state) {
          case OK -> "ok";
          case NOTE -> "note";
          case BAD -> "BAD";
        };
    String first = "  %-4s  %-15s %s".formatted(mark, what, text);
    return fix.isEmpty()
        ? List.of(first)
        : List.of(first, "  %-4s  %-15s -> %s".formatted("", "", fix));
  }
}
