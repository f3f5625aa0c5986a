package irdma4j.hwregs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/**
 * Every bit that an input of Linux's driver was seen to reach belongs to a field of the layout. It
 * fails if a field is in another word, is shifted, or is too narrow.
 */
class FieldMapTest {
  private static final Map<String, String> LAYOUTS =
      Map.ofEntries(
          Map.entry("irdma_sc_qp_create", "cqp/create-qp"),
          Map.entry("irdma_sc_qp_modify", "cqp/modify-qp"),
          Map.entry("irdma_sc_qp_destroy", "cqp/destroy-qp"),
          Map.entry("irdma_sc_gen_ae", "cqp/flush-wqes"),
          Map.entry("irdma_sc_qp_upload_context", "cqp/upload-context"),
          Map.entry("irdma_sc_manage_push_page", "cqp/manage-push-page"),
          Map.entry("irdma_sc_suspend_qp", "cqp/suspend-qp"),
          Map.entry("irdma_sc_resume_qp", "cqp/resume-qp"),
          Map.entry("irdma_sc_cq_create", "cqp/create-cq"),
          Map.entry("irdma_sc_cq_destroy", "cqp/destroy-cq"),
          Map.entry("irdma_sc_ccq_destroy", "cqp/destroy-cq"),
          Map.entry("irdma_sc_cq_modify", "cqp/modify-cq"),
          Map.entry("irdma_sc_ceq_create", "cqp/create-ceq"),
          Map.entry("irdma_sc_ceq_destroy", "cqp/destroy-ceq"),
          Map.entry("irdma_sc_aeq_create", "cqp/create-aeq"),
          Map.entry("irdma_sc_aeq_destroy", "cqp/destroy-aeq"),
          Map.entry("irdma_sc_alloc_stag", "cqp/alloc-stag"),
          Map.entry("irdma_sc_mr_reg_non_shared", "cqp/reg-mr"),
          Map.entry("irdma_sc_dealloc_stag", "cqp/dealloc-stag"),
          Map.entry("irdma_sc_mw_alloc", "cqp/alloc-mw"),
          Map.entry("irdma_sc_add_arp_cache_entry", "cqp/add-arp"),
          Map.entry("irdma_sc_del_arp_cache_entry", "cqp/delete-arp"),
          Map.entry("irdma_sc_manage_apbvt_entry", "cqp/manage-apbvt"),
          Map.entry("irdma_sc_manage_qhash_table_entry", "cqp/manage-quad-hash"),
          Map.entry("irdma_sc_add_local_mac_entry", "cqp/add-local-mac"),
          Map.entry("irdma_sc_del_local_mac_entry", "cqp/delete-local-mac"),
          Map.entry("irdma_sc_manage_stats_inst", "cqp/manage-stats"),
          Map.entry("irdma_sc_gather_stats", "cqp/gather-stats"),
          Map.entry("irdma_sc_manage_ws_node", "cqp/work-sched-node"),
          Map.entry("irdma_sc_set_up_map", "cqp/set-up-map"),
          Map.entry("irdma_sc_query_fpm_val", "cqp/query-fpm"),
          Map.entry("irdma_sc_commit_fpm_val", "cqp/commit-fpm"),
          Map.entry("irdma_sc_static_hmc_pages_allocated", "cqp/shmc-pages-allocated"),
          Map.entry("irdma_sc_manage_hmc_pm_func_table", "cqp/manage-hmc-function"),
          Map.entry("irdma_sc_query_rdma_features", "cqp/query-rdma-features"),
          Map.entry("cqp_sds_wqe_fill(update_pe_sds)", "cqp/update-pe-sds"),
          Map.entry("irdma_sc_access_ah", "cqp/address-handle"),
          Map.entry("irdma_access_mcast_grp", "cqp/multicast-group"),
          Map.entry("irdma_sc_qp_setctx", "iwarp-context"),
          Map.entry("irdma_sc_qp_setctx_roce", "roce-context"),
          Map.entry("irdma_uk_post_receive", "rq"),
          Map.entry("irdma_sc_mr_fast_register", "sq/fast-register"),
          Map.entry("irdma_nop", "sq/nop"),
          Map.entry("irdma_uk_inline_rdma_write", "sq/inline"),
          Map.entry("irdma_uk_inline_send", "sq/inline"),
          Map.entry("irdma_uk_rdma_read", "sq/read"),
          Map.entry("irdma_uk_rdma_read(inv_stag)", "sq/read"),
          Map.entry("irdma_uk_rdma_write", "sq/write"),
          Map.entry("irdma_uk_send", "sq/send"),
          Map.entry("irdma_uk_stag_local_invalidate", "sq/local-invalidate"),
          Map.entry("irdma_uk_mw_bind", "sq/bind-mw"));

  private record Row(String line, String function, String field, String offset, String mask) {}

  @Test
  void everyBitBelongsToAField() throws IOException {
    Map<String, Layout> layouts =
        Layouts.all().stream().collect(Collectors.toMap(Layout::name, layout -> layout));
    List<Row> rows = rows();
    List<String> failures = new ArrayList<>();
    int inFields = 0;
    int never = 0;
    int further = 0;
    int several = 0;
    for (Row row : rows) {
      String name = LAYOUTS.get(row.function());
      assertNotNull(name, "no layout for " + row.function());
      Layout layout = layouts.get(name);
      assertNotNull(layout, name);
      if (row.offset().equals("NEVER")) {
        never++;
        continue;
      }
      int offset = Integer.parseInt(row.offset());
      if (offset >= layout.size()) {
        // A further fragment repeats the two words of the first; the ring suites judge its bytes.
        assertEquals("sges", row.field(), row.line());
        further++;
        continue;
      }
      long mask = Long.parseUnsignedLong(row.mask().substring(2), 16);
      List<Field> word =
          layout.fields().stream().filter(field -> field.offset() == offset).toList();
      if (word.stream().anyMatch(field -> (mask & ~field.mask()) == 0)) {
        inFields++;
      } else if ((mask & ~word.stream().mapToLong(Field::mask).reduce(0, (x, y) -> x | y)) == 0) {
        // Two inputs that were only varied together, or one that decides whether others count.
        several++;
      } else {
        failures.add(row.line());
      }
    }
    System.out.printf(
        "fieldmap: %d rows: %d in one field, %d in several, %d inputs that reach no bit, %d of"
            + " further fragments, %d failed%n",
        rows.size(), inFields, several, never, further, failures.size());
    assertEquals(List.of(), failures);
  }

  private static List<Row> rows() throws IOException {
    List<Row> rows = new ArrayList<>();
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(new GZIPInputStream(open()), StandardCharsets.UTF_8))) {
      String line = reader.readLine();
      while ((line = reader.readLine()) != null) {
        List<String> columns = List.of(line.split(",", -1));
        rows.add(new Row(line, columns.get(1), columns.get(3), columns.get(4), columns.get(8)));
      }
    }
    return rows;
  }

  private static InputStream open() throws IOException {
    String folder = System.getProperty("irdma4j.vectors");
    if (folder != null && Files.exists(Path.of(folder, "fieldmap.csv.gz"))) {
      return Files.newInputStream(Path.of(folder, "fieldmap.csv.gz"));
    }
    InputStream found = FieldMapTest.class.getResourceAsStream("/vectors/fieldmap.csv.gz");
    assertNotNull(found);
    return found;
  }
}
