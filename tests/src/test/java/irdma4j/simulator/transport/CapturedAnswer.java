package irdma4j.simulator.transport;

import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

/**
 * What a responder answered: everything of the packet but its addresses. Without an AETH, the
 * syndrome and the MSN are {@link #NONE}.
 */
record CapturedAnswer(
    int opcode, int psn, int destinationQp, int syndrome, int msn, String payload) {
  static final int NONE = -1;

  static CapturedAnswer of(RoceFrame f, MemorySegment memory) {
    boolean aeth = BthOpcode.hasAeth(f.opcode);
    byte[] payload =
        memory.asSlice(f.payloadOffset, f.payloadLength).toArray(ValueLayout.JAVA_BYTE);
    return new CapturedAnswer(
        f.opcode,
        f.psn,
        f.destinationQp,
        aeth ? f.syndrome : NONE,
        aeth ? f.msn : NONE,
        HexFormat.of().formatHex(payload));
  }

  CapturedAnswer withOpcode(int other) {
    return new CapturedAnswer(other, psn, destinationQp, syndrome, msn, payload);
  }

  CapturedAnswer withPsn(int other) {
    return new CapturedAnswer(opcode, other, destinationQp, syndrome, msn, payload);
  }

  CapturedAnswer withSyndrome(int other) {
    return new CapturedAnswer(opcode, psn, destinationQp, other, msn, payload);
  }

  CapturedAnswer withMsn(int other) {
    return new CapturedAnswer(opcode, psn, destinationQp, syndrome, other, payload);
  }

  @Override
  public String toString() {
    return "%s psn %d to %d syndrome %x msn %d data %d:%08x"
        .formatted(
            BthOpcode.name(opcode),
            psn,
            destinationQp,
            syndrome,
            msn,
            payload.length() / 2,
            payload.hashCode());
  }
}
