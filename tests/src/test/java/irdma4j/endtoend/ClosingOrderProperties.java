package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import irdma4j.driver.Access;
import irdma4j.driver.AddressHandle;
import irdma4j.driver.BackedFunction;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.FastRegion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.MemoryWindow;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.StageListener;
import irdma4j.hmc.HmcProfile;
import irdma4j.hmc.HmcRequest;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.DeallocateStag;
import irdma4j.hwregs.cqp.DestroyCq;
import irdma4j.hwregs.cqp.DestroyQp;
import irdma4j.hwregs.cqp.ManageAddressHandle;
import irdma4j.hwregs.cqp.ManageHmcFunctionTable;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.DeviceEvent;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
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
import org.jspecify.annotations.Nullable;

/** The order in which a device that is closed destroys what was made with it. */
@PropertyDefaults(tries = 100, edgeCases = EdgeCasesMode.NONE)
class ClosingOrderProperties {
  private static final int MOST_FUNCTIONS = 2;

  /** Kinds of objects in the order in which they go: each before what it uses. */
  private enum Kind {
    QUEUE_PAIR,
    DATAGRAM_QUEUE_PAIR,
    ADDRESS_HANDLE,
    COMPLETION_QUEUE,
    WINDOW,
    FAST_REGION,
    REGION,
    FUNCTION
  }

  /**
   * A step before the device is closed.
   *
   * @param kind what is made
   * @param domain in which of two domains
   * @param end which object is closed by hand afterwards, if there is one of that number
   */
  record Step(Kind kind, int domain, int end) {}

  private record Made(Kind kind, AutoCloseable object, String name) {}

  /**
   * Fails if a kind goes before one that may use it, if a kind is left out or an object of it goes
   * twice, if objects of a kind do not go oldest first, or if what was closed before goes again. A
   * domain, of which the device knows nothing, fails the closing if it goes before what is in it.
   */
  @Property
  void whatUsesOthersGoesFirst(@ForAll("steps") List<Step> steps) throws Exception {
    List<String> destroyed = new ArrayList<>();
    try (Simulation simulation =
        Simulation.builder()
            .functions(1)
            .seed(1)
            .stepped()
            .profile(CardProfile.small().withMaxSegments(40))
            .watch((nanos, function, event) -> note(event, destroyed))
            .build()) {
      RdmaDevice device =
          RdmaDevice.open(
              simulation.function(0),
              DeviceConfig.defaults()
                  .withSeed(1)
                  .withQueuePairs(32)
                  .withProfile(HmcProfile.EQUAL)
                  .withVirtualFunctions(MOST_FUNCTIONS),
              StageListener.none());
      DmaMemory memory = device.allocateMemory(4096, DmaPlacement.CONTIGUOUS);
      List<ProtectionDomain> domains =
          List.of(device.allocateProtectionDomain(), device.allocateProtectionDomain());
      CompletionQueue queue = device.createCompletionQueue(8);
      List<Made> made = new ArrayList<>();
      made.add(new Made(Kind.COMPLETION_QUEUE, queue, "completion queue " + queue.id()));
      for (Step step : steps) {
        Made one = make(step, device, domains.get(step.domain), queue, memory, made);
        if (one != null) {
          made.add(one);
        }
        // The first completion queue stays: others may use it.
        if (step.end > 0 && step.end < made.size()) {
          made.remove(step.end).object.close();
        }
      }
      destroyed.clear();
      device.close();
      made.sort(Comparator.comparing(Made::kind));
      assertEquals(made.stream().map(Made::name).toList(), destroyed);
      memory.close();
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
    }
  }

  private static @Nullable Made make(
      Step step,
      RdmaDevice device,
      ProtectionDomain domain,
      CompletionQueue queue,
      DmaMemory memory,
      List<Made> made) {
    return switch (step.kind) {
      case QUEUE_PAIR -> {
        QueuePair pair = domain.createQueuePair(QueuePairConfig.of(queue));
        yield new Made(step.kind, pair, "queue pair " + pair.qpn());
      }
      case DATAGRAM_QUEUE_PAIR -> {
        DatagramQueuePair pair = domain.createDatagramQueuePair(QueuePairConfig.of(queue), 1024, 5);
        yield new Made(step.kind, pair, "queue pair " + pair.qpn());
      }
      case ADDRESS_HANDLE -> {
        AddressHandle handle =
            domain.createAddressHandle(DatagramPath.of(RdmaPair.A, RdmaPair.B, 0x02_0000_0001L));
        yield new Made(step.kind, handle, "address handle " + handle.id());
      }
      case COMPLETION_QUEUE -> {
        CompletionQueue other = device.createCompletionQueue(8);
        yield new Made(step.kind, other, "completion queue " + other.id());
      }
      case WINDOW -> {
        MemoryWindow window = domain.allocateWindow(MemoryWindow.Type.ONE);
        yield new Made(step.kind, window, "window " + (window.rkey() >>> 8));
      }
      case FAST_REGION -> {
        FastRegion region = domain.allocateFastRegion(2);
        yield new Made(step.kind, region, "region " + (region.key() >>> 8));
      }
      case REGION -> {
        MemoryRegion region = domain.registerMemory(memory, Access.LOCAL_WRITE);
        yield new Made(step.kind, region, "region " + (region.lkey() >>> 8));
      }
      case FUNCTION -> {
        List<Integer> numbers =
            made.stream()
                .filter(each -> each.kind == Kind.FUNCTION)
                .map(each -> ((BackedFunction) each.object).virtualFunction())
                .toList();
        if (numbers.size() == MOST_FUNCTIONS) {
          yield null;
        }
        int number = numbers.contains(9) ? 4 : 9;
        yield new Made(
            step.kind,
            device.backFunction(number, new HmcRequest(4, HmcProfile.EQUAL, false)),
            "function " + number);
      }
    };
  }

  private static void note(DeviceEvent event, List<String> destroyed) {
    if (event instanceof DeviceEvent.WqeFetched fetched
        && fetched.ring() == DeviceEvent.Ring.CONTROL) {
      String name =
          switch (CqpCommand.decode(fetched.bytes(), 0)) {
            case DestroyQp c -> "queue pair " + c.qpId();
            case ManageAddressHandle c when c.opcode() == CqpOpcode.DESTROY_ADDR_HANDLE ->
                "address handle " + c.id();
            // The first is the control queue pair's own.
            case DestroyCq c when c.cqId() != 0 -> "completion queue " + c.cqId();
            case DeallocateStag c -> (c.isRegion() ? "region " : "window ") + c.stagIndex();
            case ManageHmcFunctionTable c when c.free() -> "function " + c.vfId();
            default -> null;
          };
      if (name != null) {
        destroyed.add(name);
      }
    }
  }

  /** One of each kind, made in the order in which they must not go. */
  @Example
  void oneOfEachMadeInTheOrderInWhichTheyMustNotGo() throws Exception {
    List<Step> steps = new ArrayList<>();
    for (Kind kind : List.of(Kind.values()).reversed()) {
      steps.add(new Step(kind, 0, 0));
      steps.add(new Step(kind, 1, 0));
    }
    whatUsesOthersGoesFirst(steps);
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    return Combinators.combine(
            Arbitraries.of(Kind.class),
            Arbitraries.of(0, 1),
            Arbitraries.frequencyOf(
                Tuple.of(3, Arbitraries.just(0)),
                Tuple.of(1, Arbitraries.integers().between(1, 9))))
        .as(Step::new)
        .list()
        .ofMaxSize(16);
  }
}
