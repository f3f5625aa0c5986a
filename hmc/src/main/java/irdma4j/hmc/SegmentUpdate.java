package irdma4j.hmc;

import irdma4j.hwregs.SegmentDescriptor;

/**
 * One entry of the segment descriptor table, to be written or cleared.
 *
 * @param index the segment
 * @param type how it is backed
 * @param address IOVA of the block or of the page of page descriptors; ignored when cleared
 * @param valid write the entry, or clear it
 */
public record SegmentUpdate(int index, SegmentType type, long address, boolean valid) {
  private static final int PAGES = 512;

  /** The command word of UPDATE_PE_SDS. */
  public int command() {
    return (int)
        (SegmentDescriptor.PMSDIDX.encode(index)
            | SegmentDescriptor.PMSDPARTSEL.encode(1)
            | SegmentDescriptor.PMSDWR.encode(1));
  }

  /** The data word of UPDATE_PE_SDS. */
  public long data() {
    long data =
        SegmentDescriptor.PMSDBPCOUNT.encode(PAGES)
            | SegmentDescriptor.PMSDTYPE.encode(type == SegmentType.DIRECT);
    return valid ? data | address | SegmentDescriptor.PMSDVALID.encode(1) : data;
  }
}
