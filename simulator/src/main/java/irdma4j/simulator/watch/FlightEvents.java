package irdma4j.simulator.watch;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.SqWqe;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.simulator.DeviceEvent;
import irdma4j.simulator.wire.FrameSummary;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import jdk.jfr.Unsigned;

/**
 * The events of Java Flight Recorder. All are off until a recording asks for them by name, such as
 * {@code irdma4j.RegisterWrite#enabled=true}.
 */
final class FlightEvents {
  static final RegisterRead REGISTER_READ = new RegisterRead();
  static final RegisterWrite REGISTER_WRITE = new RegisterWrite();
  static final ControlOperation CONTROL_OPERATION = new ControlOperation();
  static final WqeFetch WQE_FETCH = new WqeFetch();
  static final RegionTranslation REGION_TRANSLATION = new RegionTranslation();
  static final ObjectTranslation OBJECT_TRANSLATION = new ObjectTranslation();
  static final HostRead HOST_READ = new HostRead();
  static final HostWrite HOST_WRITE = new HostWrite();
  static final HostRefusal HOST_REFUSAL = new HostRefusal();
  static final FrameSent FRAME_SENT = new FrameSent();
  static final FrameReceived FRAME_RECEIVED = new FrameReceived();
  static final Completion COMPLETION = new Completion();
  static final CompletionEvent COMPLETION_EVENT = new CompletionEvent();
  static final AsyncEvent ASYNC_EVENT = new AsyncEvent();
  static final Interrupt INTERRUPT = new Interrupt();

  private FlightEvents() {}

  /** What all have. Flight Recorder takes fields from the class above an event's. */
  @Category({"irdma4j", "Simulated device"})
  @Registered(false)
  @Enabled(false)
  @StackTrace(false)
  abstract static class OfFunction extends Event {
    @Label("Function")
    int function;

    @Label("Device Time")
    @Timespan(Timespan.NANOSECONDS)
    long deviceTime;

    final void commit(long now, int index) {
      function = index;
      deviceTime = now;
      commit();
    }
  }

  /** An access to a register. */
  @Registered(false)
  abstract static class RegisterAccess extends OfFunction {
    @Label("Register")
    String register = "";

    @Label("Offset in BAR 0")
    @Unsigned
    int offset;

    @Label("Value")
    @Unsigned
    int value;

    final RegisterAccess of(int at, int word) {
      register = Registers.nameOf(at);
      offset = at;
      value = word;
      return this;
    }
  }

  @Name("irdma4j.RegisterRead")
  @Label("Register Read")
  @Description("A driver read a register")
  @Registered
  static final class RegisterRead extends RegisterAccess {}

  @Name("irdma4j.RegisterWrite")
  @Label("Register Write")
  @Description("A register write has reached the device")
  @Registered
  static final class RegisterWrite extends RegisterAccess {}

  @Name("irdma4j.ControlOperation")
  @Label("Control Operation")
  @Description("An operation of the control queue pair is done")
  @Registered
  static final class ControlOperation extends OfFunction {
    @Label("Operation")
    String operation = "";

    @Label("Slot")
    int slot;

    @Label("Major Error Code")
    int majorCode;

    @Label("Minor Error Code")
    int minorCode;

    @Label("Returned Value")
    @Unsigned
    int returned;
  }

  @Name("irdma4j.WqeFetch")
  @Label("WQE Fetch")
  @Description("A work queue element was fetched")
  @Registered
  static final class WqeFetch extends OfFunction {
    @Label("Ring")
    String ring = "";

    @Label("Queue Pair")
    int queuePair;

    @Label("Index")
    int wqeIndex;

    @Label("Through a Push Page")
    boolean pushed;

    @Label("Operation")
    String operation = "";

    @Label("Size")
    @DataAmount
    int size;
  }

  @Name("irdma4j.RegionTranslation")
  @Label("Region Translation")
  @Description("An address in a memory region was translated")
  @Registered
  static final class RegionTranslation extends OfFunction {
    @Label("Stag")
    @Unsigned
    int stag;

    @Label("Address")
    @MemoryAddress
    long address;

    @Label("IOVA")
    @MemoryAddress
    long iova;

    @Label("Size")
    @DataAmount
    long size;

    @Label("Has Memory")
    boolean found;
  }

  @Name("irdma4j.ObjectTranslation")
  @Label("HMC Translation")
  @Description("An address in the Host Memory Cache was translated")
  @Registered
  static final class ObjectTranslation extends OfFunction {
    @Label("FPM Address")
    @MemoryAddress
    long address;

    @Label("IOVA")
    @MemoryAddress
    long iova;

    @Label("Has Memory")
    boolean found;
  }

  /** An access to host memory. */
  @Registered(false)
  abstract static class HostAccess extends OfFunction {
    @Label("IOVA")
    @MemoryAddress
    long iova;

    @Label("Size")
    @DataAmount
    long size;

