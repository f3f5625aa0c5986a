package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.uapi.ConfigSpace;
import irdma4j.uapi.PciFunction;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A function that the driver is not for is refused before it is touched. */
class UnknownFunctionTest {
  /** Fails if the ids are not looked at, or something is done before. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0x8086 | 0x1572 | PCI function 8086:1572 is not of the E810 family; the driver knows 8086:124c,",
        "0x8086 | 0x37d0 | PCI function 8086:37d0 is an X722, whose registers are others; the driver knows",
        "0x15b3 | 0x1592 | PCI function 15b3:1592 is not of the E810 family",
        "0x0000 | 0x0000 | PCI function 0000:0000 is not of the E810 family",
        "0xffff | 0xffff | gone"
      })
  void anotherFunctionIsNotTouched(String vendor, String device, String says) {
    List<String> calls = new ArrayList<>();
    ConfigSpace config =
        (ConfigSpace)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ConfigSpace.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "vendorId" -> Integer.decode(vendor);
                      case "deviceId" -> Integer.decode(device);
                      default -> throw new AssertionError(method);
                    });
    PciFunction function =
        (PciFunction)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {PciFunction.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("config")) {
                    return config;
                  }
                  calls.add(method.getName());
                  return null;
                });
    RdmaException refused = assertThrows(RdmaException.class, () -> RdmaDevice.open(function));
    assertTrue(refused.getMessage().contains(says), refused::getMessage);
    assertEquals(List.of(), calls);
  }
}
