package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.ring.ControlRing;
import irdma4j.driver.ring.RecordingBar;
import irdma4j.hwregs.FlushCode;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.MulticastContext;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.Statistic;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.hwregs.cqp.SuspendQp;
import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import irdma4j.vectors.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Counters, multicast members, the control backlog, flush codes and terminate messages. */
class MiscVectorsTest {
  private static final Verdict WRAP =
      new Verdict.Departed("Linux counts one too few when a counter wraps around");
  private static final Verdict FRAGMENTS =
      new Verdict.Departed("Linux takes received fragments from the counters of sent ones");
  private static final Verdict HIGH_BITS =
      new Verdict.Departed("Linux takes the bits above a counter of 48 bits as part of it");
  private static final Verdict GAPS =
      new Verdict.Departed("Linux leaves gaps between a group's members; ours stand in front");

  @Test
  void misc() {
    VectorSuite.run("misc", MiscVectorsTest::judge);
  }

  private static Verdict judge(Vector vector) {
    return switch (vector.function()) {
      case "irdma_update_stats" -> statistics(vector);
      case "mcast_grp_table" -> members(vector);
      case "cqp_backlog" -> backlog(vector);
      case "irdma_set_flush_fields" -> flush(vector);
      case "irdma_bld_terminate_hdr" -> terminate(vector);
      default -> throw new IllegalArgumentException("unknown function");
    };
  }

  private static Verdict statistics(Vector vector) {
    StatisticsTotals totals = new StatisticsTotals();
    MemorySegment before = buffer(vector.in().bytes("last_gather_buf"));
    MemorySegment now = buffer(vector.in().bytes("gather_buf"));
    totals.startFrom(before);
    totals.add(now);
    Map<Statistic, Long> linux = new EnumMap<>(Statistic.class);
    for (String size : List.of("stats32", "stats64")) {
      vector.out().get(size).object().forEach((name, sum) -> linux.put(of(name), sum.number()));
    }
    boolean wrapped = false;
    boolean fragments = false;
    boolean high = false;
    for (Statistic statistic : Statistic.values()) {
      long from = statistic.field().get(before, 0);
      long to = statistic.field().get(now, 0);
      long right = to >= from ? to - from : to - from + (1L << statistic.field().width());
      assertEquals(right, totals.values().get(statistic), statistic.name());
      long theirs = linux.getOrDefault(statistic, 0L);
      if (right == theirs || !reported(statistic)) {
        continue;
      }
      Statistic sent = sentFragments(statistic);
      if (sent != null) {
        assertEquals(linux.getOrDefault(sent, 0L), theirs, statistic.name());
        fragments = true;
      } else if (highBits(before, statistic) + highBits(now, statistic) != 0) {
        assertEquals(word(now, statistic) - word(before, statistic), theirs, statistic.name());
        high = true;
      } else {
        assertTrue(to < from, statistic + " did not wrap around");
        assertEquals(right - 1, theirs, statistic.name());
        wrapped = true;
      }
    }
    return wrapped ? WRAP : fragments ? FRAGMENTS : high ? HIGH_BITS : Verdict.PASSED;
  }

  /** What stands in a counter's word beyond a counter of 48 bits. */
  private static long highBits(MemorySegment buffer, Statistic statistic) {
    int width = statistic.field().width();
    return width == 48 ? word(buffer, statistic) >>> width : 0;
  }

  private static long word(MemorySegment buffer, Statistic statistic) {
    return LittleEndian.getLong(buffer, statistic.field().offset());
  }

  private static Statistic sentFragments(Statistic statistic) {
    return switch (statistic) {
      case IP4_RX_FRAGMENTS -> Statistic.IP4_TX_FRAGMENTS;
      case IP6_RX_FRAGMENTS -> Statistic.IP6_TX_FRAGMENTS;
      default -> null;
    };
  }

  /** Linux has no total of these. */
  private static boolean reported(Statistic statistic) {
    return switch (statistic) {
      case IP4_RX_MULTICAST_OCTETS,
          IP6_RX_MULTICAST_OCTETS,
          IP4_TX_MULTICAST_OCTETS,
          IP6_TX_MULTICAST_OCTETS ->
          false;
      default -> true;
    };
  }

