package irdma4j.uapi;

/** What the operating system or the device refused, in words that name the thing. */
public class PciException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A failure without a cause of its own. */
  public PciException(String message) {
    super(message);
  }

  /** A failure with its cause. */
  public PciException(String message, Throwable cause) {
    super(message, cause);
  }
}
