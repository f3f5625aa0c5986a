package irdma4j.simulator;

/**
 * The counts of a simulated function at one moment. Taken while the engine runs, they may be a
 * little old and not all of the same instant.
 *
 * @param framesSent frames put on the wire
 * @param framesReceived frames taken from the wire
 * @param bytesSent bytes put on the wire, without preamble and FCS
 * @param bytesReceived bytes taken from the wire
 * @param retransmissions request packets sent again
 * @param acksSent ACK packets sent
 * @param naksSent NAK packets sent
 * @param timeouts times that a retransmission timer ran out
 * @param framesDiscarded frames thrown away on receipt
 * @param sendWqes send WQEs fetched
 * @param pushedWqes those of them that came through push pages
 * @param receiveWqes receive WQEs consumed
 * @param doorbells doorbells of send queues that arrived
 * @param completions CQEs written
 * @param completionEvents CEQEs written
 * @param asyncEvents AEQEs written
 * @param interrupts MSI-X messages sent
 * @param controlOperations operations of the control queue pair
 * @param dmaFaults accesses that the IOMMU refused
 * @param pageDescriptorHits page descriptors of the HMC that the device had at hand
 * @param pageDescriptorMisses page descriptors fetched from host memory
 * @param hmcFaults HMC addresses with nothing behind them
 * @param pblesRead PBLEs fetched from host memory
 * @param translationHits page translations that needed no PBLE
 */
public record FunctionStatistics(
    long framesSent,
    long framesReceived,
    long bytesSent,
    long bytesReceived,
    long retransmissions,
    long acksSent,
    long naksSent,
    long timeouts,
    long framesDiscarded,
    long sendWqes,
    long pushedWqes,
    long receiveWqes,
    long doorbells,
    long completions,
    long completionEvents,
    long asyncEvents,
    long interrupts,
    long controlOperations,
    long dmaFaults,
    long pageDescriptorHits,
    long pageDescriptorMisses,
    long hmcFaults,
    long pblesRead,
    long translationHits) {}
