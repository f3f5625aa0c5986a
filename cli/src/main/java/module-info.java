/** The irdma command. */
module irdma4j.cli {
  requires static transitive org.jspecify;
  requires info.picocli;
  requires irdma4j.driver;
  requires irdma4j.simulator;
  requires irdma4j.hmc;
  requires irdma4j.hwregs;

  opens irdma4j.cli to
      info.picocli;
}
