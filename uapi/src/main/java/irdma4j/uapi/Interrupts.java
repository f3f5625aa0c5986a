package irdma4j.uapi;

/** The MSI-X vectors of a function. */
public interface Interrupts {
  /** How many vectors the function has. */
  int count();

  /**
   * Enables vectors 0 to {@code vectors} - 1.
   *
   * @throws IllegalArgumentException if the function has fewer
   */
  void enable(int vectors);

  /** Disables all vectors; pending interrupts are forgotten. */
  void disable();

  /**
   * Takes the pending interrupt of a vector, if there is one. Several interrupts that arrived since
   * the last call count as one.
   *
   * @param vector an enabled vector
   * @return whether it had fired
   */
  boolean poll(int vector);

  /**
   * Waits for a vector to fire and takes the interrupt.
   *
   * @param vector an enabled vector
   * @param timeoutNanos how long to wait in the device's time; 0 only looks
   * @return whether it fired
   */
  boolean await(int vector, long timeoutNanos);

  /** How often a vector has fired since it was enabled. */
  long fired(int vector);
}
