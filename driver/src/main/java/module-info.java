/** The driver: bring-up, control queue pair, event queues and verbs objects. */
module irdma4j.driver {
  requires static org.jspecify;
  requires transitive irdma4j.uapi;
  requires irdma4j.hwregs;
  requires irdma4j.hmc;
  requires irdma4j.pble;
}
