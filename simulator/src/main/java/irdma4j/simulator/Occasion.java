package irdma4j.simulator;

/** Something that a simulated device does or meets, at which a {@link Fault} can strike. */
public enum Occasion {
  /** As soon as the fault is injected. */
  NOW,
  /** The control queue pair is about to execute an operation. */
  CONTROL_OPERATION,
  /** The control queue pair's doorbell arrives. */
  CONTROL_DOORBELL,
  /** The doorbell of a queue pair's send queue arrives. */
  SEND_DOORBELL,
  /** A request for the next event of a completion queue arrives. */
  ARM_DOORBELL,
  /** PFHMC_PDINV is written: the device is to forget a page descriptor. */
  INVALIDATION,
  /** A page descriptor of the HMC is about to be read in host memory. */
  PAGE_DESCRIPTOR,
  /** A PBLE is about to be read in host memory. */
  PBLE,
  /** The header of a queue pair's send WQE is about to be read in host memory. */
  SEND_WQE,
  /** A completion of a queue pair is about to be written. */
  COMPLETION,
  /** An entry of a completion event queue is about to be written. */
  COMPLETION_EVENT,
  /** An entry of the asynchronous event queue is about to be written. */
  ASYNC_EVENT,
  /** An MSI-X message is about to be sent. */
  INTERRUPT,
  /** A frame is put on the wire. */
  FRAME_SENT,
  /** A frame arrives from the wire. */
  FRAME_RECEIVED
}
