package irdma4j.driver.cm;

import irdma4j.driver.DatagramPath;
import irdma4j.driver.Gid;
import irdma4j.driver.QueuePair;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.cm.CmMessage.Answered;
import irdma4j.driver.cm.CmMessage.PathRecord;
import irdma4j.driver.cm.Connection.State;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.EthernetPort;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Sets connections up and takes them down, by InfiniBand's communication management over QP 1.
 *
 * <p>Nothing happens but inside {@link #poll} and {@link #await}: they take in what has come, send
 * again what was not answered, and hand over the next event. One thread at a time, the one that
 * makes the device's objects. Close it before the device; queue pairs stay their owners'.
 *
 * <p>Source: InfiniBand Architecture Specification, volume 1, chapter 12 and annex A11; what Linux
 * leaves open there is taken from its {@code cm.c} and {@code cma.c}.
 */
public final class ConnectionManager implements AutoCloseable {
  private static final int PKEY = 0xffff;
  private static final int LID = 0xffff;
  private static final int HOPS = 64;
  private static final int TARGET_ACK_DELAY = 15;
  private static final int RELIABLE_CONNECTION = 0;
  private static final int WAIT_FOR_APPLICATION = 24;
  private static final int FIRST_DYNAMIC_PORT = 0xc000;
  private static final long GRANULARITY = 20_000;
  private static final int BACKLOG = 1024;

  private record Remote(Gid gid, int id) {}

  private final DeviceClock clock;
  private final CmConfig config;
  private final long guid;
  private final SplittableRandom random;
  private final Neighbours neighbours;
  private final GeneralServices services;
  private final DatagramExchanges datagrams;
  private final ArrayDeque<CmEvent> events = new ArrayDeque<>();
  private final Map<Long, Listener> listeners = new HashMap<>();
  private final Map<Integer, Connection> connections = new LinkedHashMap<>();
  private final Map<Remote, Connection> byRemote = new HashMap<>();
  private final ArrayList<AddressQuestion> questions = new ArrayList<>();
  private boolean closed;

  private ConnectionManager(RdmaDevice device, EthernetPort lan, CmConfig config) {
    this.clock = device.function().clock();
    this.config = config;
    this.random = new SplittableRandom(config.seed());
    long mac = device.macAddress();
    // EUI-64 of the MAC address, as a card without a GUID of its own has it.
    this.guid = (mac >>> 24) << 40 | 0xff_fe00_0000L | (mac & 0xff_ffff);
    this.neighbours = new Neighbours(lan, mac, config);
    this.services = new GeneralServices(device);
    this.datagrams = new DatagramExchanges(config, clock, neighbours, services, events);
  }

  /**
   * Takes QP 1 of a device.
   *
   * @param lan the frames of the device's port that are not RDMA's
   * @throws IllegalStateException if the device's QP 1 is taken
   */
  public static ConnectionManager open(RdmaDevice device, EthernetPort lan, CmConfig config) {
    return new ConnectionManager(device, lan, config);
  }

  // What applications ask for.

  /**
   * Waits for requests at a port, with room for 1024 that were not answered.
   *
   * @throws IllegalStateException if somebody does already
   */
  public Listener listen(PortSpace space, int port) {
    return listen(space, port, BACKLOG);
  }

  /**
   * Waits for requests at a port.
   *
   * @param backlog how many requests the application may leave unanswered, at least 1; further ones
   *     are refused, of connections as {@link RejectReason#NO_RESOURCES}, of datagrams with status
   *     3
   * @throws IllegalStateException if somebody does already
   */
  public Listener listen(PortSpace space, int port, int backlog) {
    requireOpen();
    if (backlog < 1) {
      throw new IllegalArgumentException("backlog " + backlog + ": at least 1");
    }
    long id = space.serviceId(PortSpace.requirePort(port));
    if (listeners.containsKey(id)) {
      throw new IllegalStateException("port " + port + " is taken");
    }
    Listener listener = new Listener(this, space, port, backlog);
    listeners.put(id, listener);
    return listener;
  }

  void forget(Listener listener) {
    listeners.remove(listener.space().serviceId(listener.port()), listener);
  }

  /**
   * Asks for a connection. An event tells how it ended.
   *
   * @param pair in state INIT, with receives posted if the peer is to send at once
   * @throws IllegalArgumentException if the peer is no neighbour by any address
   */
  public Connection connect(QueuePair pair, Gid peer, int port, ConnectionParameters parameters) {
    requireOpen();
    parameters.privateData().requireAtMost(CmMessage.Req.CONSUMER_PRIVATE);
    long service = PortSpace.TCP.serviceId(PortSpace.requirePort(port));
    Connection c =
        new Connection(this, newId(), config.toward(peer), peer, Connection.State.RESOLVING);
    c.pair = pair;
    c.parameters = parameters;
    c.serviceId = service;
    c.mtu = config.mtu();
    c.psn = random.nextInt(1 << 24);
    c.retriesLeft = Neighbours.ASKED;
    connections.put(c.localId, c);
    resolve(c);
    return c;
  }

  /**
   * Asks for the queue pair of a datagram service. An event tells the answer.
   *
   * @param privateData up to 180 bytes for the peer
   * @throws IllegalArgumentException if the peer is no neighbour by any address
   */
  public DatagramLookup lookUp(Gid peer, int port, PrivateData privateData) {
    requireOpen();
    privateData.requireAtMost(CmMessage.SidrReq.CONSUMER_PRIVATE);
    LocalAddress own = config.toward(peer);
    int id = newId();
    DatagramLookup lookup =
        new DatagramLookup(
            id,
            own,
            peer,
            new CmMessage.SidrReq(
                Integer.toUnsignedLong(id),
                id,
                PKEY,
                PortSpace.UDP.serviceId(PortSpace.requirePort(port)),
                withHeader(own.gid(), peer, privateData, CmMessage.SidrReq.PRIVATE)));
    datagrams.ask(lookup);
    return lookup;
  }

  /**
   * Asks for the way to a neighbour, for queue pairs whose applications agree without connection
   * management. An event tells it.
   *
   * @throws IllegalArgumentException if the peer is no neighbour by any address
   */
  public void resolve(Gid peer) {
    requireOpen();
    questions.add(new AddressQuestion(config.toward(peer), peer, Neighbours.ASKED));
  }

  /** Does what is due and takes the next event; null if there is none. */
  public @Nullable CmEvent poll() {
    requireOpen();
    neighbours.progress();
    services.poll(this::arrived);
    long now = clock.nanos();
    for (Connection c : List.copyOf(connections.values())) {
      if (c.state == State.RESOLVING || c.deadline <= now) {
        due(c, now);
      }
    }
    datagrams.progress(now);
    questions.removeIf(question -> isAnswered(question, now));
    return events.poll();
  }

  /**
   * Waits for the next event.
   *
   * @param nanos how long at most, in the device's time
   * @return null if none came
   */
  public @Nullable CmEvent await(long nanos) {
    long end = clock.nanos() + nanos;
    while (true) {
      CmEvent event = poll();
      if (event != null || clock.nanos() >= end) {
        return event;
      }
      clock.pause(GRANULARITY);
    }
  }

  /** How many connections there are, those that have just ended included. */
  public int connections() {
    return connections.size();
  }

  /** Gives up all connections, whose peers are told once, and QP 1. Closing twice does nothing. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    for (Connection c : List.copyOf(connections.values())) {
      if (c.state == State.REQ_RECEIVED) {
        sendReject(c, Answered.REQ, RejectReason.NO_RESOURCES, PrivateData.NONE);
      } else if (c.state != State.TIMEWAIT) {
        disconnect(c);
      }
    }
    services.drain(clock);
    closed = true;
    services.close();
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the connection manager is closed");
    }
  }

  // The active side.

  private int newId() {
    int id = random.nextInt();
    return id == 0 || connections.containsKey(id) || datagrams.isAsking(id) ? newId() : id;
  }

  private PrivateData withHeader(Gid own, Gid peer, PrivateData data, int size) {
    MemorySegment m = MemorySegment.ofArray(new byte[size]);
    new IpHeader(random.nextInt(FIRST_DYNAMIC_PORT, 1 << 16), own, peer).encode(m, 0);
    data.write(m, IpHeader.SIZE, size - IpHeader.SIZE);
    return PrivateData.read(m, 0, size);
  }

  private void resolve(Connection c) {
    long mac = neighbours.macOrAsk(c.local, c.remote);
    if (mac < 0) {
      c.deadline = clock.nanos() + Neighbours.ASK_AGAIN;
      return;
    }
    c.path = c.local.pathTo(c.remote, mac);
    c.transaction = Integer.toUnsignedLong(c.localId);
    c.state = State.REQ_SENT;
    QueuePair pair = c.pair;
    PathRecord path =
        new PathRecord(
            LID, LID, c.local.gid(), c.remote, 0, 0, 0, HOPS, 0, true, config.ackTimeout());
    request(
        c,
        new CmMessage.Req(
            c.transaction,
            c.localId,
            c.serviceId,
            guid,
            0,
            pair == null ? 0 : pair.qpn(),
            c.parameters.responderResources(),
            c.parameters.initiatorDepth(),
            config.responseTimeout(),
            RELIABLE_CONNECTION,
            false,
            c.psn,
            config.responseTimeout(),
            c.parameters.retryCount(),
            PKEY,
            CmConfig.mtuCode(c.mtu),
            c.parameters.rnrRetryCount(),
            config.retries(),
            false,
            path,
            PathRecord.NONE,
            withHeader(c.local.gid(), c.remote, c.parameters.privateData(), CmMessage.Req.PRIVATE)),
        CmConfig.nanos(config.responseTimeout()));
  }

  /** Sends a message that is to be answered, and sent again until it is. */
  private void request(Connection c, CmMessage message, long interval) {
    c.outstanding = message;
    c.interval = interval;
    c.retriesLeft = config.retries();
    c.deadline = clock.nanos() + interval;
    send(c, message);
  }

  private void send(Connection c, CmMessage message) {
    DatagramPath path = c.path;
    if (path != null) {
      services.send(message, path);
    }
  }

  private void due(Connection c, long now) {
    switch (c.state) {
      case RESOLVING -> {
        if (neighbours.macOf(c.remote) >= 0) {
          resolve(c);
        } else if (c.deadline <= now && --c.retriesLeft <= 0) {
          close(c);
          events.add(new CmEvent.Unreachable(c, "nobody answers for the address " + c.remote));
        } else if (c.deadline <= now) {
          resolve(c);
        }
      }
      case REQ_SENT, REP_SENT, DREQ_SENT -> again(c, now);
      default -> close(c);
    }
  }

  private void again(Connection c, long now) {
    CmMessage message = c.outstanding;
    if (c.retriesLeft-- > 0 && message != null) {
      c.deadline = now + c.interval;
      send(c, message);
      return;
    }
    if (c.state == State.DREQ_SENT) {
      timewait(c);
      events.add(new CmEvent.Disconnected(c));
      return;
    }
    boolean active = c.state == State.REQ_SENT;
    sendReject(c, active ? Answered.REQ : Answered.REP, RejectReason.TIMEOUT, PrivateData.NONE);
    neighbours.forget(c.remote);
    fail(c);
    close(c);
    events.add(
        new CmEvent.Unreachable(c, c.remote + (active ? " did not answer" : " did not confirm")));
  }

  /** Asks if it is time to; tells the answer, or that there is none. */
  private boolean isAnswered(AddressQuestion question, long now) {
    long mac = neighbours.macOf(question.remote);
    if (mac >= 0) {
      events.add(new CmEvent.AddressFound(question.remote, question.path(mac)));
      return true;
    }
    if (question.deadline > now) {
      return false;
    }
    if (question.retriesLeft-- == 0) {
      events.add(new CmEvent.AddressUnknown(question.remote));
      return true;
    }
    neighbours.ask(question.local, question.remote);
    question.deadline = now + Neighbours.ASK_AGAIN;
    return false;
  }

  // Messages.

  private void arrived(CmMessage message, DatagramPath back) {
    LocalAddress own = config.local(back.localGid(), back.vlan());
    if (own == null) {
      return;
    }
    switch (message) {
      case CmMessage.Req req -> arrived(req, own, back);
      case CmMessage.Mra mra -> arrived(mra);
      case CmMessage.Rep rep -> arrived(rep, back);
      case CmMessage.Rtu rtu -> arrived(rtu);
      case CmMessage.Rej rej -> arrived(rej);
      case CmMessage.Dreq dreq -> arrived(dreq, back);
      case CmMessage.Drep drep -> arrived(drep);
      case CmMessage.SidrReq request ->
          datagrams.arrived(request, back, listeners.get(request.serviceId()));
      case CmMessage.SidrRep reply -> datagrams.arrived(reply);
    }
  }

  /** The connection that a message speaks of, if the message is of that connection's peer. */
  private @Nullable Connection find(int ours, int theirs) {
    Connection c = connections.get(ours);
    return c != null && (c.remoteId == 0 || theirs == 0 || c.remoteId == theirs) ? c : null;
  }

  private void arrived(CmMessage.Req req, LocalAddress own, DatagramPath back) {
    Connection known = byRemote.get(new Remote(back.remoteGid(), req.localId()));
    if (known != null) {
      repeated(known);
      return;
    }
    Connection c = new Connection(this, newId(), own, back.remoteGid(), State.REQ_RECEIVED);
    c.remoteId = req.localId();
    c.remoteQpn = req.qpn();
    c.transaction = req.transaction();
    c.serviceId = req.serviceId();
    c.path = back;
    c.mtu = 128 << req.pathMtu();
    Listener listener = listeners.get(req.serviceId());
    IpHeader header = req.ipHeader();
    RejectReason reason = null;
    if (req.transportType() != RELIABLE_CONNECTION) {
      reason = RejectReason.INVALID_TRANSPORT_TYPE;
    } else if (listener == null || header == null) {
      reason = RejectReason.INVALID_SERVICE_ID;
    } else if (!header.destination().equals(back.localGid())) {
      reason = RejectReason.INVALID_GID;
    } else if (req.pathMtu() < 1 || req.pathMtu() > 5) {
      reason = RejectReason.INVALID_PATH_MTU;
    } else if (unanswered(req.serviceId()) >= listener.backlog()) {
      reason = RejectReason.NO_RESOURCES;
    } else {
      for (Connection other : List.copyOf(connections.values())) {
        if (other.remote.equals(c.remote)
            && other.remoteQpn == c.remoteQpn
            && other.state == State.ESTABLISHED) {
          reason = RejectReason.STALE_CONNECTION;
          disconnect(other);
        }
      }
    }
    if (reason != null || listener == null) {
      services.send(
          reject(0, c, Answered.REQ, reason == null ? RejectReason.INVALID_SERVICE_ID : reason),
          back);
      return;
    }
    connections.put(c.localId, c);
    byRemote.put(new Remote(c.remote, c.remoteId), c);
    events.add(new ConnectRequest(this, listener, c, req));
  }

  private long unanswered(long serviceId) {
    return connections.values().stream()
        .filter(c -> c.state == State.REQ_RECEIVED && c.serviceId == serviceId)
        .count();
  }

  /** A request that came before: the answer was lost, or the application takes its time. */
  private void repeated(Connection c) {
    CmMessage reply = c.outstanding;
    if (c.state == State.REQ_RECEIVED) {
      send(
          c,
          new CmMessage.Mra(
              c.transaction,
              c.localId,
              c.remoteId,
              Answered.REQ,
              WAIT_FOR_APPLICATION,
              PrivateData.NONE));
    } else if (c.state == State.REP_SENT && reply != null) {
      send(c, reply);
    }
  }

  private void arrived(CmMessage.Mra mra) {
    Connection c = find(mra.remoteId(), mra.localId());
    if (c != null && (c.state == State.REQ_SENT || c.state == State.REP_SENT)) {
      c.deadline = clock.nanos() + CmConfig.nanos(mra.serviceTimeout()) + c.interval;
    }
  }

  private void arrived(CmMessage.Rep rep, DatagramPath back) {
    Connection c = find(rep.remoteId(), rep.localId());
    if (c == null) {
      services.send(
          new CmMessage.Rej(
              rep.transaction(),
              0,
              rep.localId(),
              Answered.REP,
              RejectReason.INVALID_COMM_ID.code(),
              PrivateData.NONE,
              PrivateData.NONE),
          back);
      return;
    }
    if (c.state == State.ESTABLISHED) {
      send(c, confirmation(c));
      return;
    }
    if (c.state != State.REQ_SENT) {
      return;
    }
    c.remoteId = rep.localId();
    c.remoteQpn = rep.qpn();
    QueuePair pair = c.pair;
    try {
      if (pair == null) {
        throw new IllegalStateException("no queue pair");
      }
      pair.connect(
          path(
              c,
              rep.startingPsn(),
              c.parameters.retryCount(),
              rep.rnrRetryCount(),
              rep.responderResources(),
              rep.initiatorDepth()));
    } catch (RuntimeException e) {
      sendReject(c, Answered.REP, RejectReason.NO_QP, PrivateData.NONE);
      fail(c);
      close(c);
      events.add(new CmEvent.Unreachable(c, "the queue pair: " + e.getMessage()));
      return;
    }
    byRemote.put(new Remote(c.remote, c.remoteId), c);
    established(c);
    send(c, confirmation(c));
    events.add(new CmEvent.Established(c, rep.privateData()));
  }

  /**
   * The queue pair's path.
   *
   * @param startingPsn of the peer's message: with which number we are to begin sending
   */
  private RcPath path(
      Connection c,
      int startingPsn,
      int retries,
      int rnrRetries,
      int peerResources,
      int peerDepth) {
    DatagramPath path = c.path;
    if (path == null) {
      throw new IllegalStateException("no path");
    }
    return new RcPath(
        c.local.gid(),
        c.remote,
        path.remoteMac(),
        c.remoteQpn,
        startingPsn,
        c.psn,
        c.mtu,
        retries,
        rnrRetries,
        Math.clamp(Math.min(c.parameters.initiatorDepth(), peerResources), 1, 127),
        Math.clamp(Math.max(c.parameters.responderResources(), peerDepth), 1, 127),
        HOPS,
        0,
        path.vlan());
  }

  private static CmMessage confirmation(Connection c) {
    return new CmMessage.Rtu(c.transaction, c.localId, c.remoteId, PrivateData.NONE);
  }

  private static void established(Connection c) {
    c.state = State.ESTABLISHED;
    c.outstanding = null;
    c.deadline = Long.MAX_VALUE;
  }

  private void arrived(CmMessage.Rtu rtu) {
    Connection c = find(rtu.remoteId(), rtu.localId());
    QueuePair pair = c == null ? null : c.pair;
    if (c == null || c.state != State.REP_SENT || pair == null) {
      return;
    }
    try {
      pair.toReadyToSend();
    } catch (RuntimeException e) {
      disconnect(c);
      return;
    }
    established(c);
    events.add(new CmEvent.Established(c, rtu.privateData()));
  }

  private void arrived(CmMessage.Rej rej) {
    Connection c = rej.remoteId() == 0 ? null : find(rej.remoteId(), rej.localId());
    if (c == null && rej.localId() != 0) {
      // A peer that gives its request up may not have learned our id.
      c =
          connections.values().stream()
              .filter(
                  other ->
                      other.remoteId == rej.localId() && other.transaction == rej.transaction())
              .findFirst()
              .orElse(null);
    }
    if (c == null) {
      return;
    }
    State was = c.state;
    switch (was) {
      case REQ_SENT, REP_SENT -> {
        fail(c);
        close(c);
        events.add(new CmEvent.Rejected(c, rej.reason(), rej.privateData()));
      }
      case REQ_RECEIVED -> close(c);
      case ESTABLISHED, DREQ_SENT -> {
        fail(c);
        timewait(c);
        events.add(new CmEvent.Disconnected(c));
      }
      default -> {}
    }
  }

  private void arrived(CmMessage.Dreq dreq, DatagramPath back) {
    services.send(
        new CmMessage.Drep(
            dreq.transaction(),
            /* localId= */ dreq.remoteId(),
            /* remoteId= */ dreq.localId(),
            PrivateData.NONE),
        back);
    Connection c = find(dreq.remoteId(), dreq.localId());
    if (c != null
        && (c.state == State.ESTABLISHED
            || c.state == State.REP_SENT
            || c.state == State.DREQ_SENT)) {
      fail(c);
      timewait(c);
      events.add(new CmEvent.Disconnected(c));
    }
  }

  private void arrived(CmMessage.Drep drep) {
    Connection c = find(drep.remoteId(), drep.localId());
    if (c != null && c.state == State.DREQ_SENT) {
      timewait(c);
      events.add(new CmEvent.Disconnected(c));
    }
  }

  // The passive side.

  void accept(
      ConnectRequest request, Connection c, QueuePair pair, ConnectionParameters parameters) {
    parameters.privateData().requireAtMost(CmMessage.Rep.PRIVATE);
    CmMessage.Req req = request.message();
    c.pair = pair;
    c.parameters = parameters;
    c.psn = random.nextInt(1 << 24);
    try {
      pair.toReadyToReceive(
          path(
              c,
              req.startingPsn(),
              req.retryCount(),
              req.rnrRetryCount(),
              req.responderResources(),
              req.initiatorDepth()));
    } catch (RuntimeException e) {
      reject(c, req, RejectReason.NO_QP, PrivateData.NONE);
      throw e;
    }
    c.state = State.REP_SENT;
    request(
        c,
        new CmMessage.Rep(
            c.transaction,
            c.localId,
            c.remoteId,
            0,
            pair.qpn(),
            c.psn,
            parameters.responderResources(),
            parameters.initiatorDepth(),
            TARGET_ACK_DELAY,
            0,
            false,
            parameters.rnrRetryCount(),
            false,
            guid,
            parameters.privateData()),
        CmConfig.nanos(req.localResponseTimeout()));
    c.retriesLeft = req.maxCmRetries();
  }

  void reject(Connection c, CmMessage.Req req, RejectReason reason, PrivateData data) {
    sendReject(c, Answered.REQ, reason, data);
    close(c);
  }

  private void sendReject(Connection c, Answered what, RejectReason reason, PrivateData data) {
    send(
        c,
        new CmMessage.Rej(
            c.transaction, c.localId, c.remoteId, what, reason.code(), PrivateData.NONE, data));
  }

  private static CmMessage reject(int localId, Connection c, Answered what, RejectReason reason) {
    return new CmMessage.Rej(
        c.transaction,
        localId,
        c.remoteId,
        what,
        reason.code(),
        PrivateData.NONE,
        PrivateData.NONE);
  }

  // The end.

  void disconnect(Connection c) {
    switch (c.state) {
      case RESOLVING -> close(c);
      case REQ_SENT -> {
        sendReject(c, Answered.REQ, RejectReason.TIMEOUT, PrivateData.NONE);
        close(c);
      }
      case REP_SENT, ESTABLISHED -> {
        fail(c);
        c.state = State.DREQ_SENT;
        request(
            c,
            new CmMessage.Dreq(
                Integer.toUnsignedLong(c.localId),
                c.localId,
                c.remoteId,
                c.remoteQpn,
                PrivateData.NONE),
            CmConfig.nanos(config.responseTimeout()));
      }
      default -> {}
    }
  }

  /** The queue pair takes and gives nothing more. */
  private static void fail(Connection c) {
    QueuePair pair = c.pair;
    if (pair != null && pair.state() != irdma4j.driver.QueuePairState.INIT) {
      pair.toError();
    }
  }

  private void timewait(Connection c) {
    c.state = State.TIMEWAIT;
    c.outstanding = null;
    c.deadline = clock.nanos() + 2 * CmConfig.nanos(config.responseTimeout());
  }

  private void close(Connection c) {
    c.state = State.CLOSED;
    connections.remove(c.localId);
    byRemote.remove(new Remote(c.remote, c.remoteId), c);
  }
}
