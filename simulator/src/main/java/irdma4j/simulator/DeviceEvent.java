package irdma4j.simulator;

import java.lang.foreign.MemorySegment;

/**
 * Something that a simulated function saw or did. Bytes are copies, little-endian as in memory, and
 * cannot be written. Addresses are IOVAs unless said otherwise.
 */
public sealed interface DeviceEvent {
  /** What an event is about, for filters. */
  enum Kind {
    /** Register accesses. */
    REGISTER,
    /** Operations of the control queue pair that are done. */
    CONTROL,
    /** WQEs fetched. */
    WQE,
    /** Translations of addresses. */
    TRANSLATION,
    /** Accesses to host memory, refused ones included. */
    DMA,
    /** Frames sent and received. */
    FRAME,
    /** Completions written. */
    COMPLETION,
    /** Entries of event queues, and interrupts. */
    EVENT
  }

  /** A ring that WQEs come from. */
  enum Ring {
    /** The control queue pair's. */
    CONTROL,
    /** A send queue. */
    SEND,
    /** A receive queue. */
    RECEIVE
  }

  /** What the event is about. */
  default Kind kind() {
    return switch (this) {
      case RegisterRead _, RegisterWrite _ -> Kind.REGISTER;
      case ControlDone _ -> Kind.CONTROL;
      case WqeFetched _ -> Kind.WQE;
      case RegionTranslated _, ObjectTranslated _ -> Kind.TRANSLATION;
      case HostRead _, HostWrite _, HostRefused _ -> Kind.DMA;
      case FrameSent _, FrameReceived _ -> Kind.FRAME;
      case CompletionWritten _ -> Kind.COMPLETION;
      case CompletionEvent _, AsyncEvent _, Interrupt _ -> Kind.EVENT;
    };
  }

  /**
   * The driver read a register.
   *
   * @param offset in BAR 0
   * @param value the answer
   */
  record RegisterRead(int offset, int value) implements DeviceEvent {}

  /**
   * A write to a register has reached the device.
   *
   * @param offset in BAR 0
   * @param value what was written
   */
  record RegisterWrite(int offset, int value) implements DeviceEvent {}

  /**
   * An operation of the control queue pair is done.
   *
   * @param index slot of the ring
   * @param opcode of the WQE
   * @param major error code, 0 if it succeeded
   * @param minor error code, 0 if it succeeded
   * @param value what it returns
   */
  record ControlDone(int index, int opcode, int major, int minor, int value)
      implements DeviceEvent {}

  /**
   * A WQE was fetched.
   *
   * @param ring where from
   * @param queuePair its number; 0 for the control queue pair
   * @param index of its first quantum in the ring; of a control WQE its slot
   * @param pushed whether it came through a push page and not from memory
   * @param bytes its quanta
   */
  record WqeFetched(Ring ring, int queuePair, int index, boolean pushed, MemorySegment bytes)
      implements DeviceEvent {}

  /**
   * An address in a memory region was translated, for one page or less.
   *
   * @param stag that the access named
   * @param address in the region or window, as the access named it
   * @param bytes how many from there on
   * @param iova where they are, or -1 if there is no memory behind the address
   */
  record RegionTranslated(int stag, long address, long bytes, long iova) implements DeviceEvent {}

  /**
   * An address in the Host Memory Cache was translated.
   *
   * @param address in the FPM address space
   * @param iova where it is, or -1 if there is no memory behind it
   */
  record ObjectTranslated(long address, long iova) implements DeviceEvent {}

  /**
   * Host memory was read.
   *
   * @param iova of the first byte
   * @param bytes how many
   */
  record HostRead(long iova, long bytes) implements DeviceEvent {}

  /**
   * Host memory was written.
   *
   * @param iova of the first byte
   * @param bytes how many
   */
  record HostWrite(long iova, long bytes) implements DeviceEvent {}

  /**
   * The IOMMU refused an access.
   *
   * @param iova of the first byte refused
   * @param write whether it was a write
   */
  record HostRefused(long iova, boolean write) implements DeviceEvent {}

  /**
   * A frame goes to the wire, which may lose it.
   *
   * @param bytes without FCS; without a right ICRC if nothing outside the simulation sees the wire
   */
  record FrameSent(MemorySegment bytes) implements DeviceEvent {}

  /**
   * A frame has arrived.
   *
   * @param bytes without FCS
   */
  record FrameReceived(MemorySegment bytes) implements DeviceEvent {}

  /**
   * A completion was written.
   *
   * @param queue the completion queue; 0 is the control queue pair's
   * @param iova of its entry
   * @param bytes the entry, and behind it the extended entry if there is one
   */
  record CompletionWritten(int queue, long iova, MemorySegment bytes) implements DeviceEvent {}

  /**
   * An entry of a completion event queue was written.
   *
   * @param eventQueue which
   * @param queue the completion queue that it names
   */
  record CompletionEvent(int eventQueue, int queue) implements DeviceEvent {}

  /**
   * An asynchronous event was raised.
   *
   * @param id queue pair or completion queue, as the source says
   * @param code what happened
   * @param source which part of the device says so
   * @param wqeIndex the WQE that caused it, or 0
   * @param context of the queue pair or completion queue
   * @param written whether there was room for it in the asynchronous event queue
   */
  record AsyncEvent(int id, int code, int source, int wqeIndex, long context, boolean written)
      implements DeviceEvent {}

  /**
   * An MSI-X message was sent.
   *
   * @param vector of the function
   */
  record Interrupt(int vector) implements DeviceEvent {}
}
