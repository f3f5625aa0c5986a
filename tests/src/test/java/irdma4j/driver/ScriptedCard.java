package irdma4j.driver;

import irdma4j.driver.ring.RingSizes;
import irdma4j.hmc.Firmware;
import irdma4j.hmc.FpmLimits;
import irdma4j.hwregs.ControlCqe;
import irdma4j.hwregs.CqpHostContext;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.PciIds;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CommitFpm;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.hwregs.cqp.CreateCq;
import irdma4j.hwregs.cqp.DestroyCq;
import irdma4j.hwregs.cqp.QueryFpm;
import irdma4j.hwregs.cqp.QueryRdmaFeatures;
import irdma4j.tests.FakePciFunction;
import irdma4j.uapi.Bar;
import irdma4j.uapi.ConfigSpace;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.DmaUsage;
import irdma4j.uapi.Interrupts;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A function behind which stands the firmware that the reference vectors were taken with, by the
 * rules that their README gives. It keeps each register access and each WQE that it was given.
 */
final class ScriptedCard implements PciFunction {
  /** What the driver did to the card. */
  sealed interface Event {
    /** A register was read or written. */
    record Access(boolean write, long offset, int value) implements Event {
      @Override
      public String toString() {
        return "%s 0x%x 0x%x".formatted(write ? "W" : "R", offset, value);
      }
    }

    /** A WQE was found behind the doorbell. */
    record Wqe(int slot, String hex) implements Event {}
  }

  /**
   * An error that the firmware answers with.
   *
   * @param major error code
   * @param minor error code
   */
  record Failure(int major, int minor) {}

  private static final int E810 = 0x1592;

  private final FakePciFunction memory = new FakePciFunction();
  private final Map<Long, Integer> registers = new HashMap<>();
  private final Map<CqpOpcode, Failure> failures = new HashMap<>();
  private final List<Event> events = new ArrayList<>();
  private ToLongFunction<CqpCommand> value = command -> 0;
  private byte[] fpm = new byte[0];
  private byte[] features = new byte[0];
  private int ready = 1;
  private int gone;
  private long ring;
  private int slots;
  private int head;
  private long ccq;
  private int ccqEntries;
  private int ccqAt;
  private boolean ccqPolarity;
  private long nanos;
  private int countdown;
  private @Nullable Failure once;

  /** What reads of a register return until it changes. */
  void preset(long offset, int answer) {
    registers.put(offset, answer);
  }

  /** What the status of the control queue pair becomes when its ring is handed over. */
  void answerCreation(int status) {
    ready = status;
  }

  /** What that status stays when the ring is taken back. */
  void answerDestruction(int status) {
    gone = status;
  }

  /** What QUERY_FPM answers. */
  void answerFpm(byte[] buffer) {
    fpm = buffer;
  }

  /** What QUERY_RDMA_FEATURES answers. */
  void answerFeatures(byte[] buffer) {
    features = buffer;
  }

  /** The value that the completion of an operation carries. */
  void answerValue(ToLongFunction<CqpCommand> rule) {
    value = rule;
  }

  /** An operation fails from now on. */
  void fail(CqpOpcode opcode, Failure failure) {
    failures.put(opcode, failure);
  }

  /**
   * One operation fails.
   *
   * @param nth which one from now on: 1 is the next, 0 none
   */
  void failOnce(int nth, Failure failure) {
    countdown = nth;
    once = failure;
  }

  /** What the driver did since the last call. */
  List<Event> take() {
    List<Event> taken = List.copyOf(events);
    events.clear();
    return taken;
  }

  /** What the control queue pair's context says. */
  MemorySegment controlContext() {
    return memory.deviceView(contextAddress(), CqpHostContext.SIZE);
  }

  private long contextAddress() {
    return (long) registers.getOrDefault((long) Registers.PFPE_CCQPHIGH.offset(), 0) << 32
        | Integer.toUnsignedLong(registers.getOrDefault((long) Registers.PFPE_CCQPLOW.offset(), 0));
  }

  private void write(long offset, int written) {
    registers.put(offset, written);
    if (offset == Registers.PFPE_CCQPLOW.offset()) {
      if (written == 0) {
        preset(Registers.PFPE_CCQPSTATUS.offset(), gone);
      } else {
        preset(Registers.PFPE_CCQPSTATUS.offset(), ready);
        MemorySegment context = controlContext();
        ring = CqpHostContext.SQBASE.get(context, 0) << CqpHostContext.SQBASE.shift();
        int code = (int) CqpHostContext.SQSIZE.get(context, 0);
        slots = 4;
        while (RingSizes.encodedControl(slots) != code) {
          slots *= 2;
        }
        head = 0;
      }
    } else if (offset == Registers.PFPE_CQPDB.offset() && slots != 0) {
      while (head != written) {
        run(head);
        head = (head + 1) % slots;
      }
    }
  }

