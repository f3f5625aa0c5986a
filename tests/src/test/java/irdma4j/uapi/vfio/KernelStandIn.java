package irdma4j.uapi.vfio;

import irdma4j.uapi.linux.Linux;
import irdma4j.uapi.linux.iommu_ioas_alloc;
import irdma4j.uapi.linux.iommu_ioas_iova_ranges;
import irdma4j.uapi.linux.iommu_ioas_map;
import irdma4j.uapi.linux.iommu_ioas_unmap;
import irdma4j.uapi.linux.iommu_iova_range;
import irdma4j.uapi.linux.vfio_device_attach_iommufd_pt;
import irdma4j.uapi.linux.vfio_device_bind_iommufd;
import irdma4j.uapi.linux.vfio_device_info;
import irdma4j.uapi.linux.vfio_group_status;
import irdma4j.uapi.linux.vfio_info_cap_header;
import irdma4j.uapi.linux.vfio_iommu_type1_dma_map;
import irdma4j.uapi.linux.vfio_iommu_type1_dma_unmap;
import irdma4j.uapi.linux.vfio_iommu_type1_info;
import irdma4j.uapi.linux.vfio_irq_info;
import irdma4j.uapi.linux.vfio_irq_set;
import irdma4j.uapi.linux.vfio_pci_dependent_device;
import irdma4j.uapi.linux.vfio_pci_hot_reset;
import irdma4j.uapi.linux.vfio_pci_hot_reset_info;
import irdma4j.uapi.linux.vfio_region_info;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A kernel at the boundary of system calls: VFIO's groups and containers, its character devices
 * with iommufd, eventfds and mappings of memory, with one function. It knows what is open, mapped
 * and locked, can refuse any call, and holds a caller to the rules: whatever Linux would refuse for
 * a mistake of the caller's is an {@link AssertionError} here, and stands in {@link #mistakes()}.
 *
 * <p>What it does is what Linux 6.1's drivers/vfio and, for character devices, Linux 6.6's
 * drivers/vfio/device_cdev.c and drivers/iommu/iommufd do. Descriptors are never used again, so
 * that use of one that is closed is always seen.
 */
final class KernelStandIn implements SystemCalls {
  private static final int REGION_SHIFT = 40;
  private static final int ADDRESS_SPACE = 5;
  private static final int BY_DEVICE = 1;
  private static final int ALL_OWNED = 2;
  private static final int NOT_OWNED = -1;
  private static final int CAP = (int) vfio_info_cap_header.layout().byteSize();

  /** What is open. */
  private enum Kind {
    CONTAINER,
    GROUP,
    IOMMUFD,
    DEVICE,
    EVENT
  }

  private static final class OpenFile {
    final Kind kind;
    long events;
    int waiting;

    OpenFile(Kind kind) {
      this.kind = kind;
    }
  }

  private record Mapping(long bytes, Arena arena, boolean device) {}

  /** What is not back yet. */
  record Balance(
      int descriptors,
      int mappings,
      int dmaMappings,
      long lockedBytes,
      boolean busMaster,
      boolean interrupts) {
    static final Balance ZERO = new Balance(0, 0, 0, 0, false, false);
  }

  final CardStandIn card;
  final IommuStandIn iommu = new IommuStandIn();
  boolean viable = true;
  boolean isContainerOpenElsewhere;

  private final Map<Integer, OpenFile> files = new HashMap<>();
  private final Set<Integer> closed = new HashSet<>();
  private final Map<Long, Mapping> mappings = new HashMap<>();
  private final List<String> log = new ArrayList<>();
  private final List<String> mistakes = new ArrayList<>();
  private int nextFile = 3;
  private int calls;
  private int failAt = -1;
  private int failWith;
  private String failed = "";

  private boolean containerJoined;
  private boolean iommuSet;
  private boolean bound;
  private boolean spaceMade;
  private boolean attached;

  KernelStandIn(CardStandIn card) {
    this.card = card;
  }

  /** Refuses the call of this number, from 0 and counted from now, with an error. */
  synchronized void failAt(int number, int errno) {
    failAt = calls + number;
    failWith = errno;
    failed = "";
  }

