/** Operations of the control queue pair: one record each, with its WQE. */
@NullMarked
package irdma4j.hwregs.cqp;

import org.jspecify.annotations.NullMarked;
