/** What the silicon fixes: registers, bit fields, layouts, opcodes and codes. */
@NullMarked
package irdma4j.hwregs;

import org.jspecify.annotations.NullMarked;
