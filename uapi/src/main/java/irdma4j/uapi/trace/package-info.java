/** What passed between a driver and a device, as a file: recording it, and reading it back. */
@NullMarked
package irdma4j.uapi.trace;

import org.jspecify.annotations.NullMarked;
