package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.AddressHandle;
import irdma4j.driver.AsyncEvent;
import irdma4j.driver.Completion;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.FastRegion;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.MemoryWindow;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.QueuePairState;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaException;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.FlushCode;
import irdma4j.hwregs.SqWqe;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Icrc;
import irdma4j.simulator.wire.RoceFrame;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Each asynchronous event that the simulated card raises, provoked through the driver; each other
 * with the reason why not. The table is written to {@code target/async-events.md}.
 *
 * <p>Fails if an event does not come, or twice; comes with another code, source, queue or WQE, or
 * on the other side; does not put its queue pair into the error state; or leaves memory behind; if
 * a code has no row or two; or if the simulator can raise one that is not provoked here.
 */
class AsyncEventTableTest {
  private static final Path REPORT = Path.of("target", "async-events.md");
  private static final Path SIMULATOR = Path.of("..", "simulator", "src", "main", "java");
  private static final Pattern RAISED = Pattern.compile("AeCode\\.([A-Z][A-Z0-9_]+)");
  private static final int SIZE = 16384;
  private static final int PSN = 5;
  private static final int KEY = 0x1234;
  private static final Map<AeCode, String> TABLE = new EnumMap<>(AeCode.class);
  private static final Map<AeCode, Way> WAYS = new EnumMap<>(AeCode.class);
  private static final Map<AeCode, String> REASONS = new EnumMap<>(AeCode.class);

  /** Of the peer's requests: the far queue pair tells of them. */
  private static final Set<AeCode> FAR =
      EnumSet.of(
          AeCode.AMP_INVALIDATE_NO_REMOTE_ACCESS_RIGHTS,
          AeCode.IB_RREQ_AND_Q1_FULL,
          AeCode.INVALID_REQUEST,
          AeCode.RDMAP_ROE_UNEXPECTED_OPCODE,
          AeCode.ROE_INVALID_RDMA_WRITE_OR_READ_RESP,
          AeCode.DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER);

  /** Where it is the second WQE that is wrong; elsewhere it is the first. */
  private static final Set<AeCode> SECOND_WQE =
      EnumSet.of(
          AeCode.AMP_INVALID_STAG,
          AeCode.AMP_FASTREG_VALID_STAG,
          AeCode.AMP_FASTREG_INVALID_RIGHTS,
          AeCode.AMP_INVALIDATE_MR_WITH_BOUND_WINDOWS,
          AeCode.AMP_INVALIDATE_TYPE1_MW,
          AeCode.AMP_MWBIND_VALID_STAG,
          AeCode.AMP_MWBIND_TO_ZERO_BASED_STAG);

  private record Way(String how, Consumer<Stage> provoke) {}

  private static void way(AeCode code, String how, Consumer<Stage> provoke) {
    WAYS.put(code, new Way(how, provoke));
  }

  private static void none(String reason, AeCode... codes) {
    for (AeCode code : codes) {
      REASONS.put(code, reason);
    }
  }

