/** Physical buffer list entries: chunks, free space and levels. */
@NullMarked
package irdma4j.pble;

import org.jspecify.annotations.NullMarked;
