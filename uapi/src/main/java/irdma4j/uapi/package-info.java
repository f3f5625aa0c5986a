/** What the operating system gives a user-space driver. */
@NullMarked
package irdma4j.uapi;

import org.jspecify.annotations.NullMarked;