  static {
    way(
        AeCode.AMP_UNALLOCATED_STAG,
        "send from a region that is gone",
        s -> {
          s.local.close();
          s.send(s.local.lkey(), s.local.address(), 64);
        });
    way(
        AeCode.AMP_INVALID_STAG,
        "send from a region that was invalidated",
        s -> {
          s.near.postInvalidate(1, s.local.lkey(), 0);
          s.send(s.local.lkey(), s.local.address(), 64);
        });
    way(
        AeCode.AMP_BAD_QP,
        "invalidate a window of another queue pair",
        s -> {
          MemoryWindow window = s.bound(MemoryWindow.Type.TWO);
          QueuePair other = s.second();
          other.postInvalidate(2, window.rkey(), 0);
          other.ring();
        });
    way(
        AeCode.AMP_BAD_PD,
        "send from a region of another protection domain",
        s -> {
          MemoryRegion foreign =
              s.rdma
                  .a
                  .device
                  .allocateProtectionDomain()
                  .registerMemory(s.memory, Access.LOCAL_WRITE);
          s.send(foreign.lkey(), foreign.address(), 64);
        });
    way(
        AeCode.AMP_BAD_STAG_KEY,
        "send with a key that is off by one",
        s -> s.send(s.local.lkey() ^ 1, s.local.address(), 64));
    way(
        AeCode.AMP_BAD_STAG_INDEX,
        "send with a stag beyond the table",
        s -> s.send(0xffff_ff00, s.local.address(), 64));
    way(
        AeCode.AMP_BOUNDS_VIOLATION,
        "send from beyond the region's end",
        s -> s.send(s.local.lkey(), s.local.address() + SIZE - 8, 64));
    way(
        AeCode.AMP_RIGHTS_VIOLATION,
        "read into a region that may not be written",
        s -> {
          MemoryRegion fixed = s.rdma.a.domain.registerMemory(s.memory);
          s.near.postRead(
              1, fixed.lkey(), fixed.address(), 64, s.remote.address(), s.remote.rkey(), 0);
          s.near.ring();
        });
    way(
        AeCode.AMP_TO_WRAP,
        "send from where addresses begin again at 0",
        s -> s.send(s.local.lkey(), -10, 64));
    way(AeCode.STAG_ZERO_INVALID, "send with stag 0", s -> s.send(0, s.local.address(), 64));
    fastRegistration();
    invalidation();
    windows();
    workRequests();
    datagrams();
    connection();
    none(
        "the driver lets every connected queue pair register fast; StagTableTest and RcRulesTest"
            + " have it",
        AeCode.PRIV_OPERATION_DENIED);
    none(
        "the driver gives every queue pair at least one READ; RcRulesTest has it",
        AeCode.RDMA_READ_WHILE_ORD_ZERO);
    none(
        "of iWARP: TCP, MPA, DDP and RDMAP, which RoCEv2 does not have",
        AeCode.BAD_CLOSE,
        AeCode.RDMAP_ROE_BAD_LLP_CLOSE,
        AeCode.WQE_LSMM_TOO_LONG,
        AeCode.DDP_INVALID_MSN_GAP_IN_MSN,
        AeCode.DDP_UBE_INVALID_DDP_VERSION,
        AeCode.DDP_UBE_INVALID_MO,
        AeCode.DDP_UBE_INVALID_MSN_NO_BUFFER_AVAILABLE,
        AeCode.DDP_UBE_INVALID_QN,
        AeCode.DDP_NO_L_BIT,
        AeCode.RDMAP_ROE_INVALID_RDMAP_VERSION,
        AeCode.ROE_INVALID_RDMA_READ_REQUEST,
        AeCode.INVALID_TCP_OPTION_RCVD,
        AeCode.LLP_CLOSE_COMPLETE,
        AeCode.LLP_CONNECTION_RESET,
        AeCode.LLP_FIN_RECEIVED,
        AeCode.LLP_RECEIVED_MARKER_AND_LENGTH_FIELDS_DONT_MATCH,
        AeCode.LLP_RECEIVED_MPA_CRC_ERROR,
        AeCode.LLP_SEGMENT_TOO_SMALL,
        AeCode.LLP_SYN_RECEIVED,
        AeCode.LLP_TERMINATE_RECEIVED,
        AeCode.LLP_TOO_MANY_KEEPALIVE_RETRIES,
        AeCode.LLP_DOUBT_REACHABILITY,
        AeCode.LLP_CONNECTION_ESTABLISHED,
        AeCode.RESET_SENT,
        AeCode.TERMINATE_SENT,
        AeCode.RESET_NOT_SENT,
        AeCode.UDA_XMIT_DGRAM_TOO_SHORT,
        AeCode.UDA_L4LEN_INVALID);
    none(
        "nothing tells when a card of GEN_2 raises it; the simulator does not",
        AeCode.AMP_INVALIDATE_SHARED,
        AeCode.AMP_FASTREG_PBLE_MISMATCH,
        AeCode.ROCE_EMPTY_MCG,
        AeCode.ROCE_BAD_MC_IP_ADDR,
        AeCode.ROCE_BAD_MC_QPID,
        AeCode.MCG_QP_PROTOCOL_MISMATCH,
        AeCode.STALE_ARP_ENTRY,
        AeCode.LCE_FUNCTION_CATASTROPHIC,
        AeCode.LCE_CQ_CATASTROPHIC);
  }

