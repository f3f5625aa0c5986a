package irdma4j.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The README's program runs, and is the one that stands in the README. */
class ReadmeTest {
  @Test
  void theProgramWritesWhatItSays() {
    assertEquals("hello, RDMA", HelloRdma.run());
  }

  @Test
  void theReadmeShowsThatProgram() throws IOException {
    assertShows("../README.md", "readme/HelloRdma.java", "README");
  }

  @Test
  void theGuideShowsAPropertyThatRuns() throws IOException {
    assertShows("../docs/property-testing.md", "hmc/PlantedHmcFaultsTest.java", "guide");
  }

  /** The lines between the marks in a source file stand in a page. */
  private static void assertShows(String page, String file, String mark) throws IOException {
    String source = Files.readString(Path.of("src/test/java/irdma4j").resolve(file));
    String start = "// [" + mark;
    String body =
        source
            .substring(source.indexOf(start) + start.length(), source.indexOf("// " + mark + "]"))
            .stripTrailing()
            .stripIndent()
            .strip();
    assertTrue(Files.readString(Path.of(page)).contains(body), page + " differs from " + file);
  }
}
