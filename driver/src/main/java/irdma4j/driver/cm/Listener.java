package irdma4j.driver.cm;

/** Somebody waits for requests at a port. Closing it leaves its connections as they are. */
public final class Listener implements AutoCloseable {
  private final ConnectionManager manager;
  private final PortSpace space;
  private final int port;
  private final int backlog;

  Listener(ConnectionManager manager, PortSpace space, int port, int backlog) {
    this.manager = manager;
    this.space = space;
    this.port = port;
    this.backlog = backlog;
  }

  /** Requests that may be unanswered at once. */
  public int backlog() {
    return backlog;
  }

  /** Connections or datagrams. */
  public PortSpace space() {
    return space;
  }

  /** The port. */
  public int port() {
    return port;
  }

  @Override
  public void close() {
    manager.forget(this);
  }
}
