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
    String source = Files.readString(Path.of("src/test/java/irdma4j/readme/HelloRdma.java"));
    String body =
        source
            .substring(source.indexOf("// [README") + 10, source.indexOf("  // README]"))
            .stripTrailing()
            .stripIndent()
            .strip();
    String readme = Files.readString(Path.of("../README.md"));
    assertTrue(readme.contains(body), "the README's program differs from HelloRdma.java");
  }
}
