package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.AddressHandle;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.hwregs.HmcObject;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Multicast groups, through the driver's own objects. */
class MulticastTest {
  private static final int KEY = 0x77;
  private static final int DEPTH = 8;
  private static final long SLOT = 256;
  private static final int PAIRS_EACH = 3;
  private static final int DEVICES = 3;
  private static final long QUIET = 50_000;

  /** A group; the first two share a MAC address, the last two differ in their VLAN alone. */
  private record Group(String address, int vlan) {
    Gid gid() {
      return Gid.of(address);
    }
  }

  private static final List<Group> GROUPS =
      List.of(
          new Group("239.1.2.3", DatagramPath.NO_VLAN),
          new Group("239.129.2.3", DatagramPath.NO_VLAN),
          new Group("ff12::77", DatagramPath.NO_VLAN),
          new Group("ff12::77", 5));

  private enum Kind {
    ATTACH,
    DETACH,
    SEND,
    REPLACE
  }

  private record Action(Kind kind, int pair, int group) {}

  @Provide
  Arbitrary<Action> actions() {
    return Combinators.combine(
            Arbitraries.frequency(
                net.jqwik.api.Tuple.of(4, Kind.ATTACH),
                net.jqwik.api.Tuple.of(2, Kind.DETACH),
                net.jqwik.api.Tuple.of(5, Kind.SEND),
                net.jqwik.api.Tuple.of(1, Kind.REPLACE)),
            Arbitraries.integers().between(0, DEVICES * PAIRS_EACH - 1),
            Arbitraries.integers().between(0, GROUPS.size() - 1))
        .as(Action::new);
  }

  /** A queue pair with a receive posted for each slot of its memory. */
  private static final class Member {
    final RdmaDevice device;
    final CompletionQueue queue;
    final MemoryRegion region;
    final DmaMemory memory;
    final ProtectionDomain domain;
    DatagramQueuePair pair;
    final int[] joined = new int[GROUPS.size()];

    Member(RdmaDevice device, ProtectionDomain domain, List<DmaMemory> memories) {
      this.device = device;
      this.domain = domain;
      queue = device.createCompletionQueue(4 * DEPTH);
      memory = device.allocateMemory((DEPTH + 1) * SLOT, DmaPlacement.SCATTERED);
      memories.add(memory);
      region = domain.registerMemory(memory, Access.LOCAL_WRITE);
      pair = create();
    }

    DatagramQueuePair create() {
      DatagramQueuePair made =
          domain.createDatagramQueuePair(
              QueuePairConfig.of(queue).withRequests(DEPTH, DEPTH), 1024, KEY);
      for (int i = 0; i < DEPTH; i++) {
        post(made, i);
      }
      return made;
    }

    void post(DatagramQueuePair to, int slot) {
      assertTrue(to.postReceive(slot, region.lkey(), region.address() + slot * SLOT, (int) SLOT));
    }

    void send(AddressHandle handle, int value) {
      memory.segment().set(ValueLayout.JAVA_INT, DEPTH * SLOT, value);
      assertTrue(
          pair.postSend(
              99,
              handle,
              DatagramQueuePair.MULTICAST_QPN,
              KEY,
              region.lkey(),
              region.address() + DEPTH * SLOT,
              4,
              QueuePair.SIGNALED));
      pair.ring();
    }

    /** What arrived since the last call: sender and value of each message. */
    List<Long> arrived() {
      List<Long> found = new ArrayList<>();
      Completion completion = new Completion();
      while (queue.poll(completion)) {
        assertTrue(completion.isSuccess(), completion::toString);
        if (completion.isSend()) {
          continue;
        }
        int slot = (int) completion.wrId();
        int value =
            memory
                .segment()
                .get(ValueLayout.JAVA_INT, slot * SLOT + DatagramQueuePair.HEADER_BYTES);
        found.add((long) completion.sourceQpn() << 32 | value);
        post(pair, slot);
      }
      return found;
    }
  }