  private static void fastRegistration() {
    way(
        AeCode.AMP_FASTREG_VALID_STAG,
        "register fast what is registered",
        s -> {
          FastRegion region = s.rdma.a.domain.allocateFastRegion(4);
          s.near.postFastRegister(1, region, s.memory, 0, 4096, 0, Access.LOCAL_WRITE);
          s.near.postFastRegister(2, region, s.memory, 0, 4096, 0, Access.LOCAL_WRITE);
          s.near.ring();
        });
    way(
        AeCode.AMP_FASTREG_MW_STAG,
        "register fast the stag of a window",
        s -> {
          MemoryWindow window = s.rdma.a.domain.allocateWindow(MemoryWindow.Type.TWO);
          s.fastRegister(window.rkey(), 1, 4096, 1);
        });
    way(
        AeCode.AMP_FASTREG_INVALID_RIGHTS,
        "give the peer rights to a region that has none",
        s -> {
          MemoryRegion own = s.rdma.a.domain.registerMemory(s.memory, Access.LOCAL_WRITE);
          s.near.postInvalidate(1, own.lkey(), 0);
          s.fastRegister(own.lkey(), 1 | 4, 4096, 0);
        });
    way(
        AeCode.AMP_FASTREG_INVALID_LENGTH,
        "register fast more than was allocated",
        s -> s.fastRegister(s.rdma.a.domain.allocateFastRegion(2).key(), 1, 1 << 20, 1));
    way(
        AeCode.AMP_FASTREG_INVALID_PBL_HPS_CFG,
        "register fast with a page list of level 2",
        s -> s.fastRegister(s.rdma.a.domain.allocateFastRegion(2).key(), 1, 4096, 2));
  }

  private static void invalidation() {
    way(
        AeCode.AMP_INVALIDATE_NO_REMOTE_ACCESS_RIGHTS,
        "the peer invalidates what it has no right to",
        s -> {
          MemoryRegion own = s.rdma.b.domain.registerMemory(s.farMemory, Access.LOCAL_WRITE);
          s.receive(64);
          s.near.postSendInvalidate(1, s.local.lkey(), s.local.address(), 8, own.rkey(), 0);
          s.near.ring();
        });
    way(
        AeCode.AMP_INVALIDATE_MR_WITH_BOUND_WINDOWS,
        "invalidate a region with a window on it",
        s -> {
          s.bound(MemoryWindow.Type.TWO);
          s.near.postInvalidate(2, s.local.lkey(), 0);
          s.near.ring();
        });
    way(
        AeCode.AMP_INVALIDATE_TYPE1_MW,
        "invalidate a window of type 1",
        s -> {
          MemoryWindow window = s.bound(MemoryWindow.Type.ONE);
          s.near.postInvalidate(2, window.rkey(), 0);
          s.near.ring();
        });
  }