    final HostAccess of(long address, long bytes) {
      iova = address;
      size = bytes;
      return this;
    }
  }

  @Name("irdma4j.HostRead")
  @Label("Host Memory Read")
  @Description("The device read host memory")
  @Registered
  static final class HostRead extends HostAccess {}

  @Name("irdma4j.HostWrite")
  @Label("Host Memory Write")
  @Description("The device wrote host memory")
  @Registered
  static final class HostWrite extends HostAccess {}

  @Name("irdma4j.HostRefusal")
  @Label("Host Memory Refusal")
  @Description("The IOMMU refused an access of the device")
  @Registered
  static final class HostRefusal extends OfFunction {
    @Label("IOVA")
    @MemoryAddress
    long iova;

    @Label("Was a Write")
    boolean write;
  }

  /** A frame at the port. */
  @Registered(false)
  abstract static class FrameEvent extends OfFunction {
    @Label("Operation")
    String operation = "";

    @Label("Source Address")
    String origin = "";

    @Label("Destination Address")
    String destination = "";

    @Label("Destination Queue Pair")
    int queuePair;

    @Label("Packet Sequence Number")
    int psn;

    @Label("Frame Size")
    @DataAmount
    int size;

    final FrameEvent of(MemorySegment bytes) {
      FrameSummary summary = FrameSummary.of(bytes);
      operation = summary.opcode();
      origin = summary.source();
      destination = summary.destination();
      queuePair = summary.destinationQp();
      psn = summary.psn();
      size = (int) bytes.byteSize();
      return this;
    }
  }

  @Name("irdma4j.FrameSent")
  @Label("Frame Sent")
  @Description("A frame goes to the wire")
  @Registered
  static final class FrameSent extends FrameEvent {}

  @Name("irdma4j.FrameReceived")
  @Label("Frame Received")
  @Description("A frame has arrived")
  @Registered
  static final class FrameReceived extends FrameEvent {}

  @Name("irdma4j.Completion")
  @Label("Completion")
  @Description("A completion was written")
  @Registered
  static final class Completion extends OfFunction {
    @Label("Completion Queue")
    int completionQueue;

    @Label("Queue Pair")
    int queuePair;

    @Label("Index of the WQE")
    int wqeIndex;

    @Label("Operation")
    String operation = "";

    @Label("Is an Error")
    boolean error;

    @Label("Major Error Code")
    int majorCode;

    @Label("Minor Error Code")
    int minorCode;

    @Label("IOVA")
    @MemoryAddress
    long iova;
  }

  @Name("irdma4j.CompletionEvent")
  @Label("Completion Event")
  @Description("An entry of a completion event queue was written")
  @Registered
  static final class CompletionEvent extends OfFunction {
    @Label("Event Queue")
    int eventQueue;

    @Label("Completion Queue")
    int completionQueue;
  }

  @Name("irdma4j.AsyncEvent")
  @Label("Asynchronous Event")
  @Description("An asynchronous event was raised")
  @Registered
  static final class AsyncEvent extends OfFunction {
    @Label("Code")
    String code = "";

    @Label("Source")
    String origin = "";

    @Label("Queue Pair or Completion Queue")
    int queue;

    @Label("Index of the WQE")
    int wqeIndex;

    @Label("Was Written")
    boolean written;
  }

  @Name("irdma4j.Interrupt")
  @Label("Interrupt")
  @Description("An MSI-X message was sent")
  @Registered
  static final class Interrupt extends OfFunction {
    @Label("Vector")
    int vector;
  }

  /** The names of the events. */
  static List<String> names() {
    return Stream.of(
            REGISTER_READ,
            REGISTER_WRITE,
            CONTROL_OPERATION,
            WQE_FETCH,
            REGION_TRANSLATION,
            OBJECT_TRANSLATION,
            HOST_READ,
            HOST_WRITE,
            HOST_REFUSAL,
            FRAME_SENT,
            FRAME_RECEIVED,
            COMPLETION,
            COMPLETION_EVENT,
            ASYNC_EVENT,
            INTERRUPT)
        .map(event -> event.getClass().getAnnotation(Name.class).value())
        .toList();
  }

  /** Commits an event if a recording wants it. */
  static void commit(long now, int function, DeviceEvent event) {
    if (kindOf(event).isEnabled()) {
      filled(event).commit(now, function);
    }
  }