  /** The call that was refused on purpose, or the empty string. */
  synchronized String failed() {
    return failed;
  }

  /** Calls that could have been refused. */
  synchronized int calls() {
    return calls;
  }

  /** What was called, in order; names only. */
  synchronized List<String> log() {
    return List.copyOf(log);
  }

  /** What the caller did wrong. */
  synchronized List<String> mistakes() {
    return List.copyOf(mistakes);
  }

  synchronized Balance balance() {
    return new Balance(
        files.size(),
        mappings.size(),
        iommu.mappings(),
        iommu.lockedBytes(),
        card.isBusMaster(),
        card.hasInterrupts());
  }

  /** Threads that wait for an eventfd. */
  synchronized int waiting() {
    return files.values().stream().mapToInt(file -> file.waiting).sum();
  }

  /** Raises an interrupt as the device does. */
  synchronized void raise(int vector) {
    if (vector < card.eventfds.length) {
      files.get(card.eventfds[vector]).events++;
      notifyAll();
    }
  }

  private AssertionError mistake(String what) {
    mistakes.add(what);
    return new AssertionError(what);
  }

  private void require(boolean holds, String what) {
    if (!holds) {
      throw mistake(what);
    }
  }

  /** Notes a call, and refuses it if that is wanted. */
  private void enter(String call) {
    log.add(call.replaceAll("\\(.*", ""));
    if (calls++ == failAt) {
      failed = call;
      throw Errno.refused(call, failWith);
    }
  }

  private int opened(Kind kind) {
    files.put(nextFile, new OpenFile(kind));
    return nextFile++;
  }

  private OpenFile file(int fd, String call) {
    OpenFile file = files.get(fd);
    require(
        file != null,
        "%s with descriptor %d, %s"
            .formatted(call, fd, closed.contains(fd) ? "which is closed" : "which never was open"));
    return file;
  }

  @Override
  public synchronized int open(String path) {
    String call = "open(" + path + ")";
    enter(call);
    return switch (path) {
      case "/dev/vfio/vfio" -> opened(Kind.CONTAINER);
      case "/dev/vfio/" + CardStandIn.GROUP -> {
        if (isContainerOpenElsewhere) {
          throw Errno.refused(call, Linux.EBUSY());
        }
        yield opened(Kind.GROUP);
      }
      case "/dev/iommu" -> opened(Kind.IOMMUFD);
      case "/dev/vfio/devices/" + MadeUpMachine.CDEV -> opened(Kind.DEVICE);
      default -> throw Errno.refused(call, Linux.ENOENT());
    };
  }

  @Override
  public synchronized void close(int fd) {
    OpenFile file = file(fd, "close");
    require(file.waiting == 0, "close of descriptor %d, on which a thread waits".formatted(fd));
    require(
        file.kind != Kind.EVENT || !isEnabled(fd),
        "close of eventfd %d, which the device signals".formatted(fd));
    files.remove(fd);
    closed.add(fd);
    release();
  }

