package irdma4j.hwregs;

/**
 * One word of the answer to QUERY_RDMA_FEATURES; the first word also holds how many follow.
 *
 * <p>Source: Linux irdma_get_rdma_features in ctrl.c.
 */
public final class RdmaFeature {
  /** Its size in bytes. */
  public static final int SIZE = 8;

  /** Value of the feature. */
  public static final Field FEATURE_INFO =
      Field.bits("FEATURE_INFO", 0, 47, 0, "Value of the feature");

  /** Number of words, this one included. */
  public static final Field FEATURE_CNT =
      Field.bits("FEATURE_CNT", 0, 47, 32, "Number of words, this one included").when("first word");

  /**
   * Kind of the feature: 0 firmware version, 1 hardware version, 2 queue set, 3 supported features.
   */
  public static final Field FEATURE_TYPE =
      Field.bits(
          "FEATURE_TYPE",
          0,
          63,
          48,
          "Kind of the feature: 0 firmware version, 1 hardware version, 2 queue set, 3 supported features");

  /** A feature word. */
  public static final Layout LAYOUT =
      Layout.of("rdma-feature", SIZE, "A feature word", FEATURE_INFO, FEATURE_TYPE);

  private RdmaFeature() {}
}
