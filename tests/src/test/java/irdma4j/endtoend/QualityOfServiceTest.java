package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QualityOfService;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.QueueSets;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.StageListener;
import irdma4j.driver.UserPriorityMap;
import irdma4j.simulator.Simulation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Connected queue pairs take the queue set of their traffic class, and give it back. */
class QualityOfServiceTest {
  private static final int VSI = 5;

  /** Type of service 0x10 is user priority 6, by Linux's rule. */
  private static final int INTERACTIVE = 0x10;

  @Test
  void queueSetsComeAndGoWithTheQueuePairsThatUseThem() {
    List<String> told = new ArrayList<>();
    QueueSets queueSets =
        new QueueSets() {
          @Override
          public void register(int vsi, int trafficClass, int handle) {
            assertEquals(VSI, vsi);
            assertTrue(handle > 0);
            told.add("+" + trafficClass);
          }

          @Override
          public void unregister(int vsi, int trafficClass, int handle) {
            told.add("-" + trafficClass);
          }
        };
    QualityOfService quality =
        new QualityOfService(
            VSI, List.of(0, 0, 0, 0, 1, 1, 3, 3), List.of(1, 1, 1, 1, 2, 2, 4, 4), queueSets);
    try (Simulation simulation = Simulation.builder().functions(1).seed(1).stepped().build()) {
      DeviceConfig config =
          DeviceConfig.defaults().withQueuePairs(16).withQualityOfService(quality);
      try (RdmaDevice device =
          RdmaDevice.open(simulation.function(0), config, StageListener.none())) {
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue queue = device.createCompletionQueue(64);
        QueuePair first = connected(device, domain, queue, 0);
        QueuePair second = connected(device, domain, queue, INTERACTIVE);
        QueuePair third = connected(device, domain, queue, INTERACTIVE);
        assertEquals(List.of("+0", "+3"), told);
        second.close();
        assertEquals(List.of("+0", "+3"), told);
        third.close();
        assertEquals(List.of("+0", "+3", "-3"), told);
        first.close();
        assertEquals(List.of("+0", "+3", "-3", "-0"), told);
        connected(device, domain, queue, INTERACTIVE);
      }
      assertEquals(List.of("+0", "+3", "-3", "-0", "+3", "-3"), told);
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
    }
  }

  /** Fails if the DSCP is not the upper six bits, or the other rule is still asked. */
  @Test
  void theDscpChoosesTheQueueSet() {
    List<String> told = new ArrayList<>();
    QueueSets queueSets =
        new QueueSets() {
          @Override
          public void register(int vsi, int trafficClass, int handle) {
            told.add("+" + trafficClass);
          }

          @Override
          public void unregister(int vsi, int trafficClass, int handle) {}
        };
    List<Integer> byDscp = new ArrayList<>(Collections.nCopies(64, 0));
    byDscp.set(46, 5);
    QualityOfService quality =
        new QualityOfService(
                VSI, List.of(0, 1, 2, 3, 4, 7, 6, 5), Collections.nCopies(8, 1), queueSets)
            .withPriorityOfDscp(byDscp);
    try (Simulation simulation = Simulation.builder().functions(1).seed(1).stepped().build();
        RdmaDevice device =
            RdmaDevice.open(
                simulation.function(0),
                DeviceConfig.defaults().withQueuePairs(16).withQualityOfService(quality),
                StageListener.none())) {
      ProtectionDomain domain = device.allocateProtectionDomain();
      CompletionQueue queue = device.createCompletionQueue(64);
      connected(device, domain, queue, 46 << 2 | 1);
      assertEquals(List.of("+7"), told);
      connected(device, domain, queue, 45 << 2 | 3);
      assertEquals(List.of("+7", "+0"), told);
    }
  }

  @Test
  void whatDoesNotFitIsRefused() {
    QualityOfService plain = QualityOfService.single(VSI);
    for (List<Integer> wrong :
        List.of(Collections.nCopies(63, 0), Collections.nCopies(64, 8), List.of(0))) {
      assertThrows(IllegalArgumentException.class, () -> plain.withPriorityOfDscp(wrong));
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> new UserPriorityMap(Collections.nCopies(8, 8), false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new UserPriorityMap(Collections.nCopies(7, 0), false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new UserPriorityMap(Collections.nCopies(8, 0), false, 64));
  }

  private static QueuePair connected(
      RdmaDevice device, ProtectionDomain domain, CompletionQueue queue, int typeOfService) {
    QueuePair pair =
        domain.createQueuePair(
            QueuePairConfig.of(queue).withRequests(8, 8).withSges(1, 1).withInline(0));
    pair.connect(
        RcPath.of(RdmaPair.A, RdmaPair.B, device.macAddress(), 7, 0, 0)
            .withTrafficClass(typeOfService));
    return pair;
  }
}
