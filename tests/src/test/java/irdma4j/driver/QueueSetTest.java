package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import irdma4j.hwregs.RoceContext;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.ManageWorkSchedNode;
import irdma4j.hwregs.cqp.ResumeQp;
import irdma4j.hwregs.cqp.SetUserPriorityMap;
import irdma4j.simulator.DeviceEvent;
import irdma4j.simulator.Simulation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What quality of service the device is told of, as it stands in its control WQEs. */
class QueueSetTest {
  private static final int VSI = 5;
  private static final int INTERACTIVE = 0x10;

  private final List<CqpCommand> seen = new ArrayList<>();
  private final Map<Integer, Integer> handles = new HashMap<>();
  private final Simulation simulation =
      Simulation.builder()
          .functions(1)
          .seed(1)
          .stepped()
          .watch(
              (nanos, function, event) -> {
                if (event instanceof DeviceEvent.WqeFetched wqe
                    && wqe.ring() == DeviceEvent.Ring.CONTROL) {
                  CqpCommand command = CqpCommand.decode(wqe.bytes(), 0);
                  if (command != null) {
                    seen.add(command);
                  }
                }
              })
          .build();

  @AfterEach
  void close() {
    simulation.close();
  }

  private final QueueSets queueSets =
      new QueueSets() {
        @Override
        public void register(int vsi, int trafficClass, int handle) {
          handles.put(trafficClass, handle);
        }

        @Override
        public void unregister(int vsi, int trafficClass, int handle) {
          assertEquals(handle, handles.remove(trafficClass));
        }
      };

  private RdmaDevice open(QualityOfService quality) {
    return RdmaDevice.open(
        simulation.function(0),
        DeviceConfig.defaults().withQueuePairs(16).withQualityOfService(quality),
        StageListener.none());
  }

  private <T extends CqpCommand> List<T> all(Class<T> kind) {
    return seen.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  /**
   * The context of a queue pair, and what lets it go on after a suspension, name the queue set of
   * its traffic class; the leaf in the card's tree has the class's share. Fails if one of them
   * names another.
   */
  @Test
  void aQueuePairNamesTheQueueSetOfItsClass() {
    QualityOfService quality =
        new QualityOfService(
            VSI, List.of(0, 0, 0, 0, 1, 1, 3, 3), List.of(1, 1, 1, 1, 2, 2, 4, 4), queueSets);
    try (RdmaDevice device = open(quality)) {
      ProtectionDomain domain = device.allocateProtectionDomain();
      CompletionQueue queue = device.createCompletionQueue(64);
      for (int typeOfService : new int[] {0, INTERACTIVE}) {
        QueuePair pair = domain.createQueuePair(QueuePairConfig.of(queue));
        Gid self = Gid.of("10.0.0.1");
        pair.connect(
            RcPath.of(self, self, device.macAddress(), pair.qpn(), 1, 1)
                .withTrafficClass(typeOfService));
        int handle = handles.get(typeOfService == 0 ? 0 : 3);
        assertEquals(handle, RoceContext.QSHANDLE.get(pair.core().memory().context(), 0));
        pair.suspend();
        device.processEvents(0, 1_000_000);
        pair.resume();
        assertEquals(new ResumeQp(handle, pair.qpn()), all(ResumeQp.class).getLast());
        ManageWorkSchedNode leaf =
            all(ManageWorkSchedNode.class).stream()
                .filter(ManageWorkSchedNode::leaf)
                .toList()
                .getLast();
        assertEquals(typeOfService == 0 ? 0 : 3, leaf.trafficClass());
        assertEquals(VSI, leaf.vsi());
      }
      assertEquals(2, handles.size());
      assertNotEquals(handles.get(0), handles.get(3));
    }
    assertEquals(Map.of(), handles);
  }

  /** Fails if the device is told of another map than was given, or of one unasked. */
  @Test
  void theMapOfUserPrioritiesIsGivenAsItIs() {
    QualityOfService plain = QualityOfService.single(VSI);
    List<Integer> map = List.of(7, 6, 5, 4, 3, 2, 1, 0);
    open(plain).close();
    assertEquals(List.of(), all(SetUserPriorityMap.class));
    open(plain.withPriorityMap(new UserPriorityMap(map, true, 6))).close();
    assertEquals(
        List.of(new SetUserPriorityMap(0x0001_0203_0405_0607L, 0, 6, true, true)),
        all(SetUserPriorityMap.class));
  }
}
