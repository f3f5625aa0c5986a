package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.AddressHandle;
import irdma4j.driver.Completion;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.QueuePairState;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.FlushCode;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Datagrams, through the driver's own objects. */
class DatagramVerbsTest {
  private static final int SIZE = 16 << 10;
  private static final int KEY = 0x1122_3344;
  private static final int HEADER = DatagramQueuePair.HEADER_BYTES;

  private RdmaPair rdma;
  private DmaMemory left;
  private DmaMemory right;
  private MemoryRegion local;
  private MemoryRegion remote;
  private DatagramQueuePair near;
  private DatagramQueuePair far;
  private AddressHandle handle;

  @BeforeEach
  void connect() {
    rdma = new RdmaPair(3, 0, 1024);
    left = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
    right = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
    for (int i = 0; i < SIZE; i++) {
      left.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + i / 256));
    }
    local = rdma.a.domain.registerMemory(left, Access.LOCAL_WRITE);
    remote = rdma.b.domain.registerMemory(right, Access.LOCAL_WRITE);
    near = rdma.a.domain.createDatagramQueuePair(config(rdma.a), 1024, KEY);
    far = rdma.b.domain.createDatagramQueuePair(config(rdma.b), 1024, KEY);
    handle = rdma.a.domain.createAddressHandle(path(RdmaPair.A, RdmaPair.B));
  }

  private DatagramPath path(Gid from, Gid to) {
    return DatagramPath.of(from, to, rdma.b.device.macAddress());
  }

  private static QueuePairConfig config(RdmaPair.Side side) {
    return QueuePairConfig.of(side.queue).withSges(4, 4).withInline(101);
  }

  @AfterEach
  void nothingIsLeft() {
    assertEquals(0, rdma.closeAndBalance());
  }

  private void post(AddressHandle to, int qpn, int key, int length) {
    assertTrue(
        near.postSend(1, to, qpn, key, local.lkey(), local.address(), length, QueuePair.SIGNALED));
    near.ring();
  }

  private Completion arrived(int length) {
    Completion completion = rdma.await(rdma.b);
    assertTrue(completion.isSuccess(), completion::toString);
    assertEquals(HEADER + length, completion.bytes());
    assertEquals(
        -1, left.segment().asSlice(0, length).mismatch(right.segment().asSlice(HEADER, length)));
    return completion;
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.1, 10.0.0.2, -1, 0", "10.0.0.1, 10.0.0.2, 5, 1024",
    "fd00::1, fd00::2, -1, 1", "fd00::1, fd00::2, 4095, 1000"
  })
  void aDatagramArrivesWithItsSendersAddress(String from, String to, int vlan, int length) {
    try (AddressHandle other =
        rdma.a.domain.createAddressHandle(path(Gid.of(from), Gid.of(to)).withVlan(vlan))) {
      assertTrue(far.postReceive(2, remote.lkey(), remote.address(), SIZE));
      post(other, far.qpn(), KEY, length);
      assertTrue(rdma.await(rdma.a).isSuccess());
      Completion completion = arrived(length);
      assertEquals(near.qpn(), completion.sourceQpn());
      assertEquals(rdma.a.device.macAddress(), completion.sourceMac());
    }
  }

  @Test
  void inlineAndImmediateDataArrive() {
    assertTrue(far.postReceive(2, remote.lkey(), remote.address(), SIZE));
    assertTrue(far.postReceive(3, remote.lkey(), remote.address(), SIZE));
    assertTrue(
        near.postSendInline(1, handle, far.qpn(), KEY, left.segment(), 0, 101, QueuePair.SIGNALED));
    near.ring();
    assertTrue(rdma.await(rdma.a).isSuccess());
    arrived(101);
    SgeList parts =
        new SgeList()
            .add(local.address(), 11, local.lkey())
            .add(local.address() + 11, 13, local.lkey());
    assertTrue(
        near.postSend(
            1,
            handle,
            far.qpn(),
            KEY,
            parts,
            QueuePair.SIGNALED | SendQueue.IMMEDIATE | QueuePair.SOLICITED,
            0xabcdef01));
    near.ring();
    Completion completion = arrived(24);
    assertEquals(0xabcdef01, completion.immediate());
    assertTrue(completion.isSolicited());
  }

  @Test
  void whatNobodyWaitsForIsDropped() {
    post(handle, far.qpn(), KEY, 10);
    assertTrue(rdma.await(rdma.a).isSuccess());
    rdma.settle(100_000);
    assertTrue(far.postReceive(2, remote.lkey(), remote.address(), SIZE));
    post(handle, far.qpn(), KEY + 1, 10);
    post(handle, far.qpn() + 50, KEY, 10);
    rdma.settle(100_000);
    assertFalse(rdma.b.queue.poll(new Completion()));
    assertTrue(rdma.simulation.statistics(1).framesDiscarded() >= 3);
    assertTrue(rdma.await(rdma.a).isSuccess());
    assertTrue(rdma.await(rdma.a).isSuccess());
    post(handle, far.qpn(), KEY, 10);
    arrived(10);
  }

  @Test
  void aDatagramLongerThanTheMtuIsALengthError() {
    post(handle, far.qpn(), KEY, 1025);
    Completion completion = rdma.await(rdma.a);
    assertEquals(FlushCode.LOC_LEN_ERR.meaning(), completion.flushCode());
    assertEquals(QueuePairState.ERROR, near.state());
  }

  @Test
  void aHandleOfAnotherDomainIsRefused() {
    ProtectionDomain other = rdma.a.device.allocateProtectionDomain();
    AddressHandle foreign = other.createAddressHandle(path(RdmaPair.A, RdmaPair.B));
    post(foreign, far.qpn(), KEY, 10);
    Completion completion = rdma.await(rdma.a);
    assertEquals(FlushCode.LOC_QP_OP_ERR.meaning(), completion.flushCode());
  }

  @Test
  void queuePairOneIsThereOnce() {
    DatagramQueuePair one = rdma.b.domain.createGeneralServicesQueuePair(config(rdma.b));
    assertEquals(1, one.qpn());
    assertThrows(
        IllegalStateException.class,
        () -> rdma.b.domain.createGeneralServicesQueuePair(config(rdma.b)));
    assertTrue(one.postReceive(2, remote.lkey(), remote.address(), SIZE));
    DatagramQueuePair own = rdma.a.domain.createGeneralServicesQueuePair(config(rdma.a));
    assertTrue(
        own.postSend(
            1,
            handle,
            1,
            DatagramQueuePair.GENERAL_SERVICES_KEY,
            local.lkey(),
            local.address(),
            256,
            QueuePair.SIGNALED));
    own.ring();
    assertTrue(rdma.await(rdma.a).isSuccess());
    assertEquals(1, arrived(256).sourceQpn());
    one.close();
    rdma.b.domain.createGeneralServicesQueuePair(config(rdma.b)).close();
  }

  /** The highest bit of a Q_Key says: use the queue pair's own, which only its creator can set. */
  @Test
  void aControlledKeyCannotBeForged() {
    DatagramQueuePair one = rdma.b.domain.createGeneralServicesQueuePair(config(rdma.b));
    assertTrue(one.postReceive(2, remote.lkey(), remote.address(), SIZE));
    post(handle, 1, DatagramQueuePair.GENERAL_SERVICES_KEY, 10);
    assertTrue(rdma.await(rdma.a).isSuccess());
    rdma.settle(100_000);
    assertFalse(rdma.b.queue.poll(new Completion()));
  }

  @Test
  void badRequestsAreRefusedBeforeAnythingChanges() {
    assertThrows(
        IllegalArgumentException.class,
        () -> rdma.a.domain.createDatagramQueuePair(config(rdma.a), 1500, KEY));
    assertThrows(
        IllegalArgumentException.class, () -> DatagramPath.of(RdmaPair.A, Gid.of("fd00::1"), 2));
    assertThrows(
        IllegalArgumentException.class,
        () -> near.postSendInline(1, handle, far.qpn(), KEY, left.segment(), 0, 102, 0));
    assertThrows(IllegalStateException.class, () -> RdmaPair.A.multicastMac());
    assertEquals(0x0100_5e7f_0102L, Gid.of("239.255.1.2").multicastMac());
    assertEquals(0x3333_0001_0203L, Gid.of("ff02::1:203").multicastMac());
    assertEquals(0, near.sendQueue().posted());
  }
}
