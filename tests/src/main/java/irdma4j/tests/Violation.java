package irdma4j.tests;

/** What a subject did that its contract forbids. */
public final class Violation extends AssertionError {
  private static final long serialVersionUID = 1L;

  /** A violation in words. */
  public Violation(String message) {
    super(message);
  }

  /** A violation that shows as an exception. */
  public Violation(String message, Throwable cause) {
    super(message, cause);
  }

  @SuppressWarnings("AnnotateFormatMethod")
  static void unless(boolean kept, String message, Object... values) {
    if (!kept) {
      throw new Violation(message.formatted(values));
    }
  }
}
