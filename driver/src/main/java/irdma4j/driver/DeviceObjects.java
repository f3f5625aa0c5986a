package irdma4j.driver;

import irdma4j.driver.ring.QueueLookup;
import irdma4j.driver.ring.QueuePairRings;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The objects that were made with a device and are open, and the memory of those that the device
 * would not destroy. For the thread that makes and closes objects.
 */
final class DeviceObjects {
  /** Queue pairs use completion queues, windows and regions, so they go first; domains go last. */
  private static final List<Class<? extends AutoCloseable>> CLOSING_ORDER =
      List.of(
          QueuePair.class,
          DatagramQueuePair.class,
          AddressHandle.class,
          CompletionQueue.class,
          MemoryWindow.class,
          FastRegion.class,
          MemoryRegion.class,
          ProtectionDomain.class,
          BackedFunction.class);

  // Oldest first, so that the same calls close them in the same order. Each with its release.
  private final Map<AutoCloseable, Runnable> open = new LinkedHashMap<>();
  private final List<Runnable> leftovers = new ArrayList<>();
  private final Map<Integer, CompletionQueue> queues = new HashMap<>();
  private final Map<Integer, QueuePairCore> pairs = new HashMap<>();
  // Those of all queues into which a flushed queue pair has completed.
  private final List<CompletionQueue> flushedQueues = new ArrayList<>();
  private QueuePairRings[] rings = new QueuePairRings[0];
  private RequestCounts ended = RequestCounts.NONE;
  private boolean generalServicesTaken;

  /** The device has so many queue pairs. To be called before there is any. */
  void makeRoom(int queuePairs) {
    rings = new QueuePairRings[queuePairs];
  }

  /**
   * There is one more to close.
   *
   * @param release closes it without telling the device, which has forgotten it or was reset, and
   *     gives its memory back
   */
  <T extends AutoCloseable> T adopt(T object, Runnable release) {
    open.put(object, release);
    switch (object) {
      case QueuePair pair -> adopted(pair.core());
      case DatagramQueuePair pair -> adopted(pair.core());
      case CompletionQueue queue -> queues.put(queue.id(), queue);
      default -> {}
    }
    return object;
  }

  private void adopted(QueuePairCore pair) {
    pairs.put(pair.qpn(), pair);
    rings[pair.qpn()] = pair.rings();
  }

  /** The device has forgotten an object: its memory goes back. */
  void ended(AutoCloseable object) {
    Runnable release = disowned(object);
    if (release != null) {
      release.run();
    }
  }

  /** The device would not destroy an object: its memory goes back after the reset. */
  void keepUntilReset(AutoCloseable object) {
    Runnable release = disowned(object);
    if (release != null) {
      leftovers.add(release);
    }
  }

  private @Nullable Runnable disowned(AutoCloseable object) {
    Runnable release = open.remove(object);
    if (release == null) {
      return null;
    }
    switch (object) {
      case QueuePair pair -> disowned(pair.core());
      case DatagramQueuePair pair -> disowned(pair.core());
      case CompletionQueue queue -> {
        queues.remove(queue.id());
        flushedQueues.remove(queue);
        ended = ended.plus(queue);
      }
      default -> {}
    }
    return release;
  }

  private void disowned(QueuePairCore pair) {
    pairs.remove(pair.qpn());
    rings[pair.qpn()] = null;
    ended = ended.plus(pair);
  }

  /**
   * Closes all of them.
   *
   * @throws RuntimeException the first failure, with the others; all were tried
   */
  void close() {
    Failures failures = new Failures();
    for (Class<? extends AutoCloseable> kind : CLOSING_ORDER) {
      List.copyOf(open.keySet()).stream().filter(kind::isInstance).forEach(failures::closing);
    }
    failures.throwFirst();
  }

  /** Gives back all memory that is left, of a device that was reset. */
  void release() {
    open.values().forEach(Runnable::run);
    open.clear();
    leftovers.forEach(Runnable::run);
    leftovers.clear();
  }

  /** All of them, oldest first. */
  Collection<AutoCloseable> all() {
    return Collections.unmodifiableCollection(open.keySet());
  }

  /** Queue pairs of every service. */
  Collection<QueuePairCore> queuePairs() {
    return pairs.values();
  }

  @Nullable QueuePairCore queuePair(int qpn) {
    return pairs.get(qpn);
  }

  Collection<CompletionQueue> completionQueues() {
    return queues.values();
  }

  @Nullable CompletionQueue completionQueue(int id) {
    return queues.get(id);
  }

  /** From now on, work of a queue pair that was flushed may raise the queue's event. */
  void watchFlushed(CompletionQueue queue) {
    if (!flushedQueues.contains(queue)) {
      flushedQueues.add(queue);
    }
  }

  /** Queues into which a flushed queue pair has completed. */
  List<CompletionQueue> flushedQueues() {
    return flushedQueues;
  }

  /** Finds a queue pair's rings by its number, which is what a completion calls it by. */
  QueueLookup queueLookup() {
    QueuePairRings[] byQpn = rings;
    return context -> context >= 0 && context < byQpn.length ? byQpn[(int) context] : null;
  }

  /** What the queues have counted, those that are closed included. */
  RequestCounts counts() {
    RequestCounts counts = ended;
    for (QueuePairCore pair : pairs.values()) {
      counts = counts.plus(pair);
    }
    for (CompletionQueue queue : queues.values()) {
      counts = counts.plus(queue);
    }
    return counts;
  }

  /**
   * Takes the number of the queue pair for general services.
   *
   * @throws IllegalStateException if it is in use
   */
  void takeGeneralServices() {
    if (generalServicesTaken) {
      throw new IllegalStateException("there is a queue pair for general services already");
    }
    generalServicesTaken = true;
  }

  void giveBackGeneralServices() {
    generalServicesTaken = false;
  }
}