  private static void windows() {
    way(
        AeCode.AMP_MWBIND_VALID_STAG,
        "bind a window of type 2 twice",
        s -> {
          MemoryWindow window = s.bound(MemoryWindow.Type.TWO);
          s.near.postBind(2, window, s.local, s.local.address(), 64, 0, Access.REMOTE_READ);
          s.near.ring();
        });
    way(
        AeCode.AMP_MWBIND_OF_MR_STAG,
        "bind a region as if it were a window",
        s -> s.bind(s.local.lkey(), s.local.lkey(), s.local.address(), 64, true, false));
    way(
        AeCode.AMP_MWBIND_WRONG_TYPE,
        "bind a window of type 2 as one of type 1",
        s ->
            s.bind(
                s.window(MemoryWindow.Type.TWO),
                s.local.lkey(),
                s.local.address(),
                64,
                true,
                true));
    way(
        AeCode.AMP_MWBIND_ZERO_BASED_TYPE1_MW,
        "bind a window of type 1 from 0 on",
        s ->
            s.bind(
                s.window(MemoryWindow.Type.ONE),
                s.local.lkey(),
                s.local.address(),
                64,
                false,
                true));
    way(
        AeCode.AMP_MWBIND_TO_ZERO_BASED_STAG,
        "bind to a region that is addressed from 0 on",
        s -> {
          FastRegion region = s.rdma.a.domain.allocateFastRegion(4);
          s.near
              .sendQueue()
              .fastRegister(1, 0, region.key() >>> 8, 3, 0x1f, 0, 4096, false, 4096, 1, 0, 0);
          s.bind(s.window(MemoryWindow.Type.TWO), (region.key() & ~0xff) | 3, 0, 64, true, false);
        });
    way(
        AeCode.AMP_MWBIND_TO_MW_STAG,
        "bind to a window",
        s ->
            s.bind(
                s.window(MemoryWindow.Type.TWO),
                s.window(MemoryWindow.Type.TWO),
                0,
                64,
                true,
                false));
    way(
        AeCode.AMP_MWBIND_INVALID_RIGHTS,
        "let a window write what its owner may not",
        s -> {
          MemoryRegion fixed = s.rdma.a.domain.registerMemory(s.memory, Access.BIND_WINDOW);
          MemoryWindow window = s.rdma.a.domain.allocateWindow(MemoryWindow.Type.TWO);
          s.near.postBind(1, window, fixed, fixed.address(), 64, 0, Access.REMOTE_WRITE);
          s.near.ring();
        });
    way(
        AeCode.AMP_MWBIND_INVALID_BOUNDS,
        "bind beyond the region's end",
        s ->
            s.bind(
                s.window(MemoryWindow.Type.TWO),
                s.local.lkey(),
                s.local.address(),
                SIZE + 1,
                true,
                false));
    way(
        AeCode.AMP_MWBIND_TO_INVALID_PARENT,
        "bind to a region that is gone",
        s -> {
          s.local.close();
          s.bind(
              s.window(MemoryWindow.Type.TWO), s.local.lkey(), s.local.address(), 64, true, false);
        });
    way(
        AeCode.AMP_MWBIND_BIND_DISABLED,
        "bind to a region without that right",
        s -> {
          MemoryRegion plain = s.rdma.a.domain.registerMemory(s.memory, Access.LOCAL_WRITE);
          s.bind(s.window(MemoryWindow.Type.TWO), plain.lkey(), plain.address(), 64, true, false);
        });
  }

  private static void workRequests() {
    way(
        AeCode.WQE_UNEXPECTED_OPCODE,
        "write by a datagram queue pair",
        s -> {
          DatagramQueuePair pair = s.datagrams();
          pair.sendQueue().write(1, 0, 0, s.remote.address(), s.remote.rkey(), s.sge());
          pair.ring();
        });
    way(
        AeCode.WQE_INVALID_PARAMETER,
        "inline data longer than can be, by a corrupt WQE",
        s -> {
          s.corrupt(SqWqe.INLINEDATALEN.encode(0xf0));
          s.near.postSendInline(1, s.memory.segment(), 0, 8, 0);
          s.near.ring();
        });
    way(
        AeCode.WQE_INVALID_FRAG_DATA,
        "more fragments than can be, by a corrupt WQE",
        s -> {
          s.corrupt(SqWqe.ADDFRAGCNT.encode(15));
          s.send(s.local.lkey(), s.local.address(), 64);
        });
    way(
        AeCode.CQ_OPERATION_ERROR,
        "a completion queue overflows",
        s -> {
          // Whose number is not the completion queue's.
          s.second();
          s.rdma.simulation.inject(
              0, new Fault.OverflowCompletionQueue(Moment.next(Occasion.COMPLETION)));
          s.write(64);
        });
    way(
        AeCode.LCE_QP_CATASTROPHIC,
        "a page list leads nowhere, by a corrupt PBLE",
        s -> {
          s.rdma.simulation.inject(
              0, new Fault.CorruptDescriptor(Moment.next(Occasion.PBLE), 1L << 45));
          s.write(64);
        });
    way(AeCode.QP_SUSPEND_COMPLETE, "drain a send queue", s -> s.near.drain());
  }