  private boolean isEnabled(int fd) {
    for (int enabled : card.eventfds) {
      if (enabled == fd && failed.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  private boolean isOpen(Kind kind) {
    return files.values().stream().anyMatch(file -> file.kind == kind);
  }

  /** A mapping keeps its file open, and a device its group, that its container. */
  private void release() {
    boolean mapped = mappings.values().stream().anyMatch(Mapping::device);
    if (isOpen(Kind.DEVICE) || mapped) {
      return;
    }
    card.quieten();
    bound = false;
    attached = false;
    if (!isOpen(Kind.GROUP)) {
      containerJoined = false;
      if (!isOpen(Kind.CONTAINER) && !isOpen(Kind.IOMMUFD)) {
        iommuSet = false;
        spaceMade = false;
        iommu.clear();
      }
    }
  }

  @Override
  public synchronized int ioctl(String name, int fd, int request, long argument) {
    String call = "%s(%d)".formatted(name, argument);
    OpenFile file = file(fd, call);
    enter(call);
    if (file.kind == Kind.CONTAINER && request == Linux.VFIO_GET_API_VERSION()) {
      return Linux.VFIO_API_VERSION();
    }
    if (file.kind == Kind.CONTAINER && request == Linux.VFIO_CHECK_EXTENSION()) {
      return argument == Linux.VFIO_TYPE1v2_IOMMU() ? 1 : 0;
    }
    if (file.kind == Kind.CONTAINER && request == Linux.VFIO_SET_IOMMU()) {
      require(containerJoined && !iommuSet, call + " without a group, or twice");
      require(argument == Linux.VFIO_TYPE1v2_IOMMU(), call + ": another type");
      iommuSet = true;
      return 0;
    }
    if (file.kind == Kind.DEVICE && request == Linux.VFIO_DEVICE_RESET()) {
      requireGranted(call);
      if (!card.hasReset) {
        throw Errno.refused(call, Linux.EINVAL());
      }
      card.resets++;
      return 0;
    }
    throw mistake("unknown ioctl " + call + " of " + file.kind);
  }

  private void requireGranted(String call) {
    require(bound || containerJoined, call + " before the device is bound");
  }

  @Override
  public synchronized int ioctl(String name, int fd, int request, MemorySegment argument) {
    OpenFile file = file(fd, name);
    require(argument.isNative(), name + " with memory of the Java heap");
    enter(name);
    return switch (file.kind) {
      case CONTAINER -> container(name, request, argument);
      case GROUP -> group(name, request, argument);
      case IOMMUFD -> iommufd(name, request, argument);
      case DEVICE -> device(name, request, argument);
      case EVENT -> throw mistake(name + " of an eventfd");
    };
  }

  /** The size that a structure says it has: all of it, and no more than is there. */
  private void requireSize(String name, MemorySegment argument, int said, long least) {
    require(
        said >= least && said <= argument.byteSize(),
        "%s: size %d, where the structure has %d and its memory %d"
            .formatted(name, said, least, argument.byteSize()));
  }

  private int container(String name, int request, MemorySegment argument) {
    require(iommuSet, name + " before VFIO_SET_IOMMU");
    if (request == Linux.VFIO_IOMMU_GET_INFO()) {
      requireSize(
          name,
          argument,
          vfio_iommu_type1_info.argsz(argument),
          vfio_iommu_type1_info.layout().byteSize());
      iommuInfo(argument);
    } else if (request == Linux.VFIO_IOMMU_MAP_DMA()) {
      requireSize(
          name,
          argument,
          vfio_iommu_type1_dma_map.argsz(argument),
          vfio_iommu_type1_dma_map.layout().byteSize());
      require(
          vfio_iommu_type1_dma_map.flags(argument)
              == (Linux.VFIO_DMA_MAP_FLAG_READ() | Linux.VFIO_DMA_MAP_FLAG_WRITE()),
          name + ": flags");
      if (iommu.mappingsLeft() == 0) {
        throw Errno.refused(name, Linux.ENOSPC());
      }
      map(
          name,
          vfio_iommu_type1_dma_map.vaddr(argument),
          vfio_iommu_type1_dma_map.iova(argument),
          vfio_iommu_type1_dma_map.size(argument));
    } else if (request == Linux.VFIO_IOMMU_UNMAP_DMA()) {
      requireSize(
          name,
          argument,
          vfio_iommu_type1_dma_unmap.argsz(argument),
          vfio_iommu_type1_dma_unmap.layout().byteSize());
      require(vfio_iommu_type1_dma_unmap.flags(argument) == 0, name + ": flags");
      unmap(
          name,
          vfio_iommu_type1_dma_unmap.iova(argument),
          vfio_iommu_type1_dma_unmap.size(argument));
    } else {
      throw mistake("unknown ioctl " + name + " of a container");
    }
    return 0;
  }

  /** Three capabilities, of which the first is of twelve bytes, so that the others lie askew. */
  private void iommuInfo(MemorySegment info) {
    int start = (int) vfio_iommu_type1_info.layout().byteSize();
    int available = start;
    int other = available + CAP + 4;
    int ranges = other + CAP;
    int end = ranges + CAP + 8 + iommu.ranges.size() * 16;
    vfio_iommu_type1_info.flags(
        info, Linux.VFIO_IOMMU_INFO_PGSIZES() | Linux.VFIO_IOMMU_INFO_CAPS());
    vfio_iommu_type1_info.iova_pgsizes(info, iommu.pageBytes | 2L << 20);
    if (vfio_iommu_type1_info.argsz(info) < end) {
      vfio_iommu_type1_info.argsz(info, end);
      vfio_iommu_type1_info.cap_offset(info, 0);
      return;
    }
    vfio_iommu_type1_info.cap_offset(info, start);
    capability(info, available, Linux.VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL(), other);
    setInt(info, available + CAP, iommu.mappingsLeft());
    capability(info, other, 0x77, ranges);
    capability(info, ranges, Linux.VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE(), 0);
    setInt(info, ranges + CAP, iommu.ranges.size());
    for (int i = 0; i < iommu.ranges.size(); i++) {
      setLong(info, ranges + CAP + 8 + i * 16, iommu.ranges.get(i).first());
      setLong(info, ranges + CAP + 16 + i * 16, iommu.ranges.get(i).last());
    }
  }

  private static void capability(MemorySegment info, int at, int id, int next) {
    info.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, (short) id);
    info.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + 2, (short) 1);
    setInt(info, at + 4, next);
  }

  private static void setInt(MemorySegment memory, long at, int value) {
    memory.set(ValueLayout.JAVA_INT_UNALIGNED, at, value);
  }

  private static void setLong(MemorySegment memory, long at, long value) {
    memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, value);
  }

