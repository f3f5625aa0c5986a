package irdma4j.cli;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaException;
import irdma4j.hwregs.AeCode;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Our end of what {@code tests/guest/rxe/probe.c} does in the guest: the scenarios that no common
 * tool has. Not a test of its own; {@code tests/guest/rxe/run} starts it.
 */
@Command(name = "probe")
final class GuestProbe implements Callable<Integer> {
  private static final int BUFFER = 8192;
  private static final int MESSAGE = 5000;
  private static final int SHORT = 100;
  private static final int IMMEDIATE = 0x01020304;
  private static final int OTHER_KEY = 0x5a00;
  private static final int OTHER_PAIR = 0x5555;
  private static final int PSN = 0x654321;
  private static final long MILLISECOND = 1_000_000L;

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private PortOptions port = new PortOptions();

  @Parameters(index = "0")
  private String scenario = "";

  @Parameters(index = "1")
  private String role = "";

  @Option(names = "-p", required = true)
  private int number;

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new GuestProbe()).execute(arguments));
  }

  @Override
  public Integer call() {
    return Roles.play(spec, port, true, this::play, this::play);
  }

  private boolean is(String name) {
    return scenario.equals(name);
  }

  private void play(CabledPort cable, PrintWriter out, Runnable listening) throws IOException {
    cable
        .device()
        .onAsyncEvent(
            event -> {
              AeCode code = AeCode.of(event.code());
              out.println("event " + (code == null ? event.code() : code));
            });
    boolean requester = role.equals("requester");
    try (ProtectionDomain domain = cable.device().allocateProtectionDomain();
        CompletionQueue queue = cable.device().createCompletionQueue(16);
        DmaMemory memory = cable.device().allocateMemory(BUFFER, DmaPlacement.SCATTERED);
        MemoryRegion region =
            domain.registerMemory(
                memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);
        QueuePair pair = domain.createQueuePair(QueuePairConfig.of(queue).withRequests(4, 4));
        TcpPeer tcp = TcpPeer.accept(cable, number, listening)) {
      PerfEnd own =
          new PerfEnd(
              1,
              pair.qpn(),
              PSN,
              region.rkey(),
              region.address(),
              cable.settings().addresses().get(0).gid());
      PerfEnd peer = meet(tcp, own);
      RcPath path =
          cable
              .connectedPath(
                  own.gid(),
                  peer.gid(),
                  is("gone") && requester ? peer.qpn() ^ OTHER_PAIR : peer.qpn(),
                  own.psn(),
                  peer.psn())
              .withMtu(cable.settings().mtu())
              .withReads(1, 1)
              .withRetries(is("gone") ? 2 : 7, is("rnr_exhausted") ? 2 : 7);
      if (!requester && !is("rnr") && !is("rnr_exhausted")) {
        pair.postReceive(0, region.lkey(), region.address(), is("too_long") ? SHORT : BUFFER);
      }
      pair.connect(path);
      meet(tcp, own);
      MemorySegment bytes = memory.segment();
      if (requester) {
        for (int i = 0; i < BUFFER; i++) {
          bytes.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
        }
        post(pair, region, peer);
        completion(cable, queue, bytes, out, true);
      } else {
        if (is("rnr")) {
          cable.rest(300 * MILLISECOND);
          pair.postReceive(0, region.lkey(), region.address(), BUFFER);
        }
        if (is("rnr") || is("write_immediate")) {
          completion(cable, queue, bytes, out, true);
        }
      }
      meet(tcp, own);
      cable.rest(300 * MILLISECOND);
      completion(cable, queue, bytes, out, false);
      out.println("state " + pair.state());
    }
  }

  private static PerfEnd meet(TcpPeer tcp, PerfEnd own) throws IOException {
    PerfEnd peer = PerfEnd.decode(tcp.read(PerfEnd.SIZE));
    tcp.write(own.encode());
    return peer;
  }

  private void post(QueuePair pair, MemoryRegion region, PerfEnd peer) {
    long from = region.address();
    int key = region.lkey();
    long to = peer.address();
    int flags = QueuePair.SIGNALED;
    boolean posted =
        switch (scenario) {
          case "write_immediate" ->
              pair.postWriteImmediate(1, key, from, MESSAGE, to, peer.rkey(), IMMEDIATE, flags);
          case "bad_key" ->
              pair.postWrite(1, key, from, MESSAGE, to, peer.rkey() ^ OTHER_KEY, flags);
          default -> pair.postSend(1, key, from, MESSAGE, flags);
        };
    if (!posted) {
      throw new RdmaException("the queue is full");
    }
    pair.ring();
  }

  private static void completion(
      CabledPort cable,
      CompletionQueue queue,
      MemorySegment bytes,
      PrintWriter out,
      boolean expected) {
    Completion completion = new Completion();
    if (expected) {
      cable.awaitThat(() -> queue.poll(completion), "a completion");
    } else if (!queue.poll(completion)) {
      return;
    }
    if (!completion.isSuccess() || completion.isSend()) {
      out.println("completion " + completion);
      return;
    }
    boolean equal = true;
    for (int i = 0; i < MESSAGE; i++) {
      equal &= bytes.get(ValueLayout.JAVA_BYTE, i) == (byte) (i * 7);
    }
    out.printf(
        "received %d bytes, immediate %08x, data %s%n",
        completion.bytes(),
        completion.hasImmediate() ? completion.immediate() : 0,
        equal ? "equal" : "differ");
  }
}
