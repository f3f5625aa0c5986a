package irdma4j.driver.ring;

/**
 * The end of a control operation.
 *
 * @param slot where its WQE stood
 * @param opcode the operation, as its WQE says
 * @param cookie what it was posted with
 * @param value what it returns
 * @param isError whether it failed
 * @param majorError the error's major code, or 0
 * @param minorError the minor code, which some operations also set on success
 * @param errorCodes the register of error codes after a failure, or 0
 */
public record ControlCompletion(
    int slot,
    int opcode,
    long cookie,
    long value,
    boolean isError,
    int majorError,
    int minorError,
    int errorCodes) {}
