package irdma4j.simulator;

import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.device.QpAttributes;
import irdma4j.simulator.device.QueueEngine;
import java.lang.foreign.MemorySegment;

/** A queue engine that takes no part in anything. */
final class NoQueues implements QueueEngine {
  NoQueues(DeviceServices services) {}

  @Override
  public void contextWritten(int qpId, MemorySegment context, QpAttributes attributes) {}

  @Override
  public void stateChanged(int qpId, int state) {}

  @Override
  public void storeContext(int qpId, MemorySegment context) {}

  @Override
  public void flush(
      int qpId, boolean sq, int sqMajor, int sqMinor, boolean rq, int rqMajor, int rqMinor) {}

  @Override
  public void destroyed(int qpId) {}

  @Override
  public void doorbell(int qpId) {}

  @Override
  public void receive(MemorySegment frame, int bytes) {}

  @Override
  public boolean run() {
    return false;
  }

  @Override
  public void timer(long now) {}

  @Override
  public void reset() {}
}