  private void map(String name, long address, long iova, long bytes) {
    String objection = iommu.objection(address, iova, bytes);
    require(objection == null, name + ": " + objection);
    boolean owned =
        mappings.entrySet().stream()
            .anyMatch(
                one ->
                    !one.getValue().device()
                        && address >= one.getKey()
                        && address + bytes <= one.getKey() + one.getValue().bytes());
    require(owned, name + ": memory that is not the caller's");
    if (iommu.lockedBytes() + bytes > iommu.lockedAtMost) {
      throw Errno.refused(name, Linux.ENOMEM());
    }
    iommu.map(iova, bytes);
  }

  private void unmap(String name, long iova, long bytes) {
    require(iommu.unmap(iova, bytes), name + ": it is not mapped so");
  }

  private int group(String name, int request, MemorySegment argument) {
    if (request == Linux.VFIO_GROUP_GET_STATUS()) {
      requireSize(
          name, argument, vfio_group_status.argsz(argument), vfio_group_status.layout().byteSize());
      vfio_group_status.flags(argument, viable ? Linux.VFIO_GROUP_FLAGS_VIABLE() : 0);
      return 0;
    }
    if (request == Linux.VFIO_GROUP_SET_CONTAINER()) {
      int container = argument.get(ValueLayout.JAVA_INT, 0);
      require(
          file(container, name).kind == Kind.CONTAINER && !containerJoined && viable,
          name + ": no container, or a second time");
      containerJoined = true;
      return 0;
    }
    if (request == Linux.VFIO_GROUP_GET_DEVICE_FD()) {
      require(iommuSet, name + " before VFIO_SET_IOMMU");
      if (!argument.getString(0).equals(CardStandIn.BDF)) {
        throw Errno.refused(name, Linux.ENODEV());
      }
      return opened(Kind.DEVICE);
    }
    throw mistake("unknown ioctl " + name + " of a group");
  }

