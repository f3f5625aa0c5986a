package irdma4j.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Gid;
import irdma4j.driver.RdmaException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Commands with a peer, both sides in this process; the guest has them talk to Linux's tools. */
class ConnectionCommandsTest {
  private record Result(int status, String out, String err) {}

  private static Result run(String line) {
    CommandLine command = Main.commandLine(InputStream.nullInputStream());
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return new Result(command.execute(line.split(" ")), out.toString(), err.toString());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** Fails if one of the two sides does not come to its end, or says so without having done it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "cmatose -c 2 -C 3|test complete|disconnected",
        "cmatose -s fd00:9::1 -C 3|test complete|disconnected",
        "udaddy -c 2 -C 3 -S 1024|test complete|sending replies",
        "rping -C 2 -v|ping data: rdma-ping-1|server ping data: rdma-ping-1",
        "pingpong -n 5 -s 5000 -r 2 -p PORT|5 iters|50000 bytes",
        "pingpong -n 5 -g 1 -e -p PORT|5 iters|remote address: LID 0x0000"
      })
  void bothSidesAreHere(String line, String first, String second) throws IOException {
    Result result = run(line.replace("PORT", "" + freePort()));
    assertEquals(0, result.status(), result.err());
    assertTrue(result.out().contains(first), result.out());
    assertTrue(result.out().contains(second), result.out());
  }

  /** Fails if a size is left out, a number is missing or the two sides do not agree. */
  @ParameterizedTest
  @ValueSource(strings = {"write", "read", "send"})
  void whatIsMeasuredIsPrinted(String verb) throws IOException {
    Result text = run("perf " + verb + " -s 3000 -n 7 -t 2 -r 3 -p " + freePort());
    assertEquals(0, text.status(), text.err());
    assertEquals(
        2,
        Pattern.compile("(?m)^ 3000 +7 +\\d+\\.\\d\\d +\\d+\\.\\d\\d\\s+\\d+\\.\\d{6}")
            .matcher(text.out())
            .results()
            .count(),
        text.out());
    Result json = run("perf " + verb + " -n 3 --json -x 1 -p " + freePort());
    assertEquals(0, json.status(), json.err());
    assertTrue(
        Pattern.compile(
                "\\{\"command\":\"perf\",\"verb\":\""
                    + verb
                    + "\",\"role\":\"client\",\"results\":\\[\\{\"bytes\":65536,\"iterations\":3,"
                    + ".*\"p99.9\":.*}]}")
            .matcher(json.out())
            .find(),
        json.out());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "rping -s|irdma: give either -s or -c ADDRESS, or neither if there is no --wire",
        "cmatose --address 10.9.0.2/24|irdma: --address needs --wire",
        "cmatose --wire unix:/tmp/a,/tmp/b|irdma: --wire needs --address",
        "udaddy -S 2000|irdma: -S 2000: at most --mtu 1024",
        "pingpong -g 2|irdma: -g 2: 0 to 1",
        "perf write -t 0|irdma: -s is 1 to 1073741824, -n 1 to 10000000, -t and -r 1 to 8192"
      })
  void mistakesAreOneLine(String line, String message) {
    Result result = run(line);
    assertEquals(message, result.err().strip());
    assertEquals(2, result.status());
  }

  @Test
  void aServiceThatRefusesIsToldOf() {
    Result result = run("udaddy --reject");
    assertEquals(1, result.status());
    assertEquals("udaddy: refused, status 2", result.err().strip());
  }

  /** Fails if a field is written where it is not read, or the text has another length. */
  @Property
  void endsAreReadAsTheyWereWritten(
      @ForAll @IntRange(min = 0, max = 0xffffff) int qpn,
      @ForAll @IntRange(min = 0, max = 0xffffff) int psn,
      @ForAll @IntRange(min = 1, max = 127) int reads,
      @ForAll int rkey,
      @ForAll long address,
      @ForAll long high,
      @ForAll long low) {
    RcEnd end = new RcEnd(psn & 0xffff, qpn, psn, new Gid(high, low));
    assertEquals(RcEnd.LENGTH, end.encode().length());
    assertEquals(end, RcEnd.decode(end.encode()));
    PerfEnd perf = new PerfEnd(reads, qpn, psn, rkey, address, new Gid(high, low));
    assertEquals(perf, PerfEnd.decode(perf.encode()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0000:000001:000002", "0000:00000g:000000:"})
  void whatIsNoEndIsRefused(String text) {
    assertThrows(IllegalArgumentException.class, () -> RcEnd.decode(text));
    byte[] message =
        java.util.Arrays.copyOf(
            text.getBytes(java.nio.charset.StandardCharsets.US_ASCII), PerfEnd.SIZE);
    assertThrows(RdmaException.class, () -> PerfEnd.decode(message));
  }
}
