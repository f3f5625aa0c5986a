/** Rings that driver and device share: who writes what, in which order. */
@NullMarked
package irdma4j.driver.ring;

import org.jspecify.annotations.NullMarked;
