/** The test kit. */
module irdma4j.tests {
  requires static transitive org.jspecify;
  requires transitive irdma4j.uapi;
  requires transitive irdma4j.hmc;
  requires transitive irdma4j.pble;
  requires irdma4j.simulator;
  requires static transitive net.jqwik.api;

  exports irdma4j.tests;
}
