/** The device behind the registers: what firmware and silicon do with what the driver wrote. */
@NullMarked
package irdma4j.simulator.device;

import org.jspecify.annotations.NullMarked;
