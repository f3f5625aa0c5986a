package irdma4j.driver;

/**
 * Rights to a memory region. A region's owner may always read it.
 *
 * <p>Source: Linux enum irdma_access_flags in user.h.
 */
public enum Access {
  /** The owner may write: receive into it, or be the sink of a READ. */
  LOCAL_WRITE(0x02),
  /** The peer may read it. */
  REMOTE_READ(0x04),
  /** The peer may write it. */
  REMOTE_WRITE(0x08),
  /** Windows may be bound to it. */
  BIND_WINDOW(0x10);

  /** The right to read one's own region, which every region has. */
  static final int LOCAL_READ = 0x01;

  private final int bits;

  Access(int bits) {
    this.bits = bits;
  }

  int bits() {
    return bits;
  }
}
