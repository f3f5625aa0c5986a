package irdma4j.simulator.device;

import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.ManagePushPage;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The push pages in the BAR. They are handed out in pairs, an even page that takes WQEs and the
 * next one that takes their doorbells, so that those of two queue pairs never overlap.
 */
final class PushPages {
  private static final int PAGES = 1024;
  private static final int PAIR = 2;

  private final @Nullable PushPage[] pages = new @Nullable PushPage[PAGES];

  void reset() {
    Arrays.fill(pages, null);
  }

  /**
   * Takes a free pair.
   *
   * @return its number, or -1
   */
  int take() {
    for (int i = 0; i < PAGES; i += PAIR) {
      if (pages[i] == null) {
        pages[i] = new PushPage(i);
        return i;
      }
    }
    return -1;
  }

  ControlStatus free(ManagePushPage c) {
    if (c.pushPage() >= PAGES || pages[c.pushPage()] == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    pages[c.pushPage()] = null;
    return ControlStatus.OK;
  }

  /** Whether an offset in the BAR is in a push page. */
  static boolean covers(int offset) {
    return offset >= Registers.PUSH_AREA
        && offset < Registers.PUSH_AREA + PAGES * Registers.PUSH_PAGE_BYTES;
  }

  /** A word of a push page was written. */
  void written(int offset, int value, QueueEngine queues) {
    int number = (offset - Registers.PUSH_AREA) / Registers.PUSH_PAGE_BYTES;
    int inPage = offset % Registers.PUSH_PAGE_BYTES;
    PushPage page = pages[number & -PAIR];
    if (page == null) {
      return;
    }
    if (number % PAIR == 0) {
      page.written(inPage, value);
    } else if (inPage == 0) {
      page.rung((int) Registers.WQEALLOC_WQE_DESC_INDEX.decode(value));
      queues.pushed((int) Registers.WQEALLOC_QPID.decode(value), page);
    }
  }
}
