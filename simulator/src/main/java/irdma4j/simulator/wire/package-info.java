/** Frames on the wire: the RoCEv2 codec and the link that joins ports. */
@NullMarked
package irdma4j.simulator.wire;

import org.jspecify.annotations.NullMarked;
