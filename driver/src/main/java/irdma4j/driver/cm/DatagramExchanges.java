package irdma4j.driver.cm;

import irdma4j.driver.DatagramPath;
import irdma4j.driver.Gid;
import irdma4j.uapi.DeviceClock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Service ID resolution: who asks for the queue pair of a datagram service, and what was answered
 * to whom. Source: InfiniBand Architecture Specification, volume 1, 12.11.
 */
final class DatagramExchanges {
  private static final int REMEMBERED_ANSWERS = 256;
  private static final int UNSUPPORTED = 1;
  private static final int NO_QUEUE_PAIR = 3;

  private record Asker(Gid gid, int requestId) {}

  /** The answer to a request, null while the application owes it. */
  private record Given(long serviceId, CmMessage.@Nullable SidrRep reply) {}

  private final CmConfig config;
  private final DeviceClock clock;
  private final Neighbours neighbours;
  private final GeneralServices services;
  private final Queue<CmEvent> events;
  private final Map<Integer, DatagramLookup> lookups = new LinkedHashMap<>();
  private final Map<Asker, Given> given =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Asker, Given> eldest) {
          return size() > REMEMBERED_ANSWERS;
        }
      };

  /**
   * No exchange yet.
   *
   * @param events where the outcome of each is put
   */
  DatagramExchanges(
      CmConfig config,
      DeviceClock clock,
      Neighbours neighbours,
      GeneralServices services,
      Queue<CmEvent> events) {
    this.config = config;
    this.clock = clock;
    this.neighbours = neighbours;
    this.services = services;
    this.events = events;
  }

  // Those who ask.

  boolean isAsking(int requestId) {
    return lookups.containsKey(requestId);
  }

  void ask(DatagramLookup lookup) {
    lookup.retriesLeft = Neighbours.ASKED;
    lookups.put(lookup.requestId, lookup);
    resolve(lookup);
  }

  private void resolve(DatagramLookup lookup) {
    long mac = neighbours.macOrAsk(lookup.local, lookup.remote);
    if (mac < 0) {
      lookup.deadline = clock.nanos() + Neighbours.ASK_AGAIN;
      return;
    }
    DatagramPath path = lookup.local.pathTo(lookup.remote, mac);
    lookup.path = path;
    lookup.retriesLeft = config.retries();
    lookup.deadline = clock.nanos() + CmConfig.nanos(config.responseTimeout());
    services.send(lookup.message, path);
  }

  /** Asks again where it is time to, and gives up what was asked often enough. */
  void progress(long now) {
    for (DatagramLookup lookup : List.copyOf(lookups.values())) {
      if (lookup.path == null || lookup.deadline <= now) {
        due(lookup, now);
      }
    }
  }

  private void due(DatagramLookup lookup, long now) {
    DatagramPath path = lookup.path;
    if (path == null && neighbours.macOf(lookup.remote) >= 0) {
      resolve(lookup);
      return;
    }
    if (lookup.deadline > now) {
      return;
    }
    if (lookup.retriesLeft-- <= 0) {
      lookups.remove(lookup.requestId);
      events.add(new CmEvent.PeerUnreachable(lookup));
    } else if (path == null) {
      resolve(lookup);
    } else {
      lookup.deadline = now + CmConfig.nanos(config.responseTimeout());
      services.send(lookup.message, path);
    }
  }

  void arrived(CmMessage.SidrRep reply) {
    DatagramLookup lookup = lookups.remove(reply.requestId());
    DatagramPath path = lookup == null ? null : lookup.path;
    if (lookup == null || path == null) {
      return;
    }
    events.add(
        reply.status() == 0
            ? new CmEvent.PeerFound(
                lookup, path, reply.qpn(), reply.queueKey(), reply.privateData())
            : new CmEvent.PeerRefused(lookup, reply.status()));
  }

  // Those who answer.

  /**
   * Takes a request; one that was answered before is answered again.
   *
   * @param listener who listens for the service, or null
   */
  void arrived(CmMessage.SidrReq request, DatagramPath back, @Nullable Listener listener) {
    Asker who = new Asker(back.remoteGid(), request.requestId());
    Given before = given.get(who);
    if (before != null) {
      CmMessage.SidrRep reply = before.reply();
      if (reply != null) {
        services.send(reply, back);
      }
      return;
    }
    IpHeader header = request.ipHeader();
    if (listener == null || header == null || !header.destination().equals(back.localGid())) {
      services.send(refusal(request, UNSUPPORTED), back);
      return;
    }
    long owed =
        given.values().stream()
            .filter(one -> one.reply() == null && one.serviceId() == request.serviceId())
            .count();
    if (owed >= listener.backlog()) {
      services.send(refusal(request, NO_QUEUE_PAIR), back);
      return;
    }
    given.put(who, new Given(request.serviceId(), null));
    events.add(new DatagramRequest(this, listener, request, back));
  }

  private static CmMessage.SidrRep refusal(CmMessage.SidrReq request, int status) {
    return new CmMessage.SidrRep(
        request.transaction(),
        request.requestId(),
        status,
        0,
        request.serviceId(),
        0,
        PrivateData.NONE,
        PrivateData.NONE);
  }

  /** The application's answer. */
  void answer(CmMessage.SidrReq request, CmMessage.SidrRep reply, DatagramPath back) {
    given.put(
        new Asker(back.remoteGid(), request.requestId()), new Given(request.serviceId(), reply));
    services.send(reply, back);
  }
}
