package irdma4j.uapi.trace;

/** A trace that cannot be used. */
public final class TraceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int line;

  /**
   * What is wrong with a line.
   *
   * @param line its number, from 1
   * @param reason in words
   */
  public TraceException(int line, String reason) {
    super("line " + line + ": " + reason);
    this.line = line;
  }

  /** The line's number, from 1. */
  public int line() {
    return line;
  }
}
