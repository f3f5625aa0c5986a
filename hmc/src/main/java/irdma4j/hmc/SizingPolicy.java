package irdma4j.hmc;

/** By which rule the numbers of objects are found. */
public enum SizingPolicy {
  /** The project's own: {@link HmcSizing#fit}. */
  FIT,
  /** The search of Linux's driver: {@link HmcSizing#linux}. */
  LINUX;

  /**
   * Finds the numbers.
   *
   * @param limits what the card offers
   * @param request what is wanted
   * @throws HmcException if nothing fits; says what stands in the way
   */
  public HmcPlan plan(FpmLimits limits, HmcRequest request) {
    return switch (this) {
      case FIT -> HmcSizing.fit(limits, request);
      case LINUX ->
          HmcSizing.linux(limits, request.queuePairs(), request.profile(), request.iwarpOnly());
    };
  }
}
