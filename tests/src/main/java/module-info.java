/** The test kit. */
module irdma4j.tests {
  requires static transitive org.jspecify;
  requires transitive irdma4j.uapi;

  exports irdma4j.tests;
}
