package irdma4j.pble;

/**
 * A count of a pool's PBLEs. Always {@code backed} = {@code free} + what live allocations take,
 * rounded up to whole units of eight.
 *
 * @param backed PBLEs that have memory behind them
 * @param free of these, the free ones
 * @param unbacked PBLEs that the pool may still grow by
 * @param chunks number of chunks
 * @param level1 allocations of level 1 in use
 * @param level2 allocations of level 2 in use
 * @param granted requests that were met so far
 * @param refused requests that could not be met so far
 */
public record PbleUsage(
    long backed,
    long free,
    long unbacked,
    int chunks,
    int level1,
    int level2,
    long granted,
    long refused) {}
