package irdma4j.cli;

import irdma4j.driver.RdmaException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * The other side of a test, over the machine's own TCP, by which two sides agree about their queue
 * pairs. While this side waits, its port goes on answering for its addresses.
 */
final class TcpPeer implements AutoCloseable {
  private final CabledPort cable;
  private final SocketChannel channel;

  private TcpPeer(CabledPort cable, SocketChannel channel) {
    this.cable = cable;
    this.channel = channel;
  }

  /**
   * Waits for somebody at a TCP port.
   *
   * @param listening told when one may come
   */
  static TcpPeer accept(CabledPort cable, int port, Runnable listening) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(port));
      server.configureBlocking(false);
      listening.run();
      SocketChannel[] arrived = new SocketChannel[1];
      cable.awaitThat(
          () -> {
            try {
              arrived[0] = server.accept();
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
            return arrived[0] != null;
          },
          "a client at TCP port " + port);
      return of(cable, arrived[0]);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Goes to somebody who waits. */
  static TcpPeer connect(CabledPort cable, String host, int port) throws IOException {
    InetSocketAddress address = new InetSocketAddress(host, port);
    if (address.isUnresolved()) {
      throw new UserError("no host of the name " + host);
    }
    try {
      return of(cable, SocketChannel.open(address));
    } catch (IOException e) {
      throw new IOException("no connection to %s:%d: %s".formatted(host, port, e.getMessage()), e);
    }
  }

  private static TcpPeer of(CabledPort cable, SocketChannel channel) throws IOException {
    try {
      channel.configureBlocking(false);
      channel.setOption(java.net.StandardSocketOptions.TCP_NODELAY, true);
      return new TcpPeer(cable, channel);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /** Sends all the bytes. */
  void write(byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    transfer(buffer, false);
  }

  /** Takes as many bytes. */
  byte[] read(int count) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(count);
    transfer(buffer, true);
    return buffer.array();
  }

  private void transfer(ByteBuffer buffer, boolean in) throws IOException {
    try {
      cable.awaitThat(
          () -> {
            try {
              if ((in ? channel.read(buffer) : channel.write(buffer)) < 0) {
                throw new RdmaException("the peer has closed its TCP connection");
              }
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
            return !buffer.hasRemaining();
          },
          "the peer over TCP");
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