  private static OfFunction kindOf(DeviceEvent event) {
    return switch (event) {
      case DeviceEvent.RegisterRead _ -> REGISTER_READ;
      case DeviceEvent.RegisterWrite _ -> REGISTER_WRITE;
      case DeviceEvent.ControlDone _ -> CONTROL_OPERATION;
      case DeviceEvent.WqeFetched _ -> WQE_FETCH;
      case DeviceEvent.RegionTranslated _ -> REGION_TRANSLATION;
      case DeviceEvent.ObjectTranslated _ -> OBJECT_TRANSLATION;
      case DeviceEvent.HostRead _ -> HOST_READ;
      case DeviceEvent.HostWrite _ -> HOST_WRITE;
      case DeviceEvent.HostRefused _ -> HOST_REFUSAL;
      case DeviceEvent.FrameSent _ -> FRAME_SENT;
      case DeviceEvent.FrameReceived _ -> FRAME_RECEIVED;
      case DeviceEvent.CompletionWritten _ -> COMPLETION;
      case DeviceEvent.CompletionEvent _ -> COMPLETION_EVENT;
      case DeviceEvent.AsyncEvent _ -> ASYNC_EVENT;
      case DeviceEvent.Interrupt _ -> INTERRUPT;
    };
  }

  private static OfFunction filled(DeviceEvent event) {
    return switch (event) {
      case DeviceEvent.RegisterRead e -> new RegisterRead().of(e.offset(), e.value());
      case DeviceEvent.RegisterWrite e -> new RegisterWrite().of(e.offset(), e.value());
      case DeviceEvent.ControlDone e -> {
        ControlOperation flight = new ControlOperation();
        flight.operation = String.valueOf(CqpOpcode.of(e.opcode()));
        flight.slot = e.index();
        flight.majorCode = e.major();
        flight.minorCode = e.minor();
        flight.returned = e.value();
        yield flight;
      }
      case DeviceEvent.WqeFetched e -> wqe(e);
      case DeviceEvent.RegionTranslated e -> {
        RegionTranslation flight = new RegionTranslation();
        flight.stag = e.stag();
        flight.address = e.address();
        flight.iova = e.iova();
        flight.size = e.bytes();
        flight.found = e.iova() != -1;
        yield flight;
      }
      case DeviceEvent.ObjectTranslated e -> {
        ObjectTranslation flight = new ObjectTranslation();
        flight.address = e.address();
        flight.iova = e.iova();
        flight.found = e.iova() != -1;
        yield flight;
      }
      case DeviceEvent.HostRead e -> new HostRead().of(e.iova(), e.bytes());
      case DeviceEvent.HostWrite e -> new HostWrite().of(e.iova(), e.bytes());
      case DeviceEvent.HostRefused e -> {
        HostRefusal flight = new HostRefusal();
        flight.iova = e.iova();
        flight.write = e.write();
        yield flight;
      }
      case DeviceEvent.FrameSent e -> new FrameSent().of(e.bytes());
      case DeviceEvent.FrameReceived e -> new FrameReceived().of(e.bytes());
      case DeviceEvent.CompletionWritten e -> completion(e);
      case DeviceEvent.CompletionEvent e -> {
        CompletionEvent flight = new CompletionEvent();
        flight.eventQueue = e.eventQueue();
        flight.completionQueue = e.queue();
        yield flight;
      }
      case DeviceEvent.AsyncEvent e -> {
        AsyncEvent flight = new AsyncEvent();
        flight.code = String.valueOf(AeCode.of(e.code()));
        flight.origin = String.valueOf(AeSource.of(e.source()));
        flight.queue = e.id();
        flight.wqeIndex = e.wqeIndex();
        flight.written = e.written();
        yield flight;
      }
      case DeviceEvent.Interrupt e -> {
        Interrupt flight = new Interrupt();
        flight.vector = e.vector();
        yield flight;
      }
    };
  }

  private static OfFunction wqe(DeviceEvent.WqeFetched event) {
    WqeFetch flight = new WqeFetch();
    flight.ring = event.ring().name();
    flight.queuePair = event.queuePair();
    flight.wqeIndex = event.index();
    flight.pushed = event.pushed();
    flight.operation =
        switch (event.ring()) {
          case CONTROL -> String.valueOf(CqpOpcode.of((int) CqpWqe.OPCODE.get(event.bytes(), 0)));
          case SEND -> String.valueOf(SqOpcode.of((int) SqWqe.OPCODE.get(event.bytes(), 0)));
          case RECEIVE -> SqOpcode.RECEIVE.toString();
        };
    flight.size = (int) event.bytes().byteSize();
    return flight;
  }

  private static OfFunction completion(DeviceEvent.CompletionWritten event) {
    MemorySegment entry = event.bytes();
    long header = LittleEndian.getLong(entry, Cqe.OP.offset());
    Completion flight = new Completion();
    flight.completionQueue = event.queue();
    flight.queuePair = event.queue() == 0 ? 0 : (int) Cqe.QPID.get(entry, 0);
    flight.wqeIndex = (int) Cqe.WQEIDX.decode(header);
    flight.operation =
        event.queue() == 0 ? "" : String.valueOf(SqOpcode.of((int) Cqe.OP.decode(header)));
    flight.error = Cqe.ERROR.isSet(header);
    flight.majorCode = (int) Cqe.MAJERR.decode(header);
    flight.minorCode = (int) Cqe.MINERR.decode(header);
    flight.iova = event.iova();
    return flight;
  }
}
