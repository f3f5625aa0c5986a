package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
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
import irdma4j.driver.FastRegion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.MemoryWindow;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.hwregs.FlushCode;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What may be created, what may be closed when, and what happens to traffic in between. */
class LifetimeTest {
  private RdmaPair rdma;

  @BeforeEach
  void open() {
    rdma = new RdmaPair(4, 0, 1024);
  }

  @AfterEach
  void nothingIsLeft() {
    assertEquals(0, rdma.closeAndBalance());
  }

  @Test
  void aDomainStaysWhileAnythingOfItIsOpen() throws Exception {
    ProtectionDomain domain = rdma.a.device.allocateProtectionDomain();
    DmaMemory memory = rdma.a.memory(4096, DmaPlacement.CONTIGUOUS);
    QueuePairConfig config = QueuePairConfig.of(rdma.a.queue);
    List<AutoCloseable> users =
        List.of(
            domain.registerMemory(memory, Access.LOCAL_WRITE),
            domain.allocateWindow(MemoryWindow.Type.ONE),
            domain.allocateFastRegion(1),
            domain.createAddressHandle(
                DatagramPath.of(RdmaPair.A, RdmaPair.B, rdma.b.device.macAddress())),
            domain.createQueuePair(config),
            domain.createDatagramQueuePair(config, 1024, 1));
    for (AutoCloseable each : users) {
      String said = assertThrows(IllegalStateException.class, domain::close).getMessage();
      assertTrue(said.contains("is used by"), said);
      each.close();
    }
    domain.close();
    domain.close();
    assertThrows(IllegalStateException.class, () -> domain.allocateWindow(MemoryWindow.Type.ONE));
  }

  @Test
  void aCompletionQueueStaysWhileAQueuePairCompletesIntoIt() {
    CompletionQueue sends = rdma.a.device.createCompletionQueue(8);
    CompletionQueue receives = rdma.a.device.createCompletionQueue(8);
    QueuePair pair =
        rdma.a.domain.createQueuePair(new QueuePairConfig(sends, receives, 4, 4, 1, 1, 0, false));
    assertThrows(IllegalStateException.class, sends::close);
    assertThrows(IllegalStateException.class, receives::close);
    pair.close();
    sends.close();
    receives.close();
    receives.close();
  }

  @Test
  void sizesAreWhatTheDeviceTakes() {
    for (int entries : new int[] {Integer.MIN_VALUE, 0, 524_287, Integer.MAX_VALUE}) {
      assertThrows(
          IllegalArgumentException.class, () -> rdma.a.device.createCompletionQueue(entries));
    }
    rdma.a.device.createCompletionQueue(1).close();
    rdma.a.device.createCompletionQueue(524_286).close();
    int vectors = rdma.a.device.ceqCount();
    rdma.a.device.createCompletionQueue(1, vectors - 1).close();
    for (int vector : new int[] {-1, vectors, Integer.MAX_VALUE}) {
      assertThrows(
          IllegalArgumentException.class, () -> rdma.a.device.createCompletionQueue(1, vector));
    }
    QueuePairConfig config = QueuePairConfig.of(rdma.a.queue);
    assertThrows(IllegalArgumentException.class, () -> config.withRequests(0, 1));
    assertThrows(IllegalArgumentException.class, () -> config.withRequests(1, 0));
    assertThrows(IllegalArgumentException.class, () -> config.withSges(14, 1));
    assertThrows(IllegalArgumentException.class, () -> config.withSges(1, 14));
    assertThrows(IllegalArgumentException.class, () -> config.withInline(102));
    // 32,768 quanta, less the 258 that Linux keeps free; immediate data makes a WQE one of two.
    assertThrows(
        IllegalArgumentException.class,
        () -> rdma.a.domain.createQueuePair(config.withRequests(16_256, 1)));
    assertThrows(
        IllegalArgumentException.class,
        () -> rdma.a.domain.createQueuePair(config.withRequests(1, 32_768)));
    rdma.a.domain.createQueuePair(config.withRequests(16_255, 32_767)).close();
    rdma.a.domain.createQueuePair(config.withSges(13, 13).withInline(101)).close();
  }