  private int iommufd(String name, int request, MemorySegment argument) {
    // Each of its structures begins with its size.
    int size = argument.get(ValueLayout.JAVA_INT, 0);
    if (request == Linux.IOMMU_IOAS_ALLOC()) {
      requireSize(name, argument, size, iommu_ioas_alloc.layout().byteSize());
      require(iommu_ioas_alloc.flags(argument) == 0 && !spaceMade, name + ": flags, or twice");
      spaceMade = true;
      iommu_ioas_alloc.out_ioas_id(argument, ADDRESS_SPACE);
      return 0;
    }
    require(spaceMade, name + " before there is an address space");
    if (request == Linux.IOMMU_IOAS_IOVA_RANGES()) {
      requireSize(name, argument, size, iommu_ioas_iova_ranges.layout().byteSize());
      require(iommu_ioas_iova_ranges.ioas_id(argument) == ADDRESS_SPACE, name + ": address space");
      return ranges(name, argument);
    }
    if (request == Linux.IOMMU_IOAS_MAP()) {
      requireSize(name, argument, size, iommu_ioas_map.layout().byteSize());
      require(iommu_ioas_map.ioas_id(argument) == ADDRESS_SPACE, name + ": address space");
      require(
          iommu_ioas_map.flags(argument)
              == (Linux.IOMMU_IOAS_MAP_FIXED_IOVA()
                  | Linux.IOMMU_IOAS_MAP_READABLE()
                  | Linux.IOMMU_IOAS_MAP_WRITEABLE()),
          name + ": flags");
      require(attached, name + " before the device is attached");
      map(
          name,
          iommu_ioas_map.user_va(argument),
          iommu_ioas_map.iova(argument),
          iommu_ioas_map.length(argument));
      return 0;
    }
    if (request == Linux.IOMMU_IOAS_UNMAP()) {
      requireSize(name, argument, size, iommu_ioas_unmap.layout().byteSize());
      require(iommu_ioas_unmap.ioas_id(argument) == ADDRESS_SPACE, name + ": address space");
      unmap(name, iommu_ioas_unmap.iova(argument), iommu_ioas_unmap.length(argument));
      return 0;
    }
    throw mistake("unknown ioctl " + name + " of iommufd");
  }

  @SuppressWarnings("restricted")
  private static MemorySegment at(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }

  /** Before a device is attached an address space knows of no bounds. */
  private int ranges(String name, MemorySegment ask) {
    List<IovaRange> all = attached ? iommu.ranges : List.of(new IovaRange(0, -1L));
    int room = iommu_ioas_iova_ranges.num_iovas(ask);
    MemorySegment out =
        at(iommu_ioas_iova_ranges.allowed_iovas(ask), room * iommu_iova_range.layout().byteSize());
    for (int i = 0; i < Math.min(room, all.size()); i++) {
      setLong(out, i * 16L, all.get(i).first());
      setLong(out, i * 16L + 8, all.get(i).last());
    }
    iommu_ioas_iova_ranges.num_iovas(ask, all.size());
    iommu_ioas_iova_ranges.out_iova_alignment(ask, attached ? iommu.pageBytes : 1);
    if (all.size() > room) {
      throw Errno.refused(name, Linux.EMSGSIZE());
    }
    return 0;
  }

  private int device(String name, int request, MemorySegment argument) {
    int size = argument.get(ValueLayout.JAVA_INT, 0);
    if (request == Linux.VFIO_DEVICE_BIND_IOMMUFD()) {
      requireSize(name, argument, size, vfio_device_bind_iommufd.layout().byteSize());
      require(
          !bound
              && vfio_device_bind_iommufd.flags(argument) == 0
              && file(vfio_device_bind_iommufd.iommufd(argument), name).kind == Kind.IOMMUFD,
          name + ": flags, iommufd, or a second time");
      bound = true;
      vfio_device_bind_iommufd.out_devid(argument, 1);
      return 0;
    }
    requireGranted(name);
    if (request == Linux.VFIO_DEVICE_ATTACH_IOMMUFD_PT()) {
      requireSize(name, argument, size, vfio_device_attach_iommufd_pt.layout().byteSize());
      require(
          bound
              && spaceMade
              && vfio_device_attach_iommufd_pt.flags(argument) == 0
              && vfio_device_attach_iommufd_pt.pt_id(argument) == ADDRESS_SPACE,
          name + ": flags, address space, or not bound");
      attached = true;
      return 0;
    }
    if (request == Linux.VFIO_DEVICE_GET_INFO()) {
      // The first version of the structure ends before its capabilities.
      requireSize(name, argument, size, 16);
      vfio_device_info.flags(
          argument,
          Linux.VFIO_DEVICE_FLAGS_PCI() | (card.hasReset ? Linux.VFIO_DEVICE_FLAGS_RESET() : 0));
      vfio_device_info.num_regions(argument, 9);
      vfio_device_info.num_irqs(argument, 5);
      return 0;
    }
    if (request == Linux.VFIO_DEVICE_GET_REGION_INFO()) {
      requireSize(name, argument, size, vfio_region_info.layout().byteSize());
      regionInfo(name, argument);
      return 0;
    }
    if (request == Linux.VFIO_DEVICE_GET_IRQ_INFO()) {
      requireSize(name, argument, size, vfio_irq_info.layout().byteSize());
      int index = vfio_irq_info.index(argument);
      require(index >= 0 && index < card.vectors.length, name + ": kind " + index);
      vfio_irq_info.flags(argument, Linux.VFIO_IRQ_INFO_EVENTFD());
      vfio_irq_info.count(argument, card.vectors[index]);
      return 0;
    }
    if (request == Linux.VFIO_DEVICE_SET_IRQS()) {
      return setInterrupts(name, argument, size);
    }
    if (request == Linux.VFIO_DEVICE_GET_PCI_HOT_RESET_INFO()) {
      requireSize(name, argument, size, vfio_pci_hot_reset_info.layout().byteSize());
      return hotResetInfo(name, argument, size);
    }
    if (request == Linux.VFIO_DEVICE_PCI_HOT_RESET()) {
      requireSize(name, argument, size, vfio_pci_hot_reset.layout().byteSize());
      return hotReset(name, argument, size);
    }
    throw mistake("unknown ioctl " + name + " of a device");
  }

