package irdma4j.simulator.transport;

import static irdma4j.simulator.transport.AnswerDifference.ATOMIC;
import static irdma4j.simulator.transport.AnswerDifference.DUPLICATE_BEFORE_READ;
import static irdma4j.simulator.transport.AnswerDifference.INVALIDATE_COUNTED;
import static irdma4j.simulator.transport.AnswerDifference.READ_FROM_MIDDLE;
import static irdma4j.simulator.transport.AnswerDifference.RNR_TIMER;
import static irdma4j.simulator.transport.AnswerDifference.TOO_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.AeCode;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Capture;
import irdma4j.simulator.wire.RoceFrame;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The responder answers the requests of a capture as Linux soft-RoCE answered them: same packets,
 * same PSNs, same MSNs, same syndromes, same data, but for the differences that are counted here.
 */
class CaptureReplayTest {
  /**
   * A capture.
   *
   * @param memory what its keys lead to
   * @param receivesLate how many SENDs come before there is a receive
   * @param compared soft-RoCE's answers in it
   * @param differences how many of ours differ, and how
   */
  private record Row(
      String name,
      ResponderReplay.Memory memory,
      int receivesLate,
      int compared,
      Map<AnswerDifference, Integer> differences) {
    static Row fits(String name, int compared, Map<AnswerDifference, Integer> differences) {
      return new Row(name, ResponderReplay.Memory.FITS, 0, compared, differences);
    }

    static Row refused(String name, ResponderReplay.Memory memory) {
      return new Row(name, memory, 0, 1, Map.of());
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static final List<Row> ROWS =
      List.of(
          Row.fits("rc_pingpong", 10, Map.of()),
          Row.fits("rc_pingpong_multi", 8, Map.of()),
          Row.fits("rc_pingpong_loss", 24, Map.of()),
          Row.fits("rc_pingpong_dup", 12, Map.of()),
          Row.fits("rc_pingpong_swap", 12, Map.of()),
          Row.fits("srq_pingpong", 4, Map.of()),
          Row.fits("ib_write_bw", 5, Map.of()),
          Row.fits("ib_send_bw", 5, Map.of()),
          Row.fits("ib_read_bw", 10, Map.of()),
          Row.fits("ib_atomic_cas", 5, Map.of(ATOMIC, 5)),
          Row.fits("ib_atomic_faa", 5, Map.of(ATOMIC, 5)),
          Row.fits("err_imm", 5, Map.of()),
          Row.fits("err_inv", 1, Map.of(INVALIDATE_COUNTED, 1)),
          Row.fits("err_zero", 3, Map.of()),
          Row.fits("err_odd", 11, Map.of()),
          Row.fits("err_mix", 27, Map.of(ATOMIC, 6)),
          Row.fits("mix_loss", 38, Map.of(READ_FROM_MIDDLE, 1, ATOMIC, 6)),
          Row.fits("mix_dup", 38, Map.of(ATOMIC, 9)),
          Row.fits(
              "mix_swap", 71, Map.of(READ_FROM_MIDDLE, 2, DUPLICATE_BEFORE_READ, 2, ATOMIC, 10)),
          new Row("err_rnr", ResponderReplay.Memory.FITS, 1, 2, Map.of(RNR_TIMER, 1)),
          new Row("err_rnrfail", ResponderReplay.Memory.FITS, 3, 3, Map.of(RNR_TIMER, 3)),
          Row.fits("rping", 18, Map.of()),
          Row.fits("rping_4k", 18, Map.of()),
          Row.fits("ucmatose", 6, Map.of()),
          Row.refused("err_badkey", ResponderReplay.Memory.ABSENT),
          Row.refused("err_badlen", ResponderReplay.Memory.SHORT),
          Row.refused("err_badread", ResponderReplay.Memory.ABSENT),
          Row.refused("err_noperm", ResponderReplay.Memory.CLOSED),
          new Row("err_short", ResponderReplay.Memory.SHORT, 0, 1, Map.of(TOO_LONG, 1)));

  /** The upper three bits of an opcode. */
  private static final int RELIABLE = 0;

  private static final int UNRELIABLE = 1;
  private static final int DATAGRAM = 3;

  /** What captures without a request of a reliable connection hold. */
  private enum Other {
    CONNECTION_MESSAGES,
    DATAGRAMS,
    UNRELIABLE_CONNECTION
  }

  private static final Map<String, Other> OTHERS =
      Map.of(
          "cm_reject", Other.CONNECTION_MESSAGES,
          "err_misatomic", Other.CONNECTION_MESSAGES,
          "err_reject", Other.CONNECTION_MESSAGES,
          "err_slowaccept", Other.CONNECTION_MESSAGES,
          "host_inject", Other.CONNECTION_MESSAGES,
          "uc_pingpong", Other.UNRELIABLE_CONNECTION,
          "ud_pingpong", Other.DATAGRAMS,
          "udaddy", Other.DATAGRAMS);

  /**
   * RoCE frames that the relay passed on and soft-RoCE did not take. Those of mix_dup are named by
   * its NAKs, and each is the twelfth or thirteenth of a burst. At the end of rc_pingpong_swap the
   * program that they were for had ended.
   */
  private static Set<Integer> unheard(String name) {
    return switch (name) {
      case "mix_dup" -> Set.of(15, 16, 54, 55, 97);
      case "rc_pingpong_swap" -> Set.of(60, 62, 63, 64);
      default -> Set.of();
    };
  }

  private static List<CapturedConversation> conversations(String name) {
    List<CapturedConversation> found = new ArrayList<>();
    for (int side = 1; side <= 2; side++) {
      CapturedConversation conversation =
          CapturedConversation.read(name, 0x0a090000L + side, unheard(name));
      if (!conversation.requests.isEmpty()) {
        found.add(conversation);
      }
    }
    return found;
  }

  /**
   * Fails if the responder misjudges an opcode, a length, a key or a right; cuts a READ's answer
   * elsewhere; counts messages otherwise than soft-RoCE does; answers a gap, a repeated request or
   * a missing receive otherwise; or does a request twice.
   */
  @ParameterizedTest
  @FieldSource("ROWS")
  void answersAreThoseOfSoftRoce(Row row) {
    Map<AnswerDifference, Integer> differences = new EnumMap<>(AnswerDifference.class);
    int compared = 0;
    for (CapturedConversation conversation : conversations(row.name)) {
      ResponderReplay replay = new ResponderReplay(conversation, row.memory, row.receivesLate);
      replay.run(true);
      compare(conversation.answers, replay.answers, differences);
      compared += conversation.answers.size();
      if (row.memory == ResponderReplay.Memory.FITS && row.receivesLate < 2) {
        replay.checkReceives(row.name);
      }
    }
    assertEquals(row.differences, differences);
    assertEquals(row.compared, compared);
  }

  /** Counts how answers differ; fails at one that no difference explains. */
  private static void compare(
      List<CapturedAnswer> theirs,
      List<CapturedAnswer> ours,
      Map<AnswerDifference, Integer> differences) {
    for (int i = 0; i < Math.min(theirs.size(), ours.size()); i++) {
      CapturedAnswer one = theirs.get(i);
      CapturedAnswer other = ours.get(i);
      if (!one.equals(other)) {
        AnswerDifference difference =
            Stream.of(AnswerDifference.values())
                .filter(each -> each.explains(one, other))
                .findFirst()
                .orElse(null);
        if (difference == null) {
          assertEquals(theirs.subList(0, i + 1), ours.subList(0, i + 1));
        } else {
          differences.merge(difference, 1, Integer::sum);
        }
      }
    }
    assertEquals(theirs.size(), ours.size(), () -> theirs + "\n" + ours);
  }

  /**
   * GEN_2 has no atomics. Fails if one is done, ignored or refused otherwise than as an invalid
   * request, or if anything behind it is answered.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {"ib_atomic_cas", "ib_atomic_faa", "err_mix", "mix_loss", "mix_dup", "mix_swap"})
  void anAtomicEndsTheConnection(String name) {
    CapturedConversation conversation = conversations(name).getFirst();
    ResponderReplay replay = new ResponderReplay(conversation, ResponderReplay.Memory.FITS, 0);
    replay.run(false);
    List<CapturedAnswer> theirs = conversation.answers;
    int before = 0;
    while (theirs.get(before).opcode() != BthOpcode.ATOMIC_ACKNOWLEDGE) {
      before++;
    }
    assertEquals(before + 1, replay.answers.size());
    compare(
        theirs.subList(0, before),
        replay.answers.subList(0, before),
        new EnumMap<>(AnswerDifference.class));
    CapturedAnswer atomic = theirs.get(before);
    CapturedAnswer refusal =
        atomic
            .withOpcode(BthOpcode.ACKNOWLEDGE)
            .withSyndrome(Aeth.NAK_INVALID_REQUEST)
            .withMsn(atomic.msn() - 1);
    assertEquals(refusal, replay.answers.get(before));
    assertEquals(
        List.of(AeCode.RDMAP_ROE_UNEXPECTED_OPCODE.code()),
        replay.function.events.stream().map(FakeFunction.Event::code).toList());
  }

  /** Fails if docs/fidelity.md counts the differences otherwise. */
  @Test
  void theDocumentCountsTheSame() throws IOException {
    String page = Files.readString(Path.of("../docs/fidelity.md")).replace('\n', ' ');
    int differing = 0;
    for (AnswerDifference difference : AnswerDifference.values()) {
      List<String> frames = new ArrayList<>();
      for (Row row : ROWS) {
        Integer count = row.differences.get(difference);
        if (count != null) {
          frames.add("`%s` %d".formatted(row.name, count));
          differing += count;
        }
      }
      String cell = "| " + String.join(", ", frames) + " |";
      assertTrue(page.contains(cell), cell);
    }
    int compared = ROWS.stream().mapToInt(Row::compared).sum();
    String counts =
        "requests of %d captures".formatted(ROWS.size())
            + ".*Of soft-RoCE's %d answers".formatted(compared)
            + " %d are the same here, field by field; %d differ"
                .formatted(compared - differing, differing);
    assertTrue(Pattern.compile(counts).matcher(page).find(), counts);
  }

  /** Fails if a capture is added that no test here knows of, or holds something else than said. */
  @Test
  void everyCaptureIsReplayedOrHasNoReliableConnection() throws IOException, URISyntaxException {
    Set<String> files = new TreeSet<>();
    try (Stream<Path> folder = Files.list(Path.of(Capture.class.getResource("/pcaps").toURI()))) {
      folder.forEach(file -> files.add(file.getFileName().toString().replace(".pcap.gz", "")));
    }
    Map<String, Other> others = new TreeMap<>();
    Set<String> replayed = new TreeSet<>();
    for (String name : files) {
      Other other = other(name);
      if (other == null) {
        replayed.add(name);
      } else {
        others.put(name, other);
      }
    }
    assertEquals(OTHERS, others);
    assertEquals(ROWS.stream().map(Row::name).collect(Collectors.toSet()), replayed);
    assertEquals(new TreeSet<>(Capture.ALL), files);
  }

  /** What a capture without a reliable connection holds; null if it has one. */
  private static @Nullable Other other(String name) {
    RoceFrame f = new RoceFrame();
    Other found = Other.CONNECTION_MESSAGES;
    for (Capture.Packet packet : Capture.read(name)) {
      if (!f.parse(packet.segment(), packet.bytes().length) || f.destinationQp == 1) {
        continue;
      }
      switch (f.opcode >>> 5) {
        case RELIABLE -> {
          return null;
        }
        case UNRELIABLE -> found = Other.UNRELIABLE_CONNECTION;
        case DATAGRAM -> found = Other.DATAGRAMS;
        default -> throw new IllegalStateException(name + ": " + BthOpcode.name(f.opcode));
      }
    }
    return found;
  }
}
