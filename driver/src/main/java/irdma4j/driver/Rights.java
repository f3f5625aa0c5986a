package irdma4j.driver;

/**
 * The rights of a region in the form that the device takes.
 *
 * @param bits one for each right
 * @param remote whether the peer has any
 */
record Rights(int bits, boolean remote) {
  /** The given rights, and that of the owner to read. */
  static Rights of(Access... access) {
    int bits = Access.LOCAL_READ;
    boolean remote = false;
    for (Access right : access) {
      bits |= right.bits();
      remote |= right == Access.REMOTE_READ || right == Access.REMOTE_WRITE;
    }
    return new Rights(bits, remote);
  }
}
