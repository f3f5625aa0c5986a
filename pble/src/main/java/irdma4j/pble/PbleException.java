package irdma4j.pble;

/** A request for PBLEs that can't be met; nothing was changed but the pool may have grown. */
public final class PbleException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A failure in words. */
  public PbleException(String message) {
    super(message);
  }
}
