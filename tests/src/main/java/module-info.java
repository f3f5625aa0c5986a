/** The test kit. */
module irdma4j.tests {
  requires static org.jspecify;
  requires transitive irdma4j.uapi;
}
