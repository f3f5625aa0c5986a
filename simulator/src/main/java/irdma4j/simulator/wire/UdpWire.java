package irdma4j.simulator.wire;

import irdma4j.simulator.Wire;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;

/** Frames as UDP datagrams between two addresses. */
public final class UdpWire implements Wire {
  private static final int RECEIVE_BUFFER = 4 << 20;

  private final DatagramChannel channel;
  private final InetSocketAddress remote;

  private UdpWire(DatagramChannel channel, InetSocketAddress remote) {
    this.channel = channel;
    this.remote = remote;
  }

  /** See {@link Wire#udp}. */
  public static Wire open(InetSocketAddress local, InetSocketAddress remote) throws IOException {
    if (remote.isUnresolved()) {
      throw new IOException(remote + ": unknown host");
    }
    DatagramChannel channel = DatagramChannel.open();
    try {
      channel.setOption(StandardSocketOptions.SO_RCVBUF, RECEIVE_BUFFER);
      channel.bind(local);
    } catch (IOException e) {
      channel.close();
      throw new IOException(local + ": " + e.getMessage(), e);
    }
    return new UdpWire(channel, remote);
  }

  @Override
  public void send(MemorySegment frame, int bytes) {
    try {
      channel.send(frame.asSlice(0, bytes).asByteBuffer(), remote);
    } catch (IOException e) {
      // To the receiver it is a frame that never came.
    }
  }

  @Override
  public int receive(MemorySegment target) {
    try {
      var buffer = target.asSlice(0, Math.min(target.byteSize(), MAX_FRAME)).asByteBuffer();
      return remote.equals(channel.receive(buffer)) ? buffer.position() : 0;
    } catch (ClosedChannelException e) {
      return -1;
    } catch (IOException e) {
      // Such as the peer's host saying that nobody listens yet.
      return 0;
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return "udp:" + remote;
  }
}
