/**
 * Reads the reference vectors, which the real irdma code printed, and keeps account of every case.
 */
@org.jspecify.annotations.NullMarked
package irdma4j.vectors;
