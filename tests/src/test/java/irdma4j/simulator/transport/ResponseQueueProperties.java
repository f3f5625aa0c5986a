package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayDeque;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** A responder's queue beside a plain model of it. */
final class ResponseQueueProperties {
  private static final int PSNS = 1 << 24;

  private static final class Entry {
    boolean read;
    boolean started;
    int psn;
    int msn;
    int syndrome;
    long address;
    int key;
    long length;
    int packets;
  }

  /**
   * Whatever is asked for, the oldest entry has the values that it was given, those at the ends of
   * their ranges among them. Fails if a field of an entry runs into its neighbour, if an
   * acknowledgement takes the place of a READ, or if entries are mixed up where the queue's memory
   * begins again.
   */
  @Property(tries = 300)
  void givesBackWhatItWasGiven(@ForAll long seed) {
    Random random = new Random(seed);
    int limit = new int[] {4, 16, 64}[random.nextInt(3)];
    ResponseQueue queue = new ResponseQueue(limit);
    ArrayDeque<Entry> model = new ArrayDeque<>();
    int next = random.nextInt(PSNS);
    for (int step = 0; step < 500; step++) {
      Entry oldest = model.peekFirst();
      switch (random.nextInt(5)) {
        case 0 -> {
          Entry last = model.peekLast();
          if (last == null || last.read) {
            last = new Entry();
            model.addLast(last);
          }
          last.psn = next;
          last.msn = random.nextInt(PSNS);
          last.syndrome = random.nextInt(256);
          queue.acknowledge(last.psn, last.msn, last.syndrome);
          next = Psn.add(next, 1);
        }
        case 1, 2 -> {
          if (!queue.readsFull()) {
            Entry read = new Entry();
            read.read = true;
            read.psn = next;
            read.msn = random.nextInt(PSNS);
            read.syndrome = random.nextInt(256);
            read.address = random.nextLong();
            read.key = random.nextInt();
            read.length = random.nextBoolean() ? 0xffff_ffffL : random.nextInt(1 << 16);
            read.packets = 1 + random.nextInt(random.nextBoolean() ? 3 : 1 << 10);
            model.addLast(read);
            queue.addRead(
                read.psn,
                read.msn,
                read.syndrome,
                read.address,
                read.key,
                read.length,
                read.packets);
            next = Psn.add(next, read.packets);
          }
        }
        case 3 -> {
          if (oldest != null && oldest.read && oldest.packets > 1) {
            int bytes = (int) Math.min(4096, oldest.length);
            queue.advanceRead(bytes);
            oldest.started = true;
            oldest.psn = Psn.add(oldest.psn, 1);
            oldest.address += bytes;
            oldest.length -= bytes;
            oldest.packets--;
          } else if (oldest != null) {
            queue.remove();
            model.removeFirst();
          }
        }
        default -> {
          if (random.nextInt(20) == 0) {
            int from = Psn.add(next, -random.nextInt(20));
            queue.truncate(from);
            while (!model.isEmpty() && reaches(model.getLast(), from)) {
              model.removeLast();
            }
          }
        }
      }
      compare(model, queue, limit);
    }
  }

  private static boolean reaches(Entry entry, int psn) {
    int last = entry.read ? Psn.add(entry.psn, entry.packets - 1) : entry.psn;
    return Psn.distance(psn, last) >= 0;
  }

  private static void compare(ArrayDeque<Entry> model, ResponseQueue queue, int limit) {
    assertEquals(model.isEmpty(), queue.isEmpty());
    assertEquals(model.stream().filter(entry -> entry.read).count() == limit, queue.readsFull());
    Entry oldest = model.peekFirst();
    if (oldest == null) {
      return;
    }
    assertEquals(oldest.read, queue.isRead());
    assertEquals(oldest.psn, queue.psn());
    assertEquals(oldest.msn, queue.msn());
    assertEquals(oldest.syndrome, queue.syndrome());
    if (oldest.read) {
      assertEquals(oldest.started, queue.started());
      assertEquals(oldest.address, queue.address());
      assertEquals(oldest.key, queue.key());
      assertEquals(oldest.length, queue.length());
      assertEquals(oldest.packets, queue.packets());
    }
  }
}
