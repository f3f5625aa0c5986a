package irdma4j.uapi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.uapi.linux.Linux;
import java.io.IOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.PaddingLayout;
import java.lang.reflect.Method;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The C compiler on the installed headers judges jextract's output: the size of each structure, the
 * offset of each of its members, and each number, those of ioctls included.
 *
 * <p>What the installed headers do not have yet (iommufd, VFIO's character devices) is left out and
 * counted; {@code -Dirdma4j.headers=FOLDER} names newer ones.
 */
class HeaderProbeTest {
  private static final String HEADERS =
      """
      #include <errno.h>
      #include <fcntl.h>
      #include <poll.h>
      #include <stddef.h>
      #include <stdio.h>
      #include <sys/eventfd.h>
      #include <sys/mman.h>
      #include <sys/socket.h>
      #include <sys/uio.h>
      #include <sys/un.h>
      #include <unistd.h>
      #include <linux/mman.h>
      #include <linux/vfio.h>
      #if __has_include(<linux/iommufd.h>)
      #include <linux/iommufd.h>
      #define HAVE_IOMMUFD
      #endif
      #ifdef VFIO_DEVICE_BIND_IOMMUFD
      #define HAVE_CDEV
      #endif
      int main(void) {
      """;

  /** Members that came with the character devices, in structures that are older. */
  private static final Set<String> NEW_MEMBERS =
      Set.of(
          "vfio_pci_dependent_device.devid", "vfio_device_info.pad", "vfio_iommu_type1_info.pad");

  private static final String PACKAGE = "irdma4j/uapi/linux";

  private static final Set<String> GREW = Set.of("vfio_device_info", "vfio_iommu_type1_info");

  private final StringBuilder program = new StringBuilder(HEADERS);
  private final Map<String, Long> ours = new TreeMap<>();

  @Test
  void everySizeOffsetAndNumberIsTheCompilers(@TempDir Path folder) throws Exception {
    for (String name : classes()) {
      structure(name);
    }
    for (Method method : Linux.class.getMethods()) {
      boolean number =
          method.getParameterCount() == 0
              && (method.getReturnType() == int.class || method.getReturnType() == long.class)
              && method.getName().matches("_?[A-Z][A-Z0-9]*_?[A-Za-z0-9_]*");
      if (number && !method.getName().startsWith("C_")) {
        constant(method.getName(), ((Number) method.invoke(null)).longValue());
      }
    }
    program.append("return 0;\n}\n");
    Map<String, Long> compilers = run(folder);
    int checked = 0;
    for (Map.Entry<String, Long> one : ours.entrySet()) {
      Long theirs = compilers.remove(one.getKey());
      if (theirs != null) {
        // An int constant of the header may be unsigned there.
        assertEquals(theirs.intValue(), one.getValue().intValue(), one.getKey());
        checked++;
      }
    }
    assertEquals(Map.of(), compilers);
    System.out.printf(
        "headers: %d sizes, offsets and numbers agree, %d are not in the installed headers%n",
        checked, ours.size() - checked);
    assertTrue(checked > 200, checked + " were checked");
  }

  private static List<String> classes() throws IOException {
    Path place = Path.of(Linux.class.getProtectionDomain().getCodeSource().getLocation().getPath());
    if (Files.isDirectory(place)) {
      return classes(place.resolve(PACKAGE));
    }
    try (FileSystem jar = FileSystems.newFileSystem(place)) {
      return classes(jar.getPath(PACKAGE));
    }
  }

  private static List<String> classes(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.endsWith(".class") && !file.contains("$") && !file.startsWith("L"))
          .map(file -> file.replace(".class", ""))
          .sorted()
          .toList();
    }
  }

  private void structure(String name) throws ReflectiveOperationException {
    GroupLayout layout =
        (GroupLayout) Class.forName("irdma4j.uapi.linux." + name).getMethod("layout").invoke(null);
    String guard =
        name.startsWith("iommu_") ? "HAVE_IOMMUFD" : name.contains("iommufd") ? "HAVE_CDEV" : "";
    when(
        GREW.contains(name) ? "HAVE_CDEV" : guard,
        "sizeof(struct " + name + ")",
        layout.byteSize());
    members(name, guard, layout, 0);
  }

  private void members(String struct, String guard, GroupLayout group, long base) {
    long offset = base;
    boolean union = group instanceof java.lang.foreign.UnionLayout;
    for (MemoryLayout member : group.memberLayouts()) {
      if (member instanceof GroupLayout inner
          && inner.name().isPresent()
          && inner.name().get().startsWith("$anon")) {
        members(struct, guard, inner, offset);
      } else if (!(member instanceof PaddingLayout) && member.name().isPresent()) {
        String name = member.name().get();
        when(
            NEW_MEMBERS.contains(struct + "." + name) ? "HAVE_CDEV" : guard,
            "offsetof(struct %s, %s)".formatted(struct, name),
            offset);
      }
      if (!union) {
        offset += member.byteSize();
      }
    }
  }

  private void constant(String name, long value) {
    ours.put(name, value);
    // Enumerators are no macros, so those are taken as always there.
    boolean macro =
        name.startsWith("IOMMU_") || name.contains("IOMMUFD") || name.startsWith("VFIO_IRQ_SET");
    if (name.startsWith("IOMMU_IOAS_MAP_")) {
      print("HAVE_IOMMUFD", name);
    } else if (macro) {
      program.append("#ifdef ").append(name).append('\n');
      line(name);
      program.append("#endif\n");
    } else {
      line(name);
    }
  }

  private void when(String guard, String expression, long value) {
    ours.put(expression, value);
    print(guard, expression);
  }

  private void print(String guard, String expression) {
    if (!guard.isEmpty()) {
      program.append("#ifdef ").append(guard).append('\n');
    }
    line(expression);
    if (!guard.isEmpty()) {
      program.append("#endif\n");
    }
  }

  private void line(String expression) {
    program
        .append("printf(\"")
        .append(expression)
        .append("=%lld\\n\", (long long) (")
        .append(expression)
        .append("));\n");
  }

  private Map<String, Long> run(Path folder) throws IOException, InterruptedException {
    Path source = folder.resolve("probe.c");
    Files.writeString(source, program);
    List<String> compile = new ArrayList<>(List.of("gcc", "-D_GNU_SOURCE", "-o"));
    compile.add(folder.resolve("probe").toString());
    String headers = System.getProperty("irdma4j.headers");
    if (headers != null) {
      compile.addAll(List.of("-I", headers, "-I", headers + "/x86_64-linux-gnu"));
    }
    compile.add(source.toString());
    execute(compile);
    Map<String, Long> values = new HashMap<>();
    for (String line : execute(List.of(folder.resolve("probe").toString())).split("\n", -1)) {
      int equals = line.lastIndexOf('=');
      if (equals > 0) {
        values.put(line.substring(0, equals), Long.parseLong(line.substring(equals + 1)));
      }
    }
    return values;
  }

  private static String execute(List<String> command) throws IOException, InterruptedException {
    Process process;
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      Assumptions.assumeFalse(
          command.getFirst().equals("gcc") && !"true".equals(System.getenv("CI")),
          "no gcc: install it to judge the layouts");
      throw e;
    }
    String out =
        new String(
            process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "no end");
    assertEquals(0, process.exitValue(), out);
    return out;
  }
}
