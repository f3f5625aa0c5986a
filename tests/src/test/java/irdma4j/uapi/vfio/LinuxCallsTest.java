package irdma4j.uapi.vfio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.uapi.SystemCallException;
import irdma4j.uapi.linux.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/**
 * The system calls themselves, on this machine's kernel: what they do, and what the exception says
 * when it refuses. Fails if errno is lost, or the call or what to do is not said.
 */
class LinuxCallsTest {
  private static final int NONE = 1_000_000;

  private final LinuxCalls calls = new LinuxCalls();

  private static void refused(int errno, String call, String advice, Runnable action) {
    SystemCallException e = assertThrows(SystemCallException.class, action::run);
    assertEquals(errno, e.errno(), e.getMessage());
    assertEquals(call, e.call());
    assertTrue(e.getMessage().contains(advice), e.getMessage());
  }

  @Test
  void filesAreReadAndWrittenAtAnOffset() {
    int zero = calls.open("/dev/zero");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(8).fill((byte) 1);
      calls.pread(zero, buffer, 16);
      assertEquals(0, buffer.get(ValueLayout.JAVA_LONG, 0));
      calls.pwrite(zero, buffer, 16);
    } finally {
      calls.close(zero);
    }
  }

  @Test
  void refusalsSayWhatAndWhyAndWhatToDo() {
    refused(
        Linux.ENOENT(),
        "open(/dev/vfio/no-such-file)",
        "irdma bind",
        () -> calls.open("/dev/vfio/no-such-file"));
    refused(Linux.EISDIR(), "open(/dev)", "dmesg", () -> calls.open("/dev"));
    int nothing = calls.open("/dev/null");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(8);
      refused(
          Linux.EIO(), "pread(8 bytes at 0x20) gave 0", "", () -> calls.pread(nothing, buffer, 32));
      refused(
          Linux.ENOTTY(),
          "VFIO_DEVICE_GET_INFO(x)",
          "does not have it",
          () ->
              calls.ioctl(
                  "VFIO_DEVICE_GET_INFO(x)", nothing, Linux.VFIO_DEVICE_GET_INFO(), buffer));
      refused(
          Linux.ENOTTY(),
          "VFIO_SET_IOMMU(3)",
          "does not have it",
          () -> calls.ioctl("VFIO_SET_IOMMU", nothing, Linux.VFIO_SET_IOMMU(), 3));
      refused(
          Linux.EBADF(), "pwrite(8 bytes at 0x8)", "dmesg", () -> calls.pwrite(NONE, buffer, 8));
      refused(Linux.EBADF(), "read(eventfd 1000000)", "dmesg", () -> calls.readEvent(NONE));
      calls.signalEvent(NONE);
      calls.close(NONE);
    } finally {
      calls.close(nothing);
    }
  }

  @Test
  void memoryIsMappedAndTakenAway() {
    int anonymous = Linux.MAP_PRIVATE() | Linux.MAP_ANONYMOUS();
    int both = Linux.PROT_READ() | Linux.PROT_WRITE();
    MemorySegment memory = calls.mmap(8192, both, anonymous, -1, 0);
    assertEquals(8192, memory.byteSize());
    memory.set(ValueLayout.JAVA_LONG, 8184, 5);
    calls.munmap(memory);
    refused(Linux.EINVAL(), "mmap(0 bytes)", "dmesg", () -> calls.mmap(0, both, anonymous, -1, 0));
    refused(
        Linux.ENOMEM(),
        "mmap(1099511627776 bytes, MAP_HUGETLB)",
        "hugepages",
        () -> calls.mmap(1L << 40, both, anonymous | Linux.MAP_HUGETLB(), -1, 0));
  }

  @Test
  void eventsAreCountedAndWaitedFor() {
    int event = calls.eventfd();
    try {
      assertEquals(0, calls.readEvent(event));
      assertFalse(calls.awaitEvent(event, 1));
      calls.signalEvent(event);
      calls.signalEvent(event);
      assertTrue(calls.awaitEvent(event, 60_000_000_000L));
      assertEquals(2, calls.readEvent(event));
      assertEquals(0, calls.readEvent(event));
    } finally {
      calls.close(event);
    }
  }
}