  private void regionInfo(String name, MemorySegment info) {
    int index = vfio_region_info.index(info);
    require(index >= 0 && index < 9, name + ": region " + index);
    CardStandIn.Bar bar = card.bar(index);
    int flags = Linux.VFIO_REGION_INFO_FLAG_READ() | Linux.VFIO_REGION_INFO_FLAG_WRITE();
    vfio_region_info.offset(info, (long) index << REGION_SHIFT);
    vfio_region_info.size(info, card.bytes(index).byteSize());
    if (bar == null) {
      vfio_region_info.flags(info, card.bytes(index).byteSize() == 0 ? 0 : flags);
      return;
    }
    flags |= Linux.VFIO_REGION_INFO_FLAG_MMAP();
    if (bar.mapped() == null) {
      vfio_region_info.flags(info, flags);
      return;
    }
    vfio_region_info.flags(info, flags | Linux.VFIO_REGION_INFO_FLAG_CAPS());
    int start = (int) vfio_region_info.layout().byteSize();
    int end = start + CAP + 8 + bar.mapped().size() * 16;
    if (vfio_region_info.argsz(info) < end) {
      vfio_region_info.argsz(info, end);
      vfio_region_info.cap_offset(info, 0);
      return;
    }
    vfio_region_info.cap_offset(info, start);
    capability(info, start, Linux.VFIO_REGION_INFO_CAP_SPARSE_MMAP(), 0);
    setInt(info, start + CAP, bar.mapped().size());
    for (int i = 0; i < bar.mapped().size(); i++) {
      setLong(info, start + CAP + 8 + i * 16, bar.mapped().get(i).offset());
      setLong(info, start + CAP + 16 + i * 16, bar.mapped().get(i).size());
    }
  }

  private int setInterrupts(String name, MemorySegment set, int size) {
    long header = vfio_irq_set.layout().byteSize();
    requireSize(name, set, size, header);
    int kind = vfio_irq_set.index(set);
    int flags = vfio_irq_set.flags(set);
    int count = vfio_irq_set.count(set);
    require(
        kind >= 0 && kind < card.vectors.length && vfio_irq_set.start(set) == 0,
        name + ": kind " + kind);
    require(count >= 0 && count <= card.vectors[kind], name + ": " + count + " vectors");
    int trigger = Linux.VFIO_IRQ_SET_ACTION_TRIGGER();
    if (flags == (Linux.VFIO_IRQ_SET_DATA_EVENTFD() | trigger)) {
      require(count > 0 && size >= header + count * 4L, name + ": too few descriptors");
      require(card.enabledKind < 0, name + ": interrupts are enabled");
      if (count > card.vectorsLeft) {
        return card.vectorsLeft;
      }
      int[] eventfds = new int[count];
      for (int i = 0; i < count; i++) {
        eventfds[i] = set.get(ValueLayout.JAVA_INT_UNALIGNED, header + i * 4L);
        require(file(eventfds[i], name).kind == Kind.EVENT, name + ": no eventfd");
      }
      card.enabledKind = kind;
      card.eventfds = eventfds;
      return 0;
    }
    require(card.enabledKind == kind, name + ": interrupts of that kind are not enabled");
    if (flags == (Linux.VFIO_IRQ_SET_DATA_NONE() | trigger)) {
      if (count == 0) {
        card.enabledKind = -1;
        card.eventfds = new int[0];
      }
      for (int i = 0; i < count; i++) {
        raise(i);
      }
      return 0;
    }
    require(
        flags == (Linux.VFIO_IRQ_SET_DATA_NONE() | Linux.VFIO_IRQ_SET_ACTION_UNMASK())
            && kind == Linux.VFIO_PCI_INTX_IRQ_INDEX()
            && count == 1,
        name + ": flags " + flags);
    return 0;
  }

