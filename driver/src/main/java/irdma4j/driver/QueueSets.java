package irdma4j.driver;

/**
 * Who schedules the port's traffic as a whole, and must be told of RDMA's queue sets: on an E810
 * the LAN function's scheduler. Called by the thread that connects or closes a queue pair.
 */
public interface QueueSets {
  /**
   * A queue set may now send.
   *
   * @param vsi virtual station interface
   * @param trafficClass traffic class, 0 to 7
   * @param handle the device's number of the queue set
   * @throws RuntimeException if it can't be scheduled; the queue set is taken away again
   */
  void register(int vsi, int trafficClass, int handle);

  /** A queue set will be gone. */
  void unregister(int vsi, int trafficClass, int handle);

  /** Nobody needs to be told. */
  static QueueSets none() {
    return new QueueSets() {
      @Override
      public void register(int vsi, int trafficClass, int handle) {}

      @Override
      public void unregister(int vsi, int trafficClass, int handle) {}
    };
  }
}
