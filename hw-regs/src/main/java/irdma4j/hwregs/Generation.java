package irdma4j.hwregs;

/**
 * What a generation of the card can do. There is one row: the second generation, E810.
 *
 * <p>Source: Linux icrdma_init_hw in icrdma_hw.c, irdma_sc_dev_init in ctrl.c, irdma.h.
 *
 * @param name the family's name
 * @param revision number of the generation
 * @param maxFragments most fragments of a WQE that gathers or scatters
 * @param maxReadFragments most fragments of a READ
 * @param maxInline most bytes of inline data
 * @param maxQuanta quanta of the largest send or receive ring
 * @param quantaPerWqe quanta of the largest WQE, whose multiple no WQE crosses
 * @param maxCqEntries entries of the largest completion queue
 * @param maxCeqEntries entries of the largest completion event queue
 * @param maxAeqEntries entries of the largest asynchronous event queue
 * @param maxMessage bytes of the longest message
 * @param maxRegion bytes of the largest memory region
 * @param pageSizes page sizes of regions, each a bit
 * @param maxReadsIn most READs of a peer that a queue pair works on
 * @param maxReadsOut most READs of its own that a queue pair has outstanding
 * @param maxWorkRequests most work requests in a send queue
 * @param maxProtectionDomains protection domains
 * @param maxVirtualFunctions virtual functions
 * @param firstVfFunction HMC function of the first virtual function
 * @param lastVfFunction HMC function of the last one
 * @param pushPages push pages
 * @param statisticsInstances statistics instances
 */
public record Generation(
    String name,
    int revision,
    int maxFragments,
    int maxReadFragments,
    int maxInline,
    int maxQuanta,
    int quantaPerWqe,
    int maxCqEntries,
    int maxCeqEntries,
    int maxAeqEntries,
    long maxMessage,
    long maxRegion,
    long pageSizes,
    int maxReadsIn,
    int maxReadsOut,
    int maxWorkRequests,
    int maxProtectionDomains,
    int maxVirtualFunctions,
    int firstVfFunction,
    int lastVfFunction,
    int pushPages,
    int statisticsInstances) {

  /** E810. */
  public static final Generation GEN_2 =
      new Generation(
          "E810",
          2,
          13,
          13,
          101,
          32768,
          8,
          0xfffff,
          0x3ffff,
          0x7ffff,
          0x7fff_ffffL,
          1L << 45,
          1L << 12 | 1L << 21 | 1L << 30,
          127,
          255,
          4063,
          1 << 18,
          32,
          8,
          47,
          1024,
          128);
}
