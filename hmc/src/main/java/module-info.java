/** The Host Memory Cache: sizes, address space, segments and their backing pages. */
module irdma4j.hmc {
  requires static transitive org.jspecify;
  requires transitive irdma4j.uapi;
  requires transitive irdma4j.hwregs;

  exports irdma4j.hmc;
}
