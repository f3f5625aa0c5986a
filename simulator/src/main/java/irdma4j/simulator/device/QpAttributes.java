package irdma4j.simulator.device;

/**
 * What CREATE_QP or MODIFY_QP says beside the context.
 *
 * @param qpType 1 iWARP, 2 UDA, 3 RoCE RC, 4 RoCE UD
 * @param virtualQueues whether the context's SQ and RQ addresses are PBLE indices
 * @param shadowArea IOVA of the queue pair's shadow area
 * @param nextState the state to enter (0 means that the WQE names none)
 */
public record QpAttributes(int qpType, boolean virtualQueues, long shadowArea, int nextState) {}