  private int hotResetInfo(String name, MemorySegment info, int size) {
    if (!card.hasBusReset) {
      throw Errno.refused(name, Linux.ENODEV());
    }
    long header = vfio_pci_hot_reset_info.layout().byteSize();
    long each = vfio_pci_dependent_device.layout().byteSize();
    vfio_pci_hot_reset_info.count(info, card.neighbours.size());
    if (size < header + card.neighbours.size() * each) {
      throw Errno.refused(name, Linux.ENOSPC());
    }
    boolean owned = card.neighbours.stream().noneMatch(one -> one.device() == NOT_OWNED);
    vfio_pci_hot_reset_info.flags(info, bound ? BY_DEVICE | (owned ? ALL_OWNED : 0) : 0);
    for (int i = 0; i < card.neighbours.size(); i++) {
      CardStandIn.Neighbour one = card.neighbours.get(i);
      MemorySegment at = info.asSlice(header + i * each, each);
      vfio_pci_dependent_device.group_id(at, bound ? one.device() : one.group());
      vfio_pci_dependent_device.segment(at, (short) 0);
      vfio_pci_dependent_device.bus(at, (byte) one.bus());
      vfio_pci_dependent_device.devfn(at, (byte) one.place());
    }
    return 0;
  }

  private int hotReset(String name, MemorySegment reset, int size) {
    int count = vfio_pci_hot_reset.count(reset);
    long header = vfio_pci_hot_reset.layout().byteSize();
    require(vfio_pci_hot_reset.flags(reset) == 0, name + ": flags");
    if (bound) {
      // No groups: the kernel looks at who has bound the devices.
      require(count == 0, name + " with groups, of a device of iommufd");
      require(
          card.neighbours.stream().noneMatch(one -> one.device() == NOT_OWNED),
          name + " of devices that are not the caller's");
    } else {
      require(count == 1 && size == header + 4, name + ": the group is missing");
      require(
          file(reset.get(ValueLayout.JAVA_INT_UNALIGNED, header), name).kind == Kind.GROUP,
          name + ": no group");
      require(
          card.neighbours.stream().allMatch(one -> one.group() == CardStandIn.GROUP),
          name + " of groups that are not the caller's");
    }
    card.busResets++;
    return 0;
  }

  @Override
  public synchronized MemorySegment mmap(
      long bytes, int protection, int flags, int fd, long offset) {
    String call = "mmap(%d bytes)".formatted(bytes);
    require(
        protection == (Linux.PROT_READ() | Linux.PROT_WRITE()) && bytes > 0 && bytes % 4096 == 0,
        call + ": protection, or not of whole pages");
    if (fd >= 0) {
      require(file(fd, call).kind == Kind.DEVICE, call + ": no device");
      requireGranted(call);
      enter(call);
      return mapBar(call, bytes, flags, offset);
    }
    enter(call);
    int anonymous = Linux.MAP_PRIVATE() | Linux.MAP_ANONYMOUS();
    require((flags & anonymous) == anonymous, call + ": flags");
    // An IOMMU's smallest page is never larger than the kernel's.
    long page = iommu.pageBytes;
    if ((flags & Linux.MAP_HUGETLB()) != 0) {
      page = 1L << (flags >>> Linux.MAP_HUGE_SHIFT() & 0x3f);
      require(bytes % page == 0, call + ": not of whole huge pages");
    }
    Arena arena = Arena.ofShared();
    return mapped(arena.allocate(bytes, page), new Mapping(bytes, arena, false));
  }

