package irdma4j.cli;

import irdma4j.driver.DeviceUsage;
import irdma4j.driver.MemoryRegion;
import irdma4j.hwregs.HmcObject;
import irdma4j.simulator.FunctionStatistics;
import irdma4j.uapi.DmaUsage;
import irdma4j.uapi.PciFunction;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What the demo did, gathered while it runs and printed at the end as a person reads it. */
final class DemoSummary {
  private record Row(String what, String a, String b) {}

  private final DemoOptions options;
  private final List<Row> rows = new ArrayList<>();
  private final List<String> lines = new ArrayList<>();
  private final long[] before = new long[2];
  private final DmaUsage[] after = new DmaUsage[2];
  private long writeNanos;
  private long readNanos;
  private long writeInside;
  private long readInside;
  private boolean agree;

  DemoSummary(DemoOptions options) {
    this.options = options;
  }

  void before(List<PciFunction> functions) {
    for (int i = 0; i < functions.size(); i++) {
      before[i] = functions.get(i).dmaUsage().currentBytes();
    }
  }

  void after(List<PciFunction> functions) {
    for (int i = 0; i < functions.size(); i++) {
      after[i] = functions.get(i).dmaUsage();
    }
  }

  void regions(MemoryRegion source, MemoryRegion sink, MemoryRegion back) {
    lines.add(region("source (A)", source));
    lines.add(region("sink (B)", sink));
    lines.add(region("read back (A)", back));
  }

  private static String region(String name, MemoryRegion region) {
    return "  %-15s %s, page list of level %d, %d PBLEs"
        .formatted(name, ByteSize.format(region.length()), region.pbleLevel(), region.pbleCount());
  }

  void written(long nanos, long inside) {
    writeNanos = nanos;
    writeInside = inside;
  }

  void read(long nanos, long inside) {
    readNanos = nanos;
    readInside = inside;
  }

  void messages(int messages, int immediates) {
    lines.add(
        "  %-15s %d by SEND, %d WRITEs with immediate".formatted("messages", messages, immediates));
  }

  void hashes(String source, String sink, String back) {
    agree = source.equals(sink) && source.equals(back);
    lines.add("  %-15s %s".formatted("SHA-256 source", source));
    lines.add("  %-15s %s".formatted("        sink", sink));
    lines.add("  %-15s %s".formatted("        back", back));
  }

  boolean hashesAgree() {
    return agree;
  }

  void counters(DeviceUsage a, DeviceUsage b) {
    row("send WQEs posted", a.sendRequests(), b.sendRequests());
    row("receive WQEs posted", a.receiveRequests(), b.receiveRequests());
    row("doorbells rung", a.doorbellsRung(), b.doorbellsRung());
    row("doorbells skipped", a.doorbellsSkipped(), b.doorbellsSkipped());
    row("completions", a.completions(), b.completions());
    row("interrupts", a.interrupts(), b.interrupts());
    row("control operations", a.controlOperations(), b.controlOperations());
    row("page lists, level 1", a.pbles().level1(), b.pbles().level1());
    row("page lists, level 2", a.pbles().level2(), b.pbles().level2());
    row("PBLEs in use", used(a), used(b));
    row("HMC segments", a.hmcSegments(), b.hmcSegments());
    row("HMC QP objects", a.hmcObjects().get(HmcObject.QP), b.hmcObjects().get(HmcObject.QP));
    row("HMC CQ objects", a.hmcObjects().get(HmcObject.CQ), b.hmcObjects().get(HmcObject.CQ));
    row("HMC MR objects", a.hmcObjects().get(HmcObject.MR), b.hmcObjects().get(HmcObject.MR));
  }

  /** What the simulated cards counted on the wire. */
  void wire(FunctionStatistics x, FunctionStatistics y) {
    row("packets sent", x.framesSent(), y.framesSent());
    row("packets received", x.framesReceived(), y.framesReceived());
    row("retransmissions", x.retransmissions(), y.retransmissions());
    row("timeouts", x.timeouts(), y.timeouts());
    row("NAKs sent", x.naksSent(), y.naksSent());
  }

  private static long used(DeviceUsage usage) {
    return usage.pbles().backed() - usage.pbles().free();
  }

  private void row(String what, long a, long b) {
    rows.add(new Row(what, Long.toString(a), Long.toString(b)));
  }

  /** Whether the file was moved to the end. */
  boolean isComplete() {
    return after[0] != null;
  }

  /** Whether no DMA memory is left. */
  boolean balanced() {
    return after[0].currentBytes() == 0 && after[1].currentBytes() == 0;
  }

  void print(PrintWriter out) {
    out.println();
    out.println("Summary");
    out.printf(
        Locale.ROOT,
        "  %-15s %s (%d bytes) from %s%n",
        "moved",
        ByteSize.format(options.bytes()),
        options.bytes(),
        options.file());
    out.printf(Locale.ROOT, "  %-15s %s%n", "WRITE A to B", speed(writeNanos, writeInside));
    out.printf(Locale.ROOT, "  %-15s %s%n", "READ back to A", speed(readNanos, readInside));
    lines.forEach(out::println);
    out.println();
    out.printf("  %-22s %14s %14s%n", "", "A", "B");
    for (Row row : rows) {
      out.printf("  %-22s %14s %14s%n", row.what(), row.a(), row.b());
    }
    out.printf(
        "  %-22s %14s %14s%n",
        "DMA memory before", ByteSize.format(before[0]), ByteSize.format(before[1]));
    out.printf(
        "  %-22s %14s %14s%n",
        "           at peak",
        ByteSize.format(after[0].peakBytes()),
        ByteSize.format(after[1].peakBytes()));
    out.printf(
        "  %-22s %14s %14s%n",
        "           after",
        ByteSize.format(after[0].currentBytes()),
        ByteSize.format(after[1].currentBytes()));
    out.println();
    if (!agree) {
      out.println("The copies DIFFER.");
    } else if (!balanced()) {
      out.println("The copies agree, but DMA memory was LEFT BEHIND.");
    } else {
      out.println("All three copies agree; all memory is back.");
    }
    out.flush();
  }

  private String speed(long nanos, long inside) {
    String real = "%.3f s, %.0f MB/s".formatted(nanos / 1e9, options.bytes() * 1e3 / nanos);
    return options.stepped()
        ? real
            + "; in the cards' own time %.3f ms, %.1f Gb/s"
                .formatted(inside / 1e6, options.bytes() * 8.0 / inside)
        : real;
  }
}
