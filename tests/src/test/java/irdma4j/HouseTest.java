package irdma4j;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The arrows of docs/architecture.md, read off the class files. */
class HouseTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("irdma4j");

  @ParameterizedTest
  @CsvSource({
    "hwregs, uapi hmc pble driver simulator cli",
    "uapi, hwregs hmc pble driver simulator cli",
    "hmc, pble driver simulator cli",
    "pble, driver simulator cli",
    "driver, simulator cli",
    "simulator, hmc pble driver cli",
  })
  void aModuleDoesNotKnowWhatItMustNot(String module, String others) {
    String[] forbidden =
        java.util.Arrays.stream(others.split(" "))
            .map(other -> "irdma4j." + other + "..")
            .toArray(String[]::new);
    noClasses()
        .that()
        .resideInAPackage("irdma4j." + module + "..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(forbidden)
        .check(CLASSES);
  }

  @Test
  void modulesHaveNoCycles() {
    slices().matching("irdma4j.(*)..").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void theDriverWaitsByTheDevicesClockAlone() {
    noClasses()
        .that()
        .resideInAnyPackage("irdma4j.driver..", "irdma4j.hmc..", "irdma4j.pble..")
        .should()
        .callMethod(Thread.class, "sleep", long.class)
        .check(CLASSES);
  }
}
