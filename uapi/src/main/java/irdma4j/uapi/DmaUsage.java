package irdma4j.uapi;

/**
 * A count of the DMA memory of one function.
 *
 * @param currentBytes allocated now
 * @param peakBytes the most that was ever allocated at once
 * @param currentAllocations how many {@link DmaMemory} are open
 */
public record DmaUsage(long currentBytes, long peakBytes, int currentAllocations) {}
