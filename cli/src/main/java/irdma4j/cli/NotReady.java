package irdma4j.cli;

/** A card that this machine can't give us as it is; the command ends with status 1. */
final class NotReady extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NotReady(String message, Throwable cause) {
    super(message, cause);
  }
}
