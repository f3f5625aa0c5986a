package irdma4j.driver;

/** A request that the driver or the device can't meet, in words that name the thing. */
public class RdmaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A failure without a cause of its own. */
  public RdmaException(String message) {
    super(message);
  }

  /** A failure with its cause. */
  public RdmaException(String message, Throwable cause) {
    super(message, cause);
  }
}