  private static void datagrams() {
    way(
        AeCode.UDA_XMIT_DGRAM_TOO_LONG,
        "a datagram longer than a packet",
        s -> {
          DatagramQueuePair pair = s.datagrams();
          s.datagram(pair, s.handle(), 4096);
        });
    way(
        AeCode.UDA_XMIT_BAD_PD,
        "an address handle of another protection domain",
        s -> {
          AddressHandle foreign =
              s.rdma.a.device.allocateProtectionDomain().createAddressHandle(s.path());
          s.datagram(s.datagrams(), foreign, 64);
        });
    way(
        AeCode.INVALID_AH_ENTRY,
        "an address handle that is gone",
        s -> {
          AddressHandle gone = s.handle();
          gone.close();
          s.datagram(s.datagrams(), gone, 64);
        });
    way(
        AeCode.INVALID_ARP_ENTRY,
        "an ARP entry that went elsewhere, by a corrupt control WQE",
        s -> {
          s.rdma.simulation.inject(
              0, new Fault.CorruptDescriptor(Moment.next(CqpOpcode.MANAGE_ARP), 0x80));
          s.datagram(s.datagrams(), s.handle(), 64);
        });
  }

  private static void connection() {
    way(
        AeCode.IB_RREQ_AND_Q1_FULL,
        "more READs at once than the peer takes",
        s -> {
          s.pair(path -> path.withReads(16, 1), path -> path.withReads(1, 1));
          for (int i = 0; i < 8; i++) {
            s.near.postRead(
                i, s.local.lkey(), s.local.address(), SIZE, s.remote.address(), s.remote.rkey(), 0);
          }
          s.near.ring();
        });
    way(
        AeCode.IB_INVALID_REQUEST,
        "send more than the peer's receive takes",
        s -> {
          s.receive(16);
          s.send(s.local.lkey(), s.local.address(), 64);
        });
    way(
        AeCode.DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER,
        "the peer sends more than a receive takes",
        s -> {
          s.receive(16);
          s.send(s.local.lkey(), s.local.address(), 64);
        });
    way(
        AeCode.IB_REMOTE_ACCESS_ERROR,
        "write with a key that is off by one",
        s -> {
          s.near.postWrite(
              1, s.local.lkey(), s.local.address(), 64, s.remote.address(), s.remote.rkey() ^ 1, 0);
          s.near.ring();
        });
    way(
        AeCode.IB_REMOTE_OP_ERROR,
        "send to a receive with a bad key",
        s -> {
          s.rdma.b.pair.postReceive(1, s.remote.lkey() ^ 1, s.remote.address(), 64);
          s.send(s.local.lkey(), s.local.address(), 64);
        });
    way(
        AeCode.INVALID_REQUEST,
        "packets of another MTU than the peer's",
        s -> {
          s.pair(path -> path, path -> path.withMtu(2048));
          s.write(SIZE);
        });
    way(
        AeCode.ROCE_RSP_LENGTH_ERROR,
        "answers to a READ of another MTU than one's own",
        s -> {
          s.pair(path -> path, path -> path.withMtu(2048));
          s.near.postRead(
              1, s.local.lkey(), s.local.address(), SIZE, s.remote.address(), s.remote.rkey(), 0);
          s.near.ring();
        });
    way(
        AeCode.RDMAP_ROE_UNEXPECTED_OPCODE,
        "an atomic request comes, made by hand",
        s -> s.frame(BthOpcode.FETCH_ADD, 0, 0));
    way(
        AeCode.ROE_INVALID_RDMA_WRITE_OR_READ_RESP,
        "a WRITE comes whose length is not that of its data, made by hand",
        s -> s.frame(BthOpcode.WRITE_ONLY, 8, 64));
    way(
        AeCode.LLP_TOO_MANY_RETRIES,
        "the peer is gone",
        s -> {
          s.rdma.b.pair.close();
          s.write(64);
        });
    way(
        AeCode.LLP_TOO_MANY_RNRS,
        "the peer posts no receive",
        s -> {
          s.pair(path -> path.withRetries(7, 1), path -> path);
          s.send(s.local.lkey(), s.local.address(), 64);
        });
  }

