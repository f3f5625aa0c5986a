package irdma4j.tests;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Which pages of host memory a check has found behind an FPM address, and for whom. */
final class PagesSeen {
  private static final int PAGE = 4096;

  private @Nullable Object[] owners = new @Nullable Object[1024];
  private long[] addresses = new long[1024];
  private int[] checks = new int[1024];
  private int check;

  /** Forgets what the same owner has seen before. */
  void startCheck() {
    check++;
  }

  /** A page is behind an address of its owner; it must not be behind any other that is in use. */
  void add(long iova, Object owner, long address) {
    int place = (int) ((iova - FakePciFunction.FIRST_IOVA) / PAGE);
    if (place >= owners.length) {
      owners = Arrays.copyOf(owners, 2 * place);
      addresses = Arrays.copyOf(addresses, 2 * place);
      checks = Arrays.copyOf(checks, 2 * place);
    }
    Object other = owners[place];
    // Host memory is never used for a second allocation, so a page has one owner for good.
    if (other != null && (other != owner || checks[place] == check)) {
      throw new Violation(
          "0x%x is behind both 0x%x and 0x%x%s"
              .formatted(
                  iova, address, addresses[place], other == owner ? "" : " of another function"));
    }
    owners[place] = owner;
    addresses[place] = address;
    checks[place] = check;
  }
}
