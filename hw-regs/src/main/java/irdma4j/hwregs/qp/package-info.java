/** The contexts of queue pairs, which the driver writes and the device reads. */
@org.jspecify.annotations.NullMarked
package irdma4j.hwregs.qp;
