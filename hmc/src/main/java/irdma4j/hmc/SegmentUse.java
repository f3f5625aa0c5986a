package irdma4j.hmc;

/**
 * A backed segment.
 *
 * @param index which one
 * @param type how it is backed
 * @param iova of the block, or of the page of page descriptors
 * @param pages backed pages of 4 KiB, 512 if it is direct
 * @param users objects and extents that lie at least partly in it
 */
public record SegmentUse(int index, SegmentType type, long iova, int pages, long users) {}
