/** The device's side of the layouts: a register-level simulator. */
@NullMarked
package irdma4j.simulator;

import org.jspecify.annotations.NullMarked;
