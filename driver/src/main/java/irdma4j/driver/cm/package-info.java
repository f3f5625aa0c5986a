/** Connection management over QP 1: listeners, connections, look-up of datagram peers. */
@NullMarked
package irdma4j.driver.cm;

import org.jspecify.annotations.NullMarked;
