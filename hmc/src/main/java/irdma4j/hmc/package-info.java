/** The Host Memory Cache: sizes, address space, segments and their backing pages. */
@NullMarked
package irdma4j.hmc;

import org.jspecify.annotations.NullMarked;