  /** Two connected queue pairs, a region on each side, and the events of both. */
  private static final class Stage {
    final RdmaPair rdma = new RdmaPair(PSN, 0, 1024);
    final DmaMemory memory = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
    final DmaMemory farMemory = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
    final MemoryRegion local =
        rdma.a.domain.registerMemory(
            memory,
            Access.LOCAL_WRITE,
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.BIND_WINDOW);
    final MemoryRegion remote = rdma.b.region(farMemory, PbleLevels.ANY);
    final List<AsyncEvent> nearEvents = new ArrayList<>();
    final List<AsyncEvent> farEvents = new ArrayList<>();
    QueuePair near = rdma.a.pair;
    QueuePair far = rdma.b.pair;
    @Nullable DatagramQueuePair datagrams;

    Stage() {
      rdma.a.device.onAsyncEvent(nearEvents::add);
      rdma.b.device.onAsyncEvent(farEvents::add);
    }

    /** The number of the queue that is to tell of an event. */
    int queueOf(AeCode code) {
      if (code == AeCode.CQ_OPERATION_ERROR) {
        return rdma.a.queue.id();
      }
      DatagramQueuePair ofDatagrams = datagrams;
      return FAR.contains(code) ? far.qpn() : ofDatagrams == null ? near.qpn() : ofDatagrams.qpn();
    }

    QueuePairState stateAfter(AeCode code) {
      DatagramQueuePair ofDatagrams = datagrams;
      return FAR.contains(code)
          ? far.state()
          : ofDatagrams == null ? near.state() : ofDatagrams.state();
    }

    /**
     * Closes both sides, with all memory back.
     *
     * @param misled the device holds something else than what the driver wants to have deleted
     */
    void close(boolean misled) {
      if (misled) {
        assertThrows(RdmaException.class, rdma.a.device::close);
      }
      assertEquals(0, rdma.closeAndBalance());
    }

    void send(int lkey, long address, int length) {
      near.postSend(9, lkey, address, length, QueuePair.SIGNALED);
      near.ring();
    }

    void write(int length) {
      near.postWrite(
          9,
          local.lkey(),
          local.address(),
          length,
          remote.address(),
          remote.rkey(),
          QueuePair.SIGNALED);
      near.ring();
    }

    void receive(int length) {
      rdma.b.pair.postReceive(1, remote.lkey(), remote.address(), length);
    }

    SgeList sge() {
      return new SgeList().set(local.address(), 64, local.lkey());
    }

    int window(MemoryWindow.Type type) {
      return rdma.a.domain.allocateWindow(type).rkey();
    }

    MemoryWindow bound(MemoryWindow.Type type) {
      MemoryWindow window = rdma.a.domain.allocateWindow(type);
      near.postBind(1, window, local, local.address(), 64, QueuePair.SIGNALED, Access.REMOTE_READ);
      near.ring();
      assertTrue(rdma.await(rdma.a).isSuccess());
      return window;
    }

