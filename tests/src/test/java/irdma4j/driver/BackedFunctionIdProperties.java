package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import irdma4j.campaign.FewerTries;
import irdma4j.hmc.HmcProfile;
import irdma4j.hmc.HmcRequest;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.ManageHmcFunctionTable;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import org.jspecify.annotations.Nullable;

/** What the driver makes of the HMC function that a card gives to a virtual function. */
@PropertyDefaults(tries = 200, edgeCases = EdgeCasesMode.NONE)
@AddLifecycleHook(FewerTries.class)
class BackedFunctionIdProperties {
  private static final int FIRST = 8;
  private static final int LAST = 39;
  private static final int MOST = 32;
  private static final int OWN = 11;
  private static final HmcRequest REQUEST = new HmcRequest(4, HmcProfile.EQUAL, false);

  /**
   * A virtual function asks, and the card gives.
   *
   * @param virtualFunction who asks
   * @param id what the card says, 32 bits
   */
  record Ask(int virtualFunction, long id) {}

  /**
   * Fails if an id that no virtual function can have, or that another function has, is believed; if
   * its refusal does not say which it was, does not give it back exactly once, asks the card for
   * anything else or leaves memory; or if it is in the way of what is right.
   */
  @Property
  void onlyAnIdOfItsOwnIsTaken(@ForAll("asks") List<Ask> asks) {
    try (ScriptedCard card = new ScriptedCard()) {
      try (RdmaDevice device = open(card)) {
        Map<Integer, Long> taken = new TreeMap<>();
        for (Ask ask : asks) {
          if (!taken.containsKey(ask.virtualFunction)) {
            String refusal = refusal(ask, taken);
            if (refusal == null) {
              BackedFunction function = back(card, device, ask);
              assertEquals(ask.id, function.hmcFunction());
              taken.put(ask.virtualFunction, ask.id);
            } else {
              refused(card, device, ask, refusal);
            }
          }
        }
      }
      assertEquals(0, card.dmaUsage().currentBytes());
    }
  }

  /** How the refusal begins, or null if there is nothing to refuse. */
  private static @Nullable String refusal(Ask ask, Map<Integer, Long> taken) {
    if (ask.id < FIRST || ask.id > LAST) {
      return "the device gave HMC function 0x%x to virtual function %d, and there is none such"
          .formatted(ask.id, ask.virtualFunction);
    }
    return ask.id == OWN || taken.containsValue(ask.id)
        ? "the device gave HMC function %d to virtual function %d and to another one"
            .formatted(ask.id, ask.virtualFunction)
        : null;
  }

  private static BackedFunction back(ScriptedCard card, RdmaDevice device, Ask ask) {
    card.answerValue(command -> command instanceof ManageHmcFunctionTable ? ask.id : 0);
    return device.backFunction(ask.virtualFunction, REQUEST);
  }

  private static void refused(ScriptedCard card, RdmaDevice device, Ask ask, String message) {
    long bytes = card.dmaUsage().currentBytes();
    card.take();
    RdmaException refusal = assertThrows(RdmaException.class, () -> back(card, device, ask));
    assertEquals(message, refusal.getMessage());
    assertEquals(0, refusal.getSuppressed().length);
    assertEquals(
        List.of(
            new ManageHmcFunctionTable(ask.virtualFunction, false),
            new ManageHmcFunctionTable(ask.virtualFunction, true)),
        commands(card));
    assertEquals(bytes, card.dmaUsage().currentBytes());
  }

  /** Each of the ways, and each edge, once. */
  @Example
  void eachWayIsRefusedOnce() {
    List<Ask> asks = new ArrayList<>();
    for (long id : new long[] {0, 7, 40, 63, 64, 0x7fff_ffff, 0x8000_0000L, 0xffff_ffffL}) {
      asks.add(new Ask(255, id));
    }
    asks.add(new Ask(0, FIRST));
    asks.add(new Ask(1, LAST));
    asks.add(new Ask(255, FIRST));
    asks.add(new Ask(255, LAST));
    asks.add(new Ask(255, OWN));
    asks.add(new Ask(255, FIRST + 1));
    onlyAnIdOfItsOwnIsTaken(asks);
  }

  @Provide
  Arbitrary<List<Ask>> asks() {
    Arbitrary<Long> ids =
        Arbitraries.frequencyOf(
            Tuple.of(3, Arbitraries.longs().between(FIRST - 2, FIRST + 5)),
            Tuple.of(1, Arbitraries.longs().between(LAST - 2, LAST + 2)),
            Tuple.of(1, Arbitraries.longs().between(0, 0xffff_ffffL)));
    return Combinators.combine(Arbitraries.integers().between(0, 255), ids)
        .as(Ask::new)
        .list()
        .ofMaxSize(8);
  }

  private static RdmaDevice open(ScriptedCard card) {
    for (var status :
        List.of(Registers.GLPE_CPUSTATUS0, Registers.GLPE_CPUSTATUS1, Registers.GLPE_CPUSTATUS2)) {
      card.preset(status.offset(), Registers.CPUSTATUS_RUNNING);
    }
    card.preset(Registers.GLPCI_LBARCTRL.offset(), (int) Registers.LBARCTRL_PE_DB_SIZE.encode(1));
    Vector bringUp =
        VectorSuite.read("bringup").stream()
            .filter(vector -> vector.function().equals("full_bringup_teardown"))
            .findFirst()
            .orElseThrow();
    card.answerFpm(bringUp.in().bytes("query_buf"));
    card.answerFeatures(BringUpVectorsTest.featuresOf(bringUp.out()));
    return RdmaDevice.open(
        card,
        DeviceConfig.defaults()
            .withSeed(1)
            .withQueuePairs(4)
            .withProfile(HmcProfile.EQUAL)
            .withHmcFunction(OWN)
            .withVirtualFunctions(MOST),
        StageListener.none());
  }

  private static List<CqpCommand> commands(ScriptedCard card) {
    return card.take().stream()
        .filter(ScriptedCard.Event.Wqe.class::isInstance)
        .map(event -> HexFormat.of().parseHex(((ScriptedCard.Event.Wqe) event).hex()))
        .map(
            bytes ->
                CqpCommand.decode(
                    MemorySegment.ofArray(new long[bytes.length / Long.BYTES])
                        .copyFrom(MemorySegment.ofArray(bytes)),
                    0))
        .toList();
  }
}