  private static byte[] bytes(DmaMemory memory) {
    return memory.segment().toArray(ValueLayout.JAVA_BYTE);
  }

  /** Fails if the device goes on writing into memory that it was told to forget. */
  @Test
  void aRegionThatIsTakenAwayUnderTrafficIsWrittenNoMore() {
    int size = 1 << 20;
    DmaMemory here = rdma.a.memory(size, DmaPlacement.SCATTERED);
    DmaMemory there = rdma.b.memory(size, DmaPlacement.SCATTERED);
    here.segment().fill((byte) 7);
    MemoryRegion local = rdma.a.domain.registerMemory(here, Access.LOCAL_WRITE);
    MemoryRegion remote =
        rdma.b.domain.registerMemory(there, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    assertTrue(
        rdma.a.pair.postWrite(
            1, local.lkey(), local.address(), size, remote.address(), remote.rkey(), 1));
    rdma.a.pair.ring();
    rdma.await(() -> there.segment().get(ValueLayout.JAVA_BYTE, 5000) == 7, "the first packets");
    remote.close();
    byte[] then = bytes(there);
    Completion completion = rdma.await(rdma.a);
    assertEquals(FlushCode.REM_ACCESS_ERR.meaning(), completion.flushCode());
    assertArrayEquals(then, bytes(there));
    assertEquals(0, then[size - 1], "the region was taken away in the middle");
  }

  /** Fails if the device goes on writing answers into memory that it was told to forget. */
  @Test
  void aSinkThatIsTakenAwayUnderTrafficIsWrittenNoMore() {
    int size = 1 << 20;
    DmaMemory here = rdma.a.memory(size, DmaPlacement.SCATTERED);
    DmaMemory there = rdma.b.memory(size, DmaPlacement.SCATTERED);
    there.segment().fill((byte) 7);
    MemoryRegion sink = rdma.a.domain.registerMemory(here, Access.LOCAL_WRITE);
    MemoryRegion remote =
        rdma.b.domain.registerMemory(there, Access.LOCAL_WRITE, Access.REMOTE_READ);
    assertTrue(
        rdma.a.pair.postRead(
            1, sink.lkey(), sink.address(), size, remote.address(), remote.rkey(), 1));
    rdma.a.pair.ring();
    rdma.await(() -> here.segment().get(ValueLayout.JAVA_BYTE, 5000) == 7, "the first packets");
    sink.close();
    byte[] then = bytes(here);
    Completion completion = rdma.await(rdma.a);
    assertEquals(FlushCode.PROT_ERR.meaning(), completion.flushCode());
    assertArrayEquals(then, bytes(here));
    assertEquals(0, then[size - 1], "the sink was taken away in the middle");
  }

  /**
   * The stag that is taken away goes to another region at once, with other memory. Fails if a
   * message that began with the old one goes on in the new one.
   */
  @Test
  void aStagOfAnotherLifeIsNotTheOldOne() {
    int size = 1 << 18;
    DmaMemory here = rdma.a.memory(size, DmaPlacement.SCATTERED);
    DmaMemory there = rdma.b.memory(size, DmaPlacement.SCATTERED);
    DmaMemory other = rdma.b.memory(size, DmaPlacement.SCATTERED);
    here.segment().fill((byte) 7);
    MemoryRegion local = rdma.a.domain.registerMemory(here, Access.LOCAL_WRITE);
    FastRegion remote = rdma.b.domain.allocateFastRegion(size / 4096);
    QueuePair far = rdma.b.pair;
    assertTrue(far.postFastRegister(1, remote, there, 0, size, 1, Access.REMOTE_WRITE));
    far.ring();
    assertTrue(rdma.await(rdma.b).isSuccess());
    assertTrue(
        rdma.a.pair.postWrite(
            1,
            local.lkey(),
            local.address(),
            size,
            there.segment().address(),
            remote.key(),
            QueuePair.SIGNALED));
    rdma.a.pair.ring();
    rdma.await(() -> there.segment().get(ValueLayout.JAVA_BYTE, 5000) == 7, "the first packets");
    int old = remote.key();
    assertTrue(far.postInvalidate(2, old, QueuePair.SIGNALED));
    assertTrue(
        far.postFastRegister(3, remote, other, 0, size, QueuePair.SIGNALED, Access.REMOTE_WRITE));
    assertEquals(old >>> 8, remote.key() >>> 8);
    far.ring();
    assertEquals(FlushCode.REM_ACCESS_ERR.meaning(), rdma.await(rdma.a).flushCode());
    assertArrayEquals(new byte[size], bytes(other));
    assertEquals(0, there.segment().get(ValueLayout.JAVA_BYTE, size - 1));
  }

  /** Fails if more is written than the receive has room for, or either side hears of no error. */
  @Test
  void aMessageThatIsLongerThanItsReceiveFailsOnBothSides() {
    DmaMemory here = rdma.a.memory(8192, DmaPlacement.SCATTERED);
    DmaMemory there = rdma.b.memory(8192, DmaPlacement.SCATTERED);
    here.segment().fill((byte) 7);
    MemoryRegion local = rdma.a.domain.registerMemory(here);
    MemoryRegion remote = rdma.b.domain.registerMemory(there, Access.LOCAL_WRITE);
    assertTrue(rdma.b.pair.postReceive(2, remote.lkey(), remote.address(), 4999));
    assertTrue(rdma.a.pair.postSend(1, local.lkey(), local.address(), 5000, QueuePair.SIGNALED));
    rdma.a.pair.ring();
    assertEquals(FlushCode.REM_INV_REQ_ERR.meaning(), rdma.await(rdma.a).flushCode());
    Completion received = rdma.await(rdma.b);
    assertEquals(2, received.wrId());
    assertEquals(FlushCode.LOC_LEN_ERR.meaning(), received.flushCode());
    byte[] bytes = bytes(there);
    for (int i = 4999; i < bytes.length; i++) {
      assertEquals(0, bytes[i], "byte " + i);
    }
  }

  /** Fails if an event for a datagram is missed or told twice. */
  @Test
  void datagramsRaiseEvents() {
    DmaMemory here = rdma.a.memory(4096, DmaPlacement.CONTIGUOUS);
    DmaMemory there = rdma.b.memory(4096, DmaPlacement.CONTIGUOUS);
    MemoryRegion local = rdma.a.domain.registerMemory(here);
    MemoryRegion remote = rdma.b.domain.registerMemory(there, Access.LOCAL_WRITE);
    CompletionQueue queue = rdma.b.device.createCompletionQueue(8);
    DatagramQueuePair near =
        rdma.a.domain.createDatagramQueuePair(QueuePairConfig.of(rdma.a.queue), 1024, 5);
    DatagramQueuePair far =
        rdma.b.domain.createDatagramQueuePair(QueuePairConfig.of(queue), 1024, 5);
    AddressHandle to =
        rdma.a.domain.createAddressHandle(
            DatagramPath.of(RdmaPair.A, RdmaPair.B, rdma.b.device.macAddress()));
    for (boolean solicited : new boolean[] {false, true}) {
      if (solicited) {
        queue.armSolicited();
      } else {
        queue.arm();
      }
      for (int i = 0; i < 2; i++) {
        assertTrue(far.postReceive(3, remote.lkey(), remote.address(), 4096));
      }
      for (int flags : new int[] {0, QueuePair.SOLICITED}) {
        assertTrue(near.postSend(1, to, far.qpn(), 5, local.lkey(), local.address(), 64, flags));
        near.ring();
        rdma.settle(200_000);
        // The first message wakes one that waits for any, the second one that waits for such.
        assertEquals(solicited == (flags != 0), queue.takeEvent());
      }
      Completion completion = new Completion();
      assertTrue(queue.poll(completion) && completion.isSuccess());
      assertTrue(queue.poll(completion) && completion.isSuccess());
      assertFalse(queue.poll(completion));
    }
  }
}
