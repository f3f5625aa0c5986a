package irdma4j.readme;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.Gid;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaDevice;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaPlacement;

/** The program of the README. */
final class HelloRdma {
  private HelloRdma() {}

  // [README
  static String run() {
    try (var simulation = Simulation.builder().functions(1).seed(1).stepped().build();
        var device = RdmaDevice.open(simulation.function(0));
        var memory = device.allocateMemory(8192, DmaPlacement.SCATTERED)) {
      var domain = device.allocateProtectionDomain();
      var region = domain.registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
      var queue = device.createCompletionQueue(16);
      var left = domain.createQueuePair(QueuePairConfig.of(queue));
      var right = domain.createQueuePair(QueuePairConfig.of(queue));
      var gid = Gid.of("10.0.0.1");
      left.connect(RcPath.of(gid, gid, device.macAddress(), right.qpn(), 1, 2));
      right.connect(RcPath.of(gid, gid, device.macAddress(), left.qpn(), 2, 1));
      memory.segment().setString(0, "hello, RDMA");
      long from = region.address(), to = region.address() + 4096;
      left.postWrite(7, region.lkey(), from, 12, to, region.rkey(), QueuePair.SIGNALED);
      left.ring();
      for (var done = new Completion(); !queue.poll(done); ) {
        device.function().clock().pause(1000);
      }
      return memory.segment().getString(4096);
    }
  }
  // README]
}
