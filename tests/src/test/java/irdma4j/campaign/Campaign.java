package irdma4j.campaign;

import static org.junit.platform.engine.discovery.ClassNameFilter.includeClassNamePatterns;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;
import static org.junit.platform.launcher.EngineFilter.includeEngines;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs all jqwik properties again and again, each time with new seeds, and stops at the first round
 * that fails. The number of rounds so multiplies the tries that each property asks for.
 *
 * <p>System properties: {@code irdma4j.tries} is the number of rounds, {@code irdma4j.only} a
 * pattern of class names.
 */
public final class Campaign {
  private Campaign() {}

  /** Runs the campaign; the exit status is 1 if a property failed or none was found. */
  public static void main(String[] arguments) {
    int rounds = Integer.getInteger("irdma4j.tries", 20);
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
          "Campaign: round %d of %d, %d properties passed, %d failed%n",
          round, rounds, summary.getTestsSucceededCount(), summary.getTotalFailureCount());
      if (summary.getTotalFailureCount() > 0 || summary.getTestsSucceededCount() == 0) {
        summary.printFailuresTo(out);
        System.exit(1);
      }
    }
  }
}