  private MemorySegment mapped(MemorySegment memory, Mapping mapping) {
    require(mappings.put(memory.address(), mapping) == null, "mapped twice");
    return at(memory.address(), memory.byteSize());
  }

  private MemorySegment mapBar(String call, long bytes, int flags, long offset) {
    CardStandIn.Bar bar = card.bar((int) (offset >> REGION_SHIFT));
    long at = offset & (1L << REGION_SHIFT) - 1;
    require(bar != null && flags == Linux.MAP_SHARED() && at % 4096 == 0, call + ": region");
    List<Region.Area> areas =
        bar.mapped() == null ? List.of(new Region.Area(0, bar.memory().byteSize())) : bar.mapped();
    require(
        areas.stream()
            .anyMatch(area -> at >= area.offset() && at + bytes <= area.offset() + area.size()),
        call + ": of a hole");
    return mapped(bar.memory().asSlice(at, bytes), new Mapping(bytes, null, true));
  }

  @Override
  public synchronized void munmap(MemorySegment mapping) {
    Mapping gone = mappings.remove(mapping.address());
    require(gone != null && gone.bytes() == mapping.byteSize(), "munmap of what is not mapped");
    if (gone.arena() != null) {
      gone.arena().close();
    }
    release();
  }

  private MemorySegment bytes(int fd, String call, MemorySegment buffer, long offset) {
    require(file(fd, call).kind == Kind.DEVICE, call + ": no device");
    requireGranted(call);
    MemorySegment bytes = card.bytes((int) (offset >> REGION_SHIFT));
    long at = offset & (1L << REGION_SHIFT) - 1;
    long count = buffer.byteSize();
    require(
        (count & (count - 1)) == 0
            && count <= 8
            && at % count == 0
            && at + count <= bytes.byteSize(),
        call + ": not one access");
    return bytes;
  }

  @Override
  public synchronized void pread(int fd, MemorySegment buffer, long offset) {
    String call = "pread(%d bytes at 0x%x)".formatted(buffer.byteSize(), offset);
    MemorySegment bytes = bytes(fd, call, buffer, offset);
    enter(call);
    long at = offset & (1L << REGION_SHIFT) - 1;
    MemorySegment.copy(bytes, at, buffer, 0, buffer.byteSize());
  }

  @Override
  public synchronized void pwrite(int fd, MemorySegment buffer, long offset) {
    String call = "pwrite(%d bytes at 0x%x)".formatted(buffer.byteSize(), offset);
    MemorySegment bytes = bytes(fd, call, buffer, offset);
    enter(call);
    long at = offset & (1L << REGION_SHIFT) - 1;
    MemorySegment.copy(buffer, 0, bytes, at, buffer.byteSize());
  }

  @Override
  public synchronized int eventfd() {
    enter("eventfd()");
    return opened(Kind.EVENT);
  }

  private OpenFile event(int fd, String call) {
    OpenFile file = file(fd, call);
    require(file.kind == Kind.EVENT, call + ": no eventfd");
    return file;
  }

  @Override
  public synchronized long readEvent(int fd) {
    OpenFile file = event(fd, "read");
    enter("read(eventfd %d)".formatted(fd));
    long events = file.events;
    file.events = 0;
    return events;
  }

  @Override
  public synchronized void signalEvent(int fd) {
    event(fd, "write").events++;
    notifyAll();
  }

  @Override
  public synchronized boolean awaitEvent(int fd, long timeoutNanos) {
    OpenFile file = event(fd, "poll");
    enter("poll(eventfd %d)".formatted(fd));
    long end = System.nanoTime() + timeoutNanos;
    file.waiting++;
    try {
      while (file.events == 0) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        wait(left / 1_000_000, (int) (left % 1_000_000));
      }
      return true;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      file.waiting--;
    }
  }
}
