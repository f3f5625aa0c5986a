/** What the silicon fixes: registers, bit fields, layouts, opcodes and codes. */
module irdma4j.hwregs {
  requires static transitive org.jspecify;

  exports irdma4j.hwregs;
  exports irdma4j.hwregs.cqp;
  exports irdma4j.hwregs.qp;
}
