package irdma4j.cli;

import irdma4j.simulator.Simulation;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** What is to go wrong on purpose in simulated cards, as an option of a command. */
final class FaultOptions {
  @Option(
      names = "--fault",
      paramLabel = "FAULT",
      description =
          "Let something go wrong in a simulated card, once; may be given several times. Written "
              + FaultSpec.SYNTAX
              + ", such as fail@CREATE_QP, delay=5ms@CREATE_CQ#2, removal@frame-sent#1000 or"
              + " 1:lose-doorbell@send-doorbell. All of them are in docs/faults.md.")
  private List<String> faults = new ArrayList<>();

  /** Whether anything is to go wrong. */
  boolean isGiven() {
    return !faults.isEmpty();
  }

  /**
   * The faults.
   *
   * @param functions how many functions there are
   * @throws UserError if one is written wrongly
   */
  List<FaultSpec> parse(int functions) {
    return faults.stream().map(text -> FaultSpec.parse(text, functions)).toList();
  }

  /** Lets faults wait for their moments. */
  static void inject(List<FaultSpec> faults, Simulation simulation) {
    faults.forEach(one -> simulation.inject(one.function(), one.fault()));
  }
}
