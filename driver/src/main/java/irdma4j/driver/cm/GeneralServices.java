package irdma4j.driver.cm;

import irdma4j.driver.Access;
import irdma4j.driver.AddressHandle;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** QP 1 with its memory: messages out and in, and the address handles that they need. */
final class GeneralServices implements AutoCloseable {
  private static final int SLOTS = 64;
  private static final int SLOT = 512;
  private static final int HEADER = DatagramQueuePair.HEADER_BYTES;
  private static final int MOST_ROUTES = 64;
  private static final long DRAIN_NANOS = 100_000_000;
  private static final long SEND = 1L << 32;

  /** Takes a message that has come. */
  interface Handler {
    void arrived(CmMessage message, DatagramPath back);
  }

  private static final class Route {
    final AddressHandle handle;
    int inFlight;

    Route(AddressHandle handle) {
      this.handle = handle;
    }
  }

  private final ArrayDeque<AutoCloseable> parts = new ArrayDeque<>();
  private final Map<DatagramPath, Route> routes = new LinkedHashMap<>(16, 0.75f, true);
  private final ArrayDeque<Integer> free = new ArrayDeque<>();
  private final @Nullable Route[] using = new @Nullable Route[SLOTS];
  private final Completion completion = new Completion();
  private final ProtectionDomain domain;
  private final CompletionQueue queue;
  private final DmaMemory memory;
  private final MemoryRegion region;
  private final DatagramQueuePair pair;

  GeneralServices(RdmaDevice device) {
    try {
      domain = own(device.allocateProtectionDomain());
      queue = own(device.createCompletionQueue(2 * SLOTS));
      memory = own(device.allocateMemory(2L * SLOTS * SLOT, DmaPlacement.CONTIGUOUS));
      region = own(domain.registerMemory(memory, Access.LOCAL_WRITE));
      pair =
          own(
              domain.createGeneralServicesQueuePair(
                  QueuePairConfig.of(queue).withRequests(SLOTS, SLOTS)));
    } catch (RuntimeException e) {
      closeParts();
      throw e;
    }
    for (int i = 0; i < SLOTS; i++) {
      free.add(i);
      receive(i);
    }
  }

  private <T extends AutoCloseable> T own(T part) {
    parts.push(part);
    return part;
  }

  private void receive(int slot) {
    pair.postReceive(slot, region.lkey(), region.address() + (long) slot * SLOT, SLOT);
  }

  /** Sends a message, if there is room; it may be lost like any datagram. */
  void send(CmMessage message, DatagramPath path) {
    Integer slot = free.poll();
    if (slot == null) {
      return;
    }
    Route route = route(path);
    long offset = (long) (SLOTS + slot) * SLOT;
    message.encode(memory.segment(), offset);
    boolean posted =
        pair.postSend(
            SEND | slot,
            route.handle,
            pair.qpn(),
            DatagramQueuePair.GENERAL_SERVICES_KEY,
            region.lkey(),
            region.address() + offset,
            CmMessage.SIZE,
            QueuePair.SIGNALED);
    if (!posted) {
      free.add(slot);
      return;
    }
    route.inFlight++;
    using[slot] = route;
    pair.ring();
  }

  private Route route(DatagramPath path) {
    Route known = routes.get(path);
    if (known != null) {
      return known;
    }
    Iterator<Route> oldest = routes.values().iterator();
    while (routes.size() >= MOST_ROUTES && oldest.hasNext()) {
      Route route = oldest.next();
      if (route.inFlight == 0) {
        oldest.remove();
        route.handle.close();
      }
    }
    Route made = new Route(domain.createAddressHandle(path));
    routes.put(path, made);
    return made;
  }

  /** Hands over what has come. */
  void poll(Handler handler) {
    while (queue.poll(completion)) {
      int slot = (int) completion.wrId();
      if ((completion.wrId() & SEND) != 0) {
        Route route = using[slot];
        if (route != null) {
          route.inFlight--;
          using[slot] = null;
        }
        free.add(slot);
        continue;
      }
      if (completion.isSuccess() && completion.bytes() == HEADER + CmMessage.SIZE) {
        long at = (long) slot * SLOT;
        CmMessage message = CmMessage.decode(memory.segment(), at + HEADER);
        DatagramPath back = ReceivedPath.reply(memory.segment(), at, completion);
        receive(slot);
        if (message != null) {
          handler.arrived(message, back);
        }
      } else if (completion.isSuccess()) {
        receive(slot);
      }
    }
  }

  /** Waits, but not for long, until all messages are on the wire. */
  void drain(DeviceClock clock) {
    long end = clock.nanos() + DRAIN_NANOS;
    while (free.size() < SLOTS && clock.nanos() < end) {
      clock.pause(1000);
      poll((message, back) -> {});
    }
  }

  @Override
  public void close() {
    closeParts();
  }

  private void closeParts() {
    RuntimeException first = null;
    // The queue pair goes before the handles that its work may name.
    for (AutoCloseable part : parts) {
      first = closing(part, first);
      if (part instanceof DatagramQueuePair) {
        for (Route route : routes.values()) {
          first = closing(route.handle, first);
        }
        routes.clear();
      }
    }
    parts.clear();
    if (first != null) {
      throw first;
    }
  }

  private static @Nullable RuntimeException closing(
      AutoCloseable part, @Nullable RuntimeException first) {
    try {
      part.close();
    } catch (RuntimeException e) {
      if (first == null) {
        return e;
      }
      first.addSuppressed(e);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return first;
  }
}
