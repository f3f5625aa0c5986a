/** The irdma command. */
// HdrHistogram has no module descriptor; its name comes from the name of its jar.
@SuppressWarnings("requires-automatic")
module irdma4j.cli {
  requires static transitive org.jspecify;
  requires HdrHistogram;
  requires info.picocli;
  requires irdma4j.driver;
  requires irdma4j.simulator;
  requires irdma4j.hmc;
  requires irdma4j.hwregs;
  requires jdk.jfr;

  opens irdma4j.cli to
      info.picocli;
}
