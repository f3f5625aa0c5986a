/** What the operating system gives a user-space driver. */
module irdma4j.uapi {
  requires static transitive org.jspecify;

  exports irdma4j.uapi;
  exports irdma4j.uapi.trace;
  exports irdma4j.uapi.vfio;
}
