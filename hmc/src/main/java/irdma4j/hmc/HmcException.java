package irdma4j.hmc;

/** The Host Memory Cache can't be what was asked for; nothing was changed. */
public final class HmcException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A failure in words. */
  public HmcException(String message) {
    super(message);
  }
}
