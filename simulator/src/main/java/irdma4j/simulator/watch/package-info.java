/** What becomes of the events of a simulated function: watchers and Java Flight Recorder. */
@NullMarked
package irdma4j.simulator.watch;

import org.jspecify.annotations.NullMarked;
