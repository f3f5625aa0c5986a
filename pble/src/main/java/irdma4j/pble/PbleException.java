package irdma4j.pble;

/** A request for PBLEs that can't be met. */
public final class PbleException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A failure in words. */
  public PbleException(String message) {
    super(message);
  }

  /** A failure with its cause. */
  public PbleException(String message, Throwable cause) {
    super(message, cause);
  }
}
