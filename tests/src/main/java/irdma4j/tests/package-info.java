/** The test kit. */
@NullMarked
package irdma4j.tests;

import org.jspecify.annotations.NullMarked;
