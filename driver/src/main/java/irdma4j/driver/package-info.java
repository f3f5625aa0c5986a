/** The driver: bring-up, control queue pair, event queues and verbs objects. */
@NullMarked
package irdma4j.driver;

import org.jspecify.annotations.NullMarked;
