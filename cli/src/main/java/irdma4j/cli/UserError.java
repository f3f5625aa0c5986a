package irdma4j.cli;

/** Something that the user can put right, in one line; the command ends with status 2. */
final class UserError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UserError(String message) {
    super(message);
  }
}
