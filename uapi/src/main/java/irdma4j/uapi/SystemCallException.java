package irdma4j.uapi;

/** A system call that the kernel refused: which one, with what, why, and what to do. */
public final class SystemCallException extends PciException {
  private static final long serialVersionUID = 1L;

  private final String call;
  private final int errno;

  /**
   * A refusal.
   *
   * @param call the call with its arguments, such as {@code open(/dev/vfio/vfio)}
   * @param errno why, positive
   * @param name the errno's name
   * @param advice what to do, or the empty string
   */
  public SystemCallException(String call, int errno, String name, String advice) {
    super("%s: %s (%d)%s".formatted(call, name, errno, advice.isEmpty() ? "" : "; " + advice));
    this.call = call;
    this.errno = errno;
  }

  /** The call with its arguments. */
  public String call() {
    return call;
  }

  /** Why, as in {@code errno.h}. */
  public int errno() {
    return errno;
  }
}
