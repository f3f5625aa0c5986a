/** The irdma command. */
@NullMarked
package irdma4j.cli;

import org.jspecify.annotations.NullMarked;
