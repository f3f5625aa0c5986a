package irdma4j.simulator.device;

import irdma4j.simulator.wire.Payload;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A queue engine that writes down what it is told. */
final class RecordingQueues implements QueueEngine {
  final List<String> calls = new ArrayList<>();

  @Override
  public void contextWritten(int qpId, MemorySegment context, QpAttributes attributes) {
    calls.add("context " + qpId + " type " + attributes.qpType());
  }

  @Override
  public void stateChanged(int qpId, int state) {
    calls.add("state " + qpId + " " + state);
  }

  @Override
  public void storeContext(int qpId, MemorySegment context) {
    calls.add("store " + qpId);
  }

  @Override
  public void flush(
      int qpId, boolean sq, int sqMajor, int sqMinor, boolean rq, int rqMajor, int rqMinor) {
    calls.add("flush " + qpId + " " + sq + " " + sqMinor + " " + rq + " " + rqMinor);
  }

  @Override
  public void destroyed(int qpId) {
    calls.add("destroyed " + qpId);
  }

  @Override
  public void doorbell(int qpId) {
    calls.add("doorbell " + qpId);
  }

  @Override
  public void receive(MemorySegment frame, int bytes, @Nullable Payload lent) {
    String packets = lent == null ? "" : " packets " + lent.first() + " and " + lent.packets();
    calls.add("receive " + bytes + packets);
  }

  @Override
  public boolean run() {
    return false;
  }

  @Override
  public void timer(long now) {
    calls.add("timer");
  }

  @Override
  public void reset() {
    calls.add("reset");
  }
}