    void bind(int window, int parent, long address, long length, boolean based, boolean typeOne) {
      near.sendQueue()
          .bindWindow(1, 0, window, parent, address, length, true, false, based, typeOne);
      near.ring();
    }

    void fastRegister(int stag, int rights, long length, int level) {
      near.sendQueue()
          .fastRegister(1, 0, stag >>> 8, 1, rights, 0x10000, length, true, 4096, level, 0, 0);
      near.ring();
    }

    void corrupt(long bits) {
      rdma.simulation.inject(0, new Fault.CorruptDescriptor(Moment.next(Occasion.SEND_WQE), bits));
    }

    /** Another pair of connected queue pairs. */
    QueuePair second() {
      return pair(path -> path, path -> path);
    }

    private QueuePair pair(UnaryOperator<RcPath> mine, UnaryOperator<RcPath> theirs) {
      QueuePair here =
          rdma.a.domain.createQueuePair(QueuePairConfig.of(rdma.a.queue).withRequests(16, 16));
      QueuePair there =
          rdma.b.domain.createQueuePair(QueuePairConfig.of(rdma.b.queue).withRequests(16, 16));
      here.connect(
          mine.apply(
              RcPath.of(RdmaPair.A, RdmaPair.B, rdma.b.device.macAddress(), there.qpn(), 1, 2)
                  .withMtu(1024)));
      there.connect(
          theirs.apply(
              RcPath.of(RdmaPair.B, RdmaPair.A, rdma.a.device.macAddress(), here.qpn(), 2, 1)
                  .withMtu(1024)));
      near = here;
      far = there;
      return here;
    }

    DatagramQueuePair datagrams() {
      DatagramQueuePair pair =
          rdma.a.domain.createDatagramQueuePair(
              QueuePairConfig.of(rdma.a.queue).withRequests(16, 16), 1024, KEY);
      datagrams = pair;
      return pair;
    }

    DatagramPath path() {
      return DatagramPath.of(RdmaPair.A, Gid.of("10.0.0.77"), 0x0200_0000_0077L);
    }

    AddressHandle handle() {
      return rdma.a.domain.createAddressHandle(path());
    }

    void datagram(DatagramQueuePair pair, AddressHandle to, int length) {
      pair.postSend(1, to, 5, KEY, local.lkey(), local.address(), length, 0);
      pair.ring();
    }

    /** A frame to the far queue pair that the near one would not send. */
    void frame(int opcode, int payload, int length) {
      RoceFrame frame = new RoceFrame();
      frame.destinationMac = rdma.b.device.macAddress();
      frame.sourceMac = rdma.a.device.macAddress();
      frame.ipv4 = true;
      frame.sourceIpLow = 0x0a000001;
      frame.destinationIpLow = 0x0a000002;
      frame.udpSource = 0xc123;
      frame.opcode = opcode;
      frame.destinationQp = rdma.b.pair.qpn();
      frame.psn = PSN;
      frame.remoteAddress = remote.address();
      frame.remoteKey = remote.rkey();
      frame.dmaLength = length;
      frame.payloadLength = payload;
      MemorySegment bytes = MemorySegment.ofArray(new byte[RoceFrame.MAX_BYTES]);
      frame.writeHeaders(bytes);
      rdma.simulation.ethernet(0).send(bytes, frame.seal(bytes, new Icrc()));
    }
  }

