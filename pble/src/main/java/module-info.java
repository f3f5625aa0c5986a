/** Physical buffer list entries: chunks, free space and levels. */
module irdma4j.pble {
  requires static transitive org.jspecify;
  requires transitive irdma4j.hmc;

  exports irdma4j.pble;
}