  private static Statistic of(String name) {
    return switch (name) {
      case "RXVLANERR" -> Statistic.RX_VLAN_ERRORS;
      case "IP4RXOCTS" -> Statistic.IP4_RX_OCTETS;
      case "IP4RXPKTS" -> Statistic.IP4_RX_PACKETS;
      case "IP4RXTRUNC" -> Statistic.IP4_RX_TRUNCATED;
      case "IP4RXDISCARD" -> Statistic.IP4_RX_DISCARDED;
      case "IP4RXFRAGS" -> Statistic.IP4_RX_FRAGMENTS;
      case "IP4RXMCPKTS" -> Statistic.IP4_RX_MULTICAST_PACKETS;
      case "IP6RXOCTS" -> Statistic.IP6_RX_OCTETS;
      case "IP6RXPKTS" -> Statistic.IP6_RX_PACKETS;
      case "IP6RXTRUNC" -> Statistic.IP6_RX_TRUNCATED;
      case "IP6RXDISCARD" -> Statistic.IP6_RX_DISCARDED;
      case "IP6RXFRAGS" -> Statistic.IP6_RX_FRAGMENTS;
      case "IP6RXMCPKTS" -> Statistic.IP6_RX_MULTICAST_PACKETS;
      case "IP4TXOCTS" -> Statistic.IP4_TX_OCTETS;
      case "IP4TXPKTS" -> Statistic.IP4_TX_PACKETS;
      case "IP4TXFRAGS" -> Statistic.IP4_TX_FRAGMENTS;
      case "IP4TXMCPKTS" -> Statistic.IP4_TX_MULTICAST_PACKETS;
      case "IP4TXNOROUTE" -> Statistic.IP4_TX_NO_ROUTE;
      case "IP6TXOCTS" -> Statistic.IP6_TX_OCTETS;
      case "IP6TXPKTS" -> Statistic.IP6_TX_PACKETS;
      case "IP6TXFRAGS" -> Statistic.IP6_TX_FRAGMENTS;
      case "IP6TXMCPKTS" -> Statistic.IP6_TX_MULTICAST_PACKETS;
      case "IP6TXNOROUTE" -> Statistic.IP6_TX_NO_ROUTE;
      case "TCPRXSEGS" -> Statistic.TCP_RX_SEGMENTS;
      case "TCPRXPROTOERR" -> Statistic.TCP_RX_PROTOCOL_ERRORS;
      case "TCPRXOPTERR" -> Statistic.TCP_RX_OPTION_ERRORS;
      case "TCPTXSEG" -> Statistic.TCP_TX_SEGMENTS;
      case "TCPRTXSEG" -> Statistic.TCP_RETRANSMITTED_SEGMENTS;
      case "UDPRXPKTS" -> Statistic.UDP_RX_PACKETS;
      case "UDPTXPKTS" -> Statistic.UDP_TX_PACKETS;
      case "RDMARXWRS" -> Statistic.RDMA_RX_WRITES;
      case "RDMARXRDS" -> Statistic.RDMA_RX_READS;
      case "RDMARXSNDS" -> Statistic.RDMA_RX_SENDS;
      case "RDMATXWRS" -> Statistic.RDMA_TX_WRITES;
      case "RDMATXRDS" -> Statistic.RDMA_TX_READS;
      case "RDMATXSNDS" -> Statistic.RDMA_TX_SENDS;
      case "RDMAVBND" -> Statistic.RDMA_BINDS;
      case "RDMAVINV" -> Statistic.RDMA_INVALIDATIONS;
      case "RXNPECNMARKEDPKTS" -> Statistic.RX_ECN_MARKED_PACKETS;
      case "RXRPCNPHANDLED" -> Statistic.RX_CNP_HANDLED;
      case "RXRPCNPIGNORED" -> Statistic.RX_CNP_IGNORED;
      case "TXNPCNPSENT" -> Statistic.TX_CNP_SENT;
      default -> throw new IllegalArgumentException("unknown counter " + name);
    };
  }

  private static MemorySegment buffer(byte[] bytes) {
    MemorySegment buffer = MemorySegment.ofArray(new long[Statistic.BUFFER_SIZE / Long.BYTES]);
    MemorySegment.copy(bytes, 0, buffer, ValueLayout.JAVA_BYTE, 0, bytes.length);
    return buffer;
  }