  private void run(int slot) {
    MemorySegment wqe = memory.deviceView(ring + (long) slot * CqpWqe.SIZE, CqpWqe.SIZE);
    events.add(new Event.Wqe(slot, HexFormat.of().formatHex(wqe.toArray(ValueLayout.JAVA_BYTE))));
    CqpCommand command = CqpCommand.decode(wqe, 0);
    Failure failure = failures.get(command.opcode());
    if (countdown > 0 && --countdown == 0) {
      failure = once;
    }
    if (failure == null) {
      switch (command) {
        case QueryFpm query -> answer(fpm, query.bufferAddress(), fpm.length);
        case QueryRdmaFeatures query ->
            answer(features, query.bufferAddress(), query.bufferLength());
        case CommitFpm commit ->
            Firmware.answer(
                memory.deviceView(commit.bufferAddress(), commit.bufferLength()),
                FpmLimits.parse(aligned(fpm)),
                true);
        case CreateCq create when create.cqId() == 0 -> {
          ccq = create.ringAddress();
          ccqEntries = create.cqSize();
          ccqAt = 0;
          ccqPolarity = true;
        }
        case DestroyCq destroy when destroy.cqId() == 0 -> ccq = 0;
        default -> {}
      }
    }
    int tail = (slot + 1) % slots;
    long error = 0;
    if (failure != null) {
      preset(Registers.PFPE_CQPERRCODES.offset(), failure.major() << 16 | failure.minor());
      error = Registers.CQPTAIL_CQP_OP_ERR.encode(1);
    }
    preset(Registers.PFPE_CQPTAIL.offset(), (int) (Registers.CQPTAIL_WQTAIL.encode(tail) | error));
    if (ccq != 0) {
      complete(command, slot, failure);
    }
  }

  private void answer(byte[] bytes, long address, int limit) {
    int length = Math.min(bytes.length, limit);
    MemorySegment.copy(
        bytes, 0, memory.deviceView(address, length), ValueLayout.JAVA_BYTE, 0, length);
  }

  private static MemorySegment aligned(byte[] bytes) {
    MemorySegment words =
        MemorySegment.ofArray(new long[(bytes.length + Long.BYTES - 1) / Long.BYTES]);
    MemorySegment.copy(bytes, 0, words, ValueLayout.JAVA_BYTE, 0, bytes.length);
    return words;
  }

  private void complete(CqpCommand command, int slot, Failure failure) {
    MemorySegment cqe = memory.deviceView(ccq + (long) ccqAt * ControlCqe.SIZE, ControlCqe.SIZE);
    cqe.fill((byte) 0);
    ControlCqe.COMPCTX.set(cqe, 0, CqpHostContext.QPCTX.get(controlContext(), 0));
    ControlCqe.OPRETVAL.set(cqe, 0, failure == null ? value.applyAsLong(command) : 0);
    long last =
        ControlCqe.WQEIDX.encode(slot)
            | ControlCqe.SQ.encode(1)
            | ControlCqe.VALID.encode(ccqPolarity);
    if (failure != null) {
      last |=
          ControlCqe.ERROR.encode(1)
              | ControlCqe.MAJERR.encode(failure.major())
              | ControlCqe.MINERR.encode(failure.minor());
    }
    LittleEndian.setLong(cqe, 24, last);
    ccqAt++;
    if (ccqAt == ccqEntries) {
      ccqAt = 0;
      ccqPolarity = !ccqPolarity;
    }
  }

  @Override
  public Bar bar(int index) {
    return new Bar() {
      @Override
      public int index() {
        return index;
      }

      @Override
      public long size() {
        return 16L << 20;
      }

      @Override
      public int read32(long offset) {
        int answer = registers.getOrDefault(offset, 0);
        events.add(new Event.Access(false, offset, answer));
        return answer;
      }

      @Override
      public void write32(long offset, int written) {
        events.add(new Event.Access(true, offset, written));
        write(offset, written);
      }

      @Override
      public long read64(long offset) {
        throw new UnsupportedOperationException();
      }

      @Override
      public void write64(long offset, long written) {
        throw new UnsupportedOperationException();
      }
    };
  }

  @Override
  public DeviceClock clock() {
    return new DeviceClock() {
      @Override
      public long nanos() {
        return nanos;
      }

      @Override
      public void pause(long wanted) {
        nanos += Math.max(1, wanted);
      }
    };
  }

  @Override
  public Interrupts interrupts() {
    return new Interrupts() {
      @Override
      public int count() {
        return 8;
      }

      @Override
      public void enable(int vectors) {}

      @Override
      public void disable() {}

      @Override
      public boolean poll(int vector) {
        return false;
      }

      @Override
      public boolean await(int vector, long timeoutNanos) {
        nanos += timeoutNanos;
        return false;
      }

      @Override
      public long fired(int vector) {
        return 0;
      }
    };
  }

  @Override
  public DmaMemory allocateDma(long bytes, long alignment, DmaPlacement placement) {
    return memory.allocateDma(bytes, alignment, placement);
  }

  @Override
  public DmaUsage dmaUsage() {
    return memory.dmaUsage();
  }

  @Override
  public void setBusMaster(boolean enabled) {}

  @Override
  public String address() {
    return "scripted:0";
  }

  @Override
  public ConfigSpace config() {
    return new ConfigSpace() {
      @Override
      public int read8(int offset) {
        return 0;
      }

      @Override
      public int read16(int offset) {
        return offset == 0 ? PciIds.INTEL : offset == 2 ? E810 : 0;
      }

      @Override
      public int read32(int offset) {
        return E810 << 16 | PciIds.INTEL;
      }

      @Override
      public void write16(int offset, int value) {}

      @Override
      public void write32(int offset, int value) {}
    };
  }

  @Override
  public void reset() {
    throw new UnsupportedOperationException("a scripted card has no reset");
  }

  @Override
  public void close() {
    memory.close();
  }
}
