package irdma4j.campaign;

import static org.junit.platform.engine.discovery.ClassNameFilter.includeClassNamePatterns;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;
import static org.junit.platform.launcher.EngineFilter.includeEngines;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs all jqwik properties again and again, each time with new seeds, and stops at the first round
 * that fails. The number of rounds so multiplies the tries that each property asks for. The rounds
 * are shared out among one process for each processor.
 *
 * <p>System properties: {@code irdma4j.tries} is the number of rounds, {@code irdma4j.only} a
 * pattern of class names.
 */
public final class Campaign {
  private static final String ROUNDS = "irdma4j.tries";
  private static final String WORKER = "irdma4j.worker";

  private Campaign() {}

  /** Runs the campaign; the exit status is 1 if a property failed or none was found. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    int rounds = Integer.getInteger(ROUNDS, 20);
    boolean passed = Integer.getInteger(WORKER) != null ? runRounds(rounds) : shareOut(rounds);
    System.exit(passed ? 0 : 1);
  }

  /** Runs the rounds in processes of their own. */
  private static boolean shareOut(int rounds) throws IOException, InterruptedException {
    int workers = Math.min(rounds, Runtime.getRuntime().availableProcessors());
    List<Process> processes = new ArrayList<>();
    try {
      for (int worker = 0; worker < workers; worker++) {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse("java"));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        int share = rounds / workers + (worker < rounds % workers ? 1 : 0);
        command.add("-D" + ROUNDS + "=" + share);
        command.add("-D" + WORKER + "=" + worker);
        // Each needs a file of its own for the seeds of failures.
        command.add("-Djqwik.database=target/jqwik-database-" + worker);
        command.add("-classpath");
        command.add(System.getProperty("java.class.path"));
        command.add(Campaign.class.getName());
        processes.add(new ProcessBuilder(command).inheritIO().start());
      }
      boolean passed = true;
      for (Process process : processes) {
        passed &= process.waitFor() == 0;
      }
      return passed;
    } finally {
      processes.forEach(Process::destroy);
    }
  }

  private static boolean runRounds(int rounds) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectPackage("irdma4j"))
            .filters(
                includeEngines("jqwik"),
                includeClassNamePatterns(System.getProperty("irdma4j.only", ".*")))
            .build();
    Launcher launcher = LauncherFactory.create();
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    for (int round = 1; round <= rounds; round++) {
      SummaryGeneratingListener listener = new SummaryGeneratingListener();
      launcher.execute(request, listener);
      TestExecutionSummary summary = listener.getSummary();
      out.printf(
          "Campaign: round %d of %d, %d properties passed, %d failed, in %.1f s%n",
          round,
          rounds,
          summary.getTestsSucceededCount(),
          summary.getTotalFailureCount(),
          (summary.getTimeFinished() - summary.getTimeStarted()) / 1e3);
      if (summary.getTotalFailureCount() > 0 || summary.getTestsSucceededCount() == 0) {
        summary.printFailuresTo(out);
        return false;
      }
    }
    return true;
  }
}