  private static Verdict members(Vector vector) {
    MulticastMembers members = new MulticastMembers();
    boolean sameOrder = true;
    for (Json step : vector.out().list("steps")) {
      var member = new MulticastContext.Member(step.integer("qp_id"), step.integer("dest_port"));
      boolean add = step.text("op").equals("add");
      switch (step.text("ret")) {
        case "OK" -> {
          int before = members.users(member);
          boolean changed = add ? members.join(member) : members.leave(member);
          assertEquals(before == (add ? 0 : 1), changed);
        }
        case "ENOMEM" -> assertThrows(RdmaException.class, () -> members.join(member));
        case "EINVAL" -> assertThrows(IllegalArgumentException.class, () -> members.leave(member));
        default -> throw new IllegalArgumentException(step.text("ret"));
      }
      assertEquals(step.integer("no_of_mgs"), members.list().size());
      List<MulticastContext.Member> order = new ArrayList<>();
      Map<MulticastContext.Member, Integer> theirs = new HashMap<>();
      boolean gap = false;
      for (Json entry : step.list("entries")) {
        List<Json> values = entry.list();
        if (values.get(0).number() == 0) {
          gap |= order.size() < members.list().size();
          continue;
        }
        var one =
            new MulticastContext.Member((int) values.get(1).number(), (int) values.get(2).number());
        order.add(one);
        theirs.put(one, (int) values.get(3).number());
      }
      Map<MulticastContext.Member, Integer> ours = new HashMap<>();
      members.list().forEach(one -> ours.put(one, members.users(one)));
      assertEquals(theirs, ours);
      sameOrder &= !gap && order.equals(members.list());
    }
    return sameOrder ? Verdict.PASSED : GAPS;
  }

  private static Verdict backlog(Vector vector) {
    try (Arena arena = Arena.ofConfined()) {
      int slots = vector.in().integer("sq_size");
      MemorySegment memory = arena.allocate((long) slots * CqpWqe.SIZE, CqpWqe.SIZE);
      ControlRing ring = new ControlRing(memory, slots);
      RecordingBar bar = new RecordingBar();
      ControlBacklog backlog = new ControlBacklog(ring, bar);
      int commands = 0;
      for (Json step : vector.out().list("steps")) {
        List<Json> values = step.list();
        assertEquals("OK", values.get(1).text());
        backlog.submit(new SuspendQp((int) values.get(0).number()), commands++);
        assertEquals(values.get(2).number(), ring.head());
      }
      assertEquals(vector.out().integer("requested_ops"), commands);
      bar.take();
      for (int i = 0; i < 10; i++) {
        ring.complete();
      }
      backlog.drain();
      assertEquals(vector.out().integer("bh1_head"), ring.head());
      List<RecordingBar.Access> expected = new ArrayList<>();
      for (Json write : vector.out().list("bh1_regs")) {
        expected.add(
            new RecordingBar.Access(
                write.text("op").equals("W"), write.number("reg"), write.integer("val")));
      }
      assertEquals(expected, bar.take());
      assertEquals(Registers.PFPE_CQPDB.offset(), expected.getFirst().offset());
      assertEquals(vector.out().flag("backlog_empty"), backlog.size() == 0);
      int last = Math.floorMod(ring.head() - 1, slots);
      assertEquals(
          vector.out().number("last_qp_in_ring"),
          LittleEndian.getLong(memory, (long) last * CqpWqe.SIZE + 24));
    }
    return Verdict.PASSED;
  }

  private static Verdict flush(Vector vector) {
    FlushCode reason = AsyncErrors.flushCode(vector.in().integer("ae_id"));
    assertEquals(vector.out().integer("flush_code"), reason.code());
    assertEquals(vector.out().integer("event_type"), eventType(AsyncErrors.kind(reason)));
    for (String queue : List.of("sq", "rq")) {
      FlushCode theirs = vector.out().flag(queue + "_flush_code") ? reason : FlushCode.GENERAL_ERR;
      assertEquals(theirs, AsyncErrors.queueCode(reason, vector.in().flag(queue)), queue);
    }
    return Verdict.PASSED;
  }

  private static int eventType(QueuePairError kind) {
    return switch (kind) {
      case FATAL -> 0;
      case ACCESS -> 1;
      case REQUEST -> 2;
    };
  }

  private static Verdict terminate(Vector vector) {
    byte[] bytes = vector.in().bytes("q2_buf");
    MemorySegment q2 = MemorySegment.ofArray(bytes);
    TerminateMessage message =
        TerminateMessage.build(
            vector.in().integer("ae_id"), q2, vector.in().flag("q2_data_written"));
    assertEquals(vector.out().integer("len"), message.length());
    assertEquals(
        vector.out().text("q2_buf_0_72"),
        HexFormat.of().formatHex(bytes, 0, TerminateMessage.BAD_FRAME));
    assertEquals(vector.out().integer("flush_code"), message.reason().code());
    assertEquals(vector.out().integer("event_type"), eventType(message.kind()));
    return Verdict.PASSED;
  }
}
