/** The driver: bring-up, control queue pair, event queues and verbs objects. */
module irdma4j.driver {
  requires static transitive org.jspecify;
  requires transitive irdma4j.uapi;
  requires transitive irdma4j.pble;

  exports irdma4j.driver;
  exports irdma4j.driver.cm;
  exports irdma4j.driver.ring;
}
