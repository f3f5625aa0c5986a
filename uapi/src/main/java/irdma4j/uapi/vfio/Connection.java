package irdma4j.uapi.vfio;

import java.lang.foreign.MemorySegment;
import java.util.List;

/** A device that VFIO has given us, and the IOMMU in front of it. Not thread-safe. */
interface Connection extends AutoCloseable {
  /** The device. */
  DeviceFile device();

  /** Descriptor of the device's group, or -1 without one. */
  int group();

  /** IOVAs that may be mapped. */
  List<IovaRange> ranges();

  /**
   * Mappings that the IOMMU still has room for; {@link Long#MAX_VALUE} if the kernel does not say.
   */
  long mappingsLeft();

  /** Bytes of the smallest page that the IOMMU maps; a power of two. */
  long pageBytes();

  /** Lets the device reach memory at IOVAs. */
  void map(MemorySegment memory, long iova);

  /** Takes it away from the device. */
  void unmap(long iova, long bytes);

  /** Gives the device back to the kernel, which resets it and keeps it quiet. */
  @Override
  void close();
}
