package irdma4j.hmc;

import irdma4j.hwregs.HmcObject;

/**
 * What there is of a kind of object.
 *
 * @param kind the kind
 * @param base FPM address of the first object
 * @param end first FPM address beyond the last
 * @param count objects that there can be
 * @param existing objects that exist
 * @param extentPages pages of 4 KiB that extents back in it; only PBLEs have them
 */
public record ObjectUse(
    HmcObject kind, long base, long end, long count, int existing, int extentPages) {}