  /**
   * Each member of a group gets each message sent to it once, and nobody else gets any, whoever
   * joined, left, or was closed before; all memory is back at the end. Fails if groups are told
   * apart by their MAC address, if a member is left out or told twice, if a sender that is no
   * member gets its own message, or if a closed queue pair stays in a group.
   */
  @Property(tries = 60)
  void membersGetEachMessageOnce(
      @ForAll @Size(max = 40) List<@net.jqwik.api.From("actions") Action> actions) {
    try (Simulation simulation =
        Simulation.builder().functions(DEVICES).seed(7).stepped().build()) {
      List<DmaMemory> memories = new ArrayList<>();
      List<RdmaDevice> devices = new ArrayList<>();
      List<Member> members = new ArrayList<>();
      for (int i = 0; i < DEVICES; i++) {
        RdmaDevice device = open(simulation, i);
        devices.add(device);
        ProtectionDomain domain = device.allocateProtectionDomain();
        for (int j = 0; j < PAIRS_EACH; j++) {
          members.add(new Member(device, domain, memories));
        }
      }
      int value = 0;
      for (Action action : actions) {
        Member member = members.get(action.pair());
        Group group = GROUPS.get(action.group());
        int[] joined = member.joined;
        switch (action.kind()) {
          case ATTACH -> {
            int others =
                (int)
                    members.stream()
                        .filter(m -> m.device == member.device && m.joined[action.group()] > 0)
                        .count();
            assertTrue(others <= 8);
            member.pair.attachMulticast(group.gid(), group.vlan());
            joined[action.group()]++;
          }
          case DETACH -> {
            if (joined[action.group()] == 0) {
              assertThrows(
                  IllegalArgumentException.class,
                  () -> member.pair.detachMulticast(group.gid(), group.vlan()));
            } else {
              member.pair.detachMulticast(group.gid(), group.vlan());
              joined[action.group()]--;
            }
          }
          case REPLACE -> {
            member.pair.close();
            member.pair = member.create();
            java.util.Arrays.fill(joined, 0);
          }
          case SEND -> {
            Gid own = Gid.of(group.gid().isIpv4() ? "10.0.0.9" : "fd00::9");
            DatagramPath path = DatagramPath.toGroup(own, group.gid()).withVlan(group.vlan());
            try (AddressHandle handle = member.domain.createAddressHandle(path)) {
              member.send(handle, ++value);
              simulation.advance(QUIET);
            }
            long message = (long) member.pair.qpn() << 32 | value;
            for (Member one : members) {
              List<Long> expected = one.joined[action.group()] > 0 ? List.of(message) : List.of();
              assertEquals(expected, one.arrived(), () -> action + " at " + one.pair.qpn());
            }
          }
        }
      }
      devices.forEach(RdmaDevice::close);
      memories.forEach(DmaMemory::close);
      for (int i = 0; i < DEVICES; i++) {
        assertEquals(0, simulation.function(i).dmaUsage().currentBytes());
      }
    }
  }

  private static RdmaDevice open(Simulation simulation, int index) {
    return RdmaDevice.open(
        simulation.function(index),
        DeviceConfig.defaults()
            .withQueuePairs(16)
            .withPbleChunkPages(2)
            .withSeed(index)
            .withMacAddress(0x0200_0000_0001L + index),
        StageListener.none());
  }

  @Test
  void aFullGroupAndAFullDeviceRefuseAndStayAsTheyAre() {
    CardProfile card = CardProfile.small().withLimit(HmcObject.FSIMC, 4);
    try (Simulation simulation =
        Simulation.builder().functions(1).seed(1).stepped().profile(card).build()) {
      try (RdmaDevice device = open(simulation, 0)) {
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue queue = device.createCompletionQueue(64);
        List<DatagramQueuePair> pairs = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
          pairs.add(domain.createDatagramQueuePair(QueuePairConfig.of(queue), 1024, KEY));
        }
        Gid group = Gid.of("239.0.0.1");
        pairs.subList(0, 8).forEach(pair -> pair.attachMulticast(group));
        DatagramQueuePair ninth = pairs.get(8);
        assertThrows(RdmaException.class, () -> ninth.attachMulticast(group));
        assertThrows(IllegalArgumentException.class, () -> ninth.detachMulticast(group));
        pairs.get(3).detachMulticast(group);
        ninth.attachMulticast(group);
        ninth.attachMulticast(Gid.of("239.0.0.2"));
        ninth.attachMulticast(Gid.of("239.0.0.3"));
        long before = simulation.function(0).dmaUsage().currentBytes();
        assertThrows(RdmaException.class, () -> ninth.attachMulticast(Gid.of("239.0.0.4")));
        assertEquals(before, simulation.function(0).dmaUsage().currentBytes());
        ninth.close();
        assertTrue(simulation.function(0).dmaUsage().currentBytes() < before);
        pairs.get(3).attachMulticast(Gid.of("239.0.0.4"));
        pairs.get(3).attachMulticast(Gid.of("239.0.0.5"));
      }
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
    }
  }

  @Test
  void whatCannotBeAMemberIsRefused() {
    try (Simulation simulation = Simulation.builder().functions(1).seed(1).stepped().build();
        RdmaDevice device = open(simulation, 0)) {
      ProtectionDomain domain = device.allocateProtectionDomain();
      CompletionQueue queue = device.createCompletionQueue(64);
      DatagramQueuePair pair = domain.createDatagramQueuePair(QueuePairConfig.of(queue), 1024, KEY);
      Gid group = Gid.of("ff02::1:3");
      assertThrows(IllegalArgumentException.class, () -> pair.attachMulticast(RdmaPair.A));
      assertThrows(IllegalArgumentException.class, () -> pair.attachMulticast(group, 4096));
      assertThrows(IllegalArgumentException.class, () -> pair.detachMulticast(group));
      DatagramQueuePair one = domain.createGeneralServicesQueuePair(QueuePairConfig.of(queue));
      assertThrows(IllegalStateException.class, () -> one.attachMulticast(group));
      pair.close();
      assertThrows(IllegalStateException.class, () -> pair.attachMulticast(group));
      assertFalse(queue.poll(new Completion()));
    }
  }
}