  @TestFactory
  Stream<DynamicTest> everyEvent() {
    return WAYS.entrySet().stream()
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.getKey().name(), () -> provoked(row.getKey(), row.getValue())));
  }

  private static void provoked(AeCode code, Way way) {
    Stage stage = new Stage();
    way.provoke().accept(stage);
    List<AsyncEvent> here = FAR.contains(code) ? stage.farEvents : stage.nearEvents;
    stage.rdma.await(() -> !here.isEmpty(), code + " among " + stage.nearEvents + stage.farEvents);
    stage.rdma.settle(200_000);
    List<AsyncEvent> events = here.stream().filter(one -> one.code() == code.code()).toList();
    assertEquals(1, events.size(), () -> code + " among " + stage.nearEvents + stage.farEvents);
    assertEquals(1, here.size(), () -> code + " and others: " + here);
    AsyncEvent event = events.get(0);
    assertEquals(sourceOf(code), AeSource.of(event.source()));
    assertEquals(stage.queueOf(code), event.queueId());
    assertEquals(SECOND_WQE.contains(code) ? 1 : 0, event.wqe());
    assertEquals(
        switch (code) {
          case QP_SUSPEND_COMPLETE -> QueuePairState.SEND_QUEUE_DRAINED;
          case CQ_OPERATION_ERROR -> QueuePairState.READY_TO_SEND;
          default -> QueuePairState.ERROR;
        },
        stage.stateAfter(code));
    stage.close(code == AeCode.INVALID_ARP_ENTRY);
    TABLE.put(code, "%s | %s".formatted(way.how(), AeSource.of(event.source())));
  }

  private static AeSource sourceOf(AeCode code) {
    return switch (code) {
      case CQ_OPERATION_ERROR -> AeSource.CQ;
      case DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER -> AeSource.RQ;
      default -> FAR.contains(code) ? AeSource.IN_RR_WR : AeSource.SQ;
    };
  }

  /** Fails if a queue pair takes its peer's packets after an error of its own. */
  @Test
  void aQueuePairInErrorTakesNothing() {
    Stage stage = new Stage();
    stage.second();
    stage.send(0, stage.local.address(), 64);
    stage.rdma.await(() -> !stage.nearEvents.isEmpty(), "the error");
    stage.farMemory.segment().fill((byte) 0x5a);
    stage.far.postWrite(
        5,
        stage.remote.lkey(),
        stage.remote.address(),
        64,
        stage.local.address(),
        stage.local.rkey(),
        QueuePair.SIGNALED);
    stage.far.ring();
    Completion completion = stage.rdma.await(stage.rdma.b);
    assertEquals(FlushCode.RETRY_EXC_ERR.meaning(), completion.flushCode());
    assertEquals(0, stage.memory.segment().get(ValueLayout.JAVA_BYTE, 0));
    stage.close(false);
  }

  @Test
  void everyCodeHasOneRow() throws IOException {
    Set<AeCode> both = EnumSet.copyOf(WAYS.keySet());
    both.retainAll(REASONS.keySet());
    assertEquals(Set.of(), both, "provoked, and a reason why not");
    Set<AeCode> missing = EnumSet.allOf(AeCode.class);
    missing.removeAll(WAYS.keySet());
    missing.removeAll(REASONS.keySet());
    assertEquals(Set.of(), missing, "without a row");
    Set<AeCode> raised = EnumSet.noneOf(AeCode.class);
    try (Stream<Path> files = Files.walk(SIMULATOR)) {
      for (Path file : files.filter(one -> one.toString().endsWith(".java")).toList()) {
        Matcher names = RAISED.matcher(Files.readString(file));
        while (names.find()) {
          raised.add(AeCode.valueOf(names.group(1)));
        }
      }
    }
    raised.removeAll(WAYS.keySet());
    assertEquals(
        EnumSet.of(AeCode.PRIV_OPERATION_DENIED, AeCode.RDMA_READ_WHILE_ORD_ZERO),
        raised,
        "raised by the simulator and not provoked");
  }

  @AfterAll
  static void report() throws IOException {
    StringBuilder text =
        new StringBuilder("| id | event | how it is provoked | source |\n|---|---|---|---|\n");
    for (AeCode code : AeCode.values()) {
      String reason = REASONS.get(code);
      text.append(
          "| 0x%04x | %s | %s |%n"
              .formatted(
                  code.code(),
                  code.meaning(),
                  reason == null ? TABLE.get(code) : "not provoked: " + reason + " | "));
    }
    Files.createDirectories(REPORT.getParent());
    Files.writeString(REPORT, text);
  }
}
