package irdma4j.hmc;

import irdma4j.hwregs.HmcObject;

/**
 * What lies at an FPM address.
 *
 * @param kind the kind of object
 * @param index which one
 * @param segment the segment
 * @param page the 4 KiB page in the segment
 * @param iova where the device finds the byte, or 0 if it is not backed
 */
public record FpmLocation(HmcObject kind, long index, int segment, int page, long iova) {}
