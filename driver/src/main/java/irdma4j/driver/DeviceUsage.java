package irdma4j.driver;

import irdma4j.hwregs.HmcObject;
import irdma4j.pble.PbleUsage;
import java.util.Map;

/**
 * What a device has in use and has done.
 *
 * @param sendRequests work requests posted to send queues
 * @param receiveRequests work requests posted to receive queues
 * @param doorbellsRung send doorbells rung
 * @param doorbellsSkipped send doorbells that were not needed
 * @param completions completions polled
 * @param interrupts interrupts handled
 * @param overdueEvents completion events that the device did not raise, found by a look at queues
 *     that had completions
 * @param asyncEventLosses asynchronous events with {@link AsyncEvent#isOverflow}
 * @param controlOperations control operations done
 * @param hmcSegments backed segments of 2 MiB
 * @param hmcObjects objects of each kind in the HMC
 * @param pbles the PBLE pool
 */
public record DeviceUsage(
    long sendRequests,
    long receiveRequests,
    long doorbellsRung,
    long doorbellsSkipped,
    long completions,
    long interrupts,
    long overdueEvents,
    long asyncEventLosses,
    long controlOperations,
    int hmcSegments,
    Map<HmcObject, Integer> hmcObjects,
    PbleUsage pbles) {}
