/** Queue pairs and the RoCEv2 transport: what happens between a WQE, the wire and a CQE. */
@NullMarked
package irdma4j.simulator.transport;

import org.jspecify.annotations.NullMarked;
