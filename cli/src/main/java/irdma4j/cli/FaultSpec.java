package irdma4j.cli;

import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A fault as a user writes it: {@code [FUNCTION:]NAME[=VALUE][@WHEN][#N]}.
 *
 * @param function the simulated function that it befalls
 * @param fault what goes wrong, and when
 */
record FaultSpec(int function, Fault fault) {
  /** How a fault is written. */
  static final String SYNTAX = "[FUNCTION:]NAME[=VALUE][@WHEN][#N]";

  private static final Pattern PARTS =
      Pattern.compile("(?:(\\d+):)?([a-z-]+)(?:=([^@#]*))?(?:@([^@#]*))?(?:#(.*))?");
  private static final Pattern TIME = Pattern.compile("(\\d{1,12})(ns|us|ms|s)");
  private static final Pattern CODES =
      Pattern.compile("(0x[0-9a-f]{1,4}|\\d{1,5})\\.(0x[0-9a-f]{1,4}|\\d{1,5})");
  private static final int DEFAULT_MAJOR = 0xffff;
  private static final int DEFAULT_MINOR = 0x8000;
  private static final long ALL_BITS = -1;
  private static final int DEFAULT_HMC_ERROR = 0x0001_024e;

  private static final List<Occasion> DESCRIPTORS =
      List.of(
          Occasion.CONTROL_OPERATION, Occasion.SEND_WQE, Occasion.PAGE_DESCRIPTOR, Occasion.PBLE);
  private static final List<Occasion> DOORBELLS =
      List.of(Occasion.SEND_DOORBELL, Occasion.CONTROL_DOORBELL, Occasion.ARM_DOORBELL);

  /** What can go wrong; the first occasion is the one that is meant if none is named. */
  private enum Name {
    FAIL("MAJOR.MINOR", Occasion.CONTROL_OPERATION),
    DELAY("TIME", Occasion.CONTROL_OPERATION),
    SILENT(null, Occasion.values()),
    DROP_INTERRUPT(null, Occasion.INTERRUPT),
    DOUBLE_INTERRUPT(null, Occasion.INTERRUPT),
    CORRUPT("BITS", DESCRIPTORS.toArray(Occasion[]::new)),
    STALE(null, Occasion.INVALIDATION),
    LOSE_DOORBELL(null, DOORBELLS.toArray(Occasion[]::new)),
    CQ_OVERFLOW(null, Occasion.COMPLETION),
    CEQ_OVERFLOW(null, Occasion.COMPLETION_EVENT),
    AEQ_OVERFLOW(null, Occasion.ASYNC_EVENT),
    HMC_ERROR("CODE", Occasion.values()),
    PCI_ERROR(null, Occasion.values()),
    REMOVAL(null, Occasion.values()),
    RESET(null, Occasion.values());

    private final @Nullable String value;
    private final List<Occasion> occasions;

    Name(@Nullable String value, Occasion... occasions) {
      this.value = value;
      this.occasions = List.of(occasions);
    }

    String written() {
      return FaultSpec.written(this);
    }
  }

  private static String written(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Reads a fault.
   *
   * @param functions how many functions there are
   * @throws UserError if it is none, with what is accepted
   */
  static FaultSpec parse(String text, int functions) {
    Matcher parts = PARTS.matcher(text);
    if (!parts.matches()) {
      throw wrong(text, "it is written " + SYNTAX + ", where NAME is " + names());
    }
    int function = parts.group(1) == null ? 0 : number(text, parts.group(1), 0, functions - 1);
    Name name =
        Arrays.stream(Name.values())
            .filter(one -> one.written().equals(parts.group(2)))
            .findFirst()
            .orElseThrow(() -> wrong(text, "'" + parts.group(2) + "' is none of " + names()));
    if (name.value == null && parts.group(3) != null) {
      throw wrong(text, name.written() + " takes no value");
    }
    Moment when =
        moment(text, name, parts.group(4))
            .nth(parts.group(5) == null ? 1 : number(text, parts.group(5), 1, Integer.MAX_VALUE));
    return new FaultSpec(function, fault(text, name, parts.group(3), when));
  }

  private static Fault fault(String text, Name name, @Nullable String value, Moment when) {
    return switch (name) {
      case FAIL -> {
        if (value == null) {
          yield new Fault.FailControlOperation(when, DEFAULT_MAJOR, DEFAULT_MINOR);
        }
        Matcher codes = CODES.matcher(value);
        if (!codes.matches()) {
          throw wrong(text, "'" + value + "' is no MAJOR.MINOR such as 0xffff.0x0102");
        }
        yield new Fault.FailControlOperation(
            when, number(text, codes.group(1), 0, 0xffff), number(text, codes.group(2), 0, 0xffff));
      }
      case DELAY ->
          new Fault.DelayControlOperation(when, time(text, value == null ? "1ms" : value));
      case SILENT -> new Fault.SilentFirmware(when);
      case DROP_INTERRUPT -> new Fault.DropInterrupt(when);
      case DOUBLE_INTERRUPT -> new Fault.DoubleInterrupt(when);
      case CORRUPT -> new Fault.CorruptDescriptor(when, bits(text, value));
      case STALE -> new Fault.SkipInvalidation(when);
      case LOSE_DOORBELL -> new Fault.LoseDoorbell(when);
      case CQ_OVERFLOW -> new Fault.OverflowCompletionQueue(when);
      case CEQ_OVERFLOW, AEQ_OVERFLOW -> new Fault.OverflowEventQueue(when);
      case HMC_ERROR ->
          new Fault.HmcError(
              when, value == null ? DEFAULT_HMC_ERROR : number(text, value, 1, Integer.MAX_VALUE));
      case PCI_ERROR -> new Fault.PciError(when);
      case REMOVAL -> new Fault.SurpriseRemoval(when);
      case RESET -> new Fault.DeviceReset(when);
    };
  }

  private static Moment moment(String text, Name name, @Nullable String when) {
    if (when == null) {
      return Moment.next(name.occasions.getFirst());
    }
    for (Occasion occasion : name.occasions) {
      if (written(occasion).equals(when)) {
        return Moment.next(occasion);
      }
    }
    if (name.occasions.contains(Occasion.CONTROL_OPERATION)) {
      for (CqpOpcode opcode : CqpOpcode.values()) {
        if (opcode.name().equalsIgnoreCase(when)) {
          return Moment.next(opcode);
        }
      }
    }
    throw wrong(
        text,
        "%s comes at %s%s, not at '%s'"
            .formatted(
                name.written(),
                join(name.occasions.stream()),
                name.occasions.contains(Occasion.CONTROL_OPERATION)
                    ? ", or a control operation such as CREATE_QP"
                    : "",
                when));
  }

  private static long time(String text, String value) {
    Matcher time = TIME.matcher(value);
    if (!time.matches()) {
      throw wrong(text, "'" + value + "' is no time such as 500us, 20ms or 3s");
    }
    long unit =
        switch (time.group(2)) {
          case "s" -> 1_000_000_000L;
          case "ms" -> 1_000_000L;
          case "us" -> 1_000L;
          default -> 1L;
        };
    long count = Long.parseLong(time.group(1));
    if (count == 0 || count > Long.MAX_VALUE / 4 / unit) {
      throw wrong(text, "'" + value + "' is no time that can pass");
    }
    return count * unit;
  }

  private static long bits(String text, @Nullable String value) {
    if (value == null) {
      return ALL_BITS;
    }
    try {
      long bits = value.startsWith("0x") ? Long.parseUnsignedLong(value, 2, value.length(), 16) : 0;
      if (bits != 0) {
        return bits;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw wrong(text, "'" + value + "' is not the bits to invert, such as 0x1");
  }

  private static int number(String text, String digits, int least, int most) {
    try {
      int number =
          digits.startsWith("0x")
              ? Integer.parseInt(digits, 2, digits.length(), 16)
              : Integer.parseInt(digits);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw wrong(text, "'%s' is not from %d to %d".formatted(digits, least, most));
  }

  private static String names() {
    return join(Arrays.stream(Name.values()));
  }

  private static String join(Stream<? extends Enum<?>> constants) {
    return constants.map(FaultSpec::written).collect(Collectors.joining(", "));
  }

  private static UserError wrong(String text, String why) {
    return new UserError("--fault %s: %s".formatted(text, why));
  }
}
