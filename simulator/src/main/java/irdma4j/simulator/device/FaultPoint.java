package irdma4j.simulator.device;

import irdma4j.simulator.Fault;
import irdma4j.simulator.Occasion;
import org.jspecify.annotations.Nullable;

/** Where a part of the device asks whether something goes wrong on purpose. */
@FunctionalInterface
interface FaultPoint {
  /** The fault that strikes here and now, or null. */
  @Nullable Fault at(Occasion occasion);
}
