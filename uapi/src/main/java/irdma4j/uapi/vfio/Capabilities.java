package irdma4j.uapi.vfio;

import irdma4j.uapi.linux.vfio_info_cap_header;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The chain of capabilities behind an info structure of VFIO. */
final class Capabilities {
  private static final int ID_MASK = 0xffff;

  private Capabilities() {}

  /**
   * A copy of a capability with what follows it.
   *
   * @param info the structure with its capabilities
   * @param first offset of the first one in it, or 0 if there is none
   * @return an empty segment if it is not there
   */
  static MemorySegment find(MemorySegment info, int first, int id) {
    long header = vfio_info_cap_header.layout().byteSize();
    int at = first;
    while (at != 0 && at <= info.byteSize() - header) {
      MemorySegment capability = info.asSlice(at);
      if ((vfio_info_cap_header.id(capability) & ID_MASK) == id) {
        // The kernel does not align capabilities to the 64-bit words in them.
        return Arena.ofAuto().allocate(capability.byteSize(), Long.BYTES).copyFrom(capability);
      }
      int next = vfio_info_cap_header.next(capability);
      // A chain that goes back would never end.
      at = next > at ? next : 0;
    }
    return MemorySegment.NULL;
  }
}
