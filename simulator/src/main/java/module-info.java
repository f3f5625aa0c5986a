/** The device's side of the layouts: a register-level simulator. */
module irdma4j.simulator {
  requires static transitive org.jspecify;
  requires transitive irdma4j.uapi;
  requires transitive irdma4j.hwregs;
  requires jdk.jfr;

  exports irdma4j.simulator;
}
