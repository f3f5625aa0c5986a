package irdma4j.hmc;

/** How the card's HMC is shared among its functions; the code goes into the control context. */
public enum HmcProfile {
  /** The physical function gets most. */
  DEFAULT(1),
  /** Virtual functions get most. */
  FAVOR_VF(2),
  /** Each function gets the same. */
  EQUAL(3);

  private final int code;

  HmcProfile(int code) {
    this.code = code;
  }

  /** The value of the HMC_PROFILE field. */
  public int code() {
    return code;
  }
}
