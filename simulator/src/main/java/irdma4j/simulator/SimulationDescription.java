package irdma4j.simulator;

import irdma4j.simulator.wire.LinkFaults;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a simulation is made of, in a line of a trace, such as {@code simulated stepped card=e810
 * seed=7 gigabits=100 loss=0.0 ...}.
 */
record SimulationDescription(
    boolean stepped, String card, long seed, int gigabits, LinkFaults faults) {
  private static final String SIMULATED = "simulated ";
  private static final String E810 = "e810";
  private static final String SMALL = "small";
  private static final String OTHER = "other";

  static String nameOf(CardProfile profile) {
    return profile.equals(CardProfile.e810())
        ? E810
        : profile.equals(CardProfile.small()) ? SMALL : OTHER;
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%s%s card=%s seed=%d gigabits=%d loss=%s duplicate=%s reorder=%s delay=%s corrupt=%s mark=%s",
        SIMULATED,
        stepped ? "stepped" : "threaded",
        card,
        seed,
        gigabits,
        faults.loss(),
        faults.duplicate(),
        faults.reorder(),
        faults.delay(),
        faults.corrupt(),
        faults.mark());
  }

  /**
   * Reads a description.
   *
   * @return null if the device was not simulated
   * @throws IllegalArgumentException which says what is wrong with it
   */
  static @Nullable SimulationDescription parse(String text) {
    if (!text.startsWith(SIMULATED)) {
      return null;
    }
    String[] words = text.split(" ", -1);
    if (!words[1].equals("stepped") && !words[1].equals("threaded")) {
      throw new IllegalArgumentException("'" + words[1] + "' is neither stepped nor threaded");
    }
    Map<String, String> values = new HashMap<>();
    for (int i = 2; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      if (equals < 0) {
        throw new IllegalArgumentException("'" + words[i] + "' is not NAME=VALUE");
      }
      values.put(words[i].substring(0, equals), words[i].substring(equals + 1));
    }
    return new SimulationDescription(
        words[1].equals("stepped"),
        value(values, "card"),
        number(values, "seed").longValue(),
        number(values, "gigabits").intValue(),
        new LinkFaults(
            share(values, "loss"),
            share(values, "duplicate"),
            share(values, "reorder"),
            share(values, "delay"),
            share(values, "corrupt"),
            share(values, "mark")));
  }

  private static String value(Map<String, String> values, String name) {
    String value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException(name + "=... is missing");
    }
    return value;
  }

  private static BigDecimal number(Map<String, String> values, String name) {
    String value = value(values, name);
    try {
      return new BigDecimal(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + "=" + value + ": a number is expected", e);
    }
  }

  private static double share(Map<String, String> values, String name) {
    return number(values, name).doubleValue();
  }

  /** The simulation again. */
  Simulation.Builder builder() {
    CardProfile profile =
        switch (card) {
          case E810 -> CardProfile.e810();
          case SMALL -> CardProfile.small();
          default ->
              throw new IllegalArgumentException(
                  "card=" + card + ": only the cards e810 and small can be made again");
        };
    return Simulation.builder().profile(profile).seed(seed).gigabits(gigabits).faults(faults);
  }
}
