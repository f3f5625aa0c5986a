package irdma4j.driver;

import java.util.Collection;
import java.util.function.Predicate;

/** What was made with a domain or a completion queue, and keeps it from being closed. */
final class Dependants {
  private Dependants() {}

  /**
   * Refuses to close a domain while something of it lives: its number would go to another domain,
   * and with it the right to what is left.
   */
  static void requireNoneOf(ProtectionDomain domain, Collection<AutoCloseable> alive) {
    int id = domain.id();
    refuse(
        "protection domain " + id,
        alive,
        each ->
            switch (each) {
              case QueuePair pair -> pair.core().pdId() == id;
              case DatagramQueuePair pair -> pair.core().pdId() == id;
              case MemoryRegion region -> region.pdId() == id;
              case MemoryWindow window -> window.pdId() == id;
              case FastRegion region -> region.pdId() == id;
              case AddressHandle handle -> handle.pdId() == id;
              default -> false;
            });
  }

  /** Refuses to close a completion queue while a queue pair completes into it. */
  static void requireNoneOf(CompletionQueue queue, Collection<QueuePairCore> alive) {
    refuse(
        "completion queue " + queue.id(),
        alive,
        pair -> pair.config().sendQueue() == queue || pair.config().receiveQueue() == queue);
  }

  private static <T> void refuse(String what, Collection<T> alive, Predicate<T> uses) {
    long count = alive.stream().filter(uses).count();
    if (count > 0) {
      throw new IllegalStateException(
          "%s is used by %d object%s: close %s first"
              .formatted(what, count, count == 1 ? "" : "s", count == 1 ? "it" : "them"));
    }
  }
}
