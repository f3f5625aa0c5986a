package irdma4j.cli;

import irdma4j.driver.RdmaException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import picocli.CommandLine.Model.CommandSpec;

/** Runs one side of a command at its port, or both sides in this process. */
final class Roles {
  /** One side of a command. */
  interface Role {
    /**
     * Plays it.
     *
     * @param listening to be told when a client may come
     */
    void play(CabledPort cable, PrintWriter out, Runnable listening) throws IOException;
  }

  private Roles() {}

  /**
   * Plays the server or the client; both if no wire leads out of here.
   *
   * @return the command's exit status
   */
  static int play(
      CommandSpec spec, PortOptions options, boolean isServer, Role server, Role client) {
    PrintWriter out = spec.commandLine().getOut();
    try {
      if (options.isLoopback()) {
        playBoth(options, out, server, client);
      } else {
        try (CabledPort cable = options.open()) {
          (isServer ? server : client).play(cable, out, () -> {});
        }
      }
      return 0;
    } catch (RdmaException | IOException e) {
      spec.commandLine().getErr().println(spec.name() + ": " + e.getMessage());
      return 1;
    } finally {
      out.flush();
    }
  }

  /** The server's lines come after the client's, so that they don't mix. */
  private static void playBoth(PortOptions options, PrintWriter out, Role server, Role client)
      throws IOException {
    StringWriter lines = new StringWriter();
    try (PortOptions.Pair pair = options.openPair()) {
      CountDownLatch listening = new CountDownLatch(1);
      FutureTask<Void> task =
          new FutureTask<>(
              () -> {
                try {
                  server.play(pair.server(), new PrintWriter(lines, true), listening::countDown);
                } finally {
                  listening.countDown();
                }
                return null;
              });
      Thread thread = Thread.ofPlatform().daemon().name("server").start(task);
      try {
        listening.await();
        client.play(pair.client(), out, () -> {});
      } finally {
        thread.join();
        out.print(lines);
      }
      task.get();
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case IOException failure -> throw failure;
        case RuntimeException failure -> throw failure;
        default -> throw new IllegalStateException(e);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RdmaException("interrupted");
    }
  }
}
