package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.cqp.AddArp;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.DeleteArp;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * The card's ARP table holds an entry for each address in use, with its MAC address, and nothing
 * else but what the card would not delete, whichever operation it refuses.
 *
 * <p>Fails if an entry goes while it has users, stays when it has none, names another MAC address,
 * is changed under its users, or an index is lost or used twice.
 */
class ArpTableProperties {
  private static final int ADDRESSES = 4;
  private static final int ENTRIES = 4;
  private static final int REFUSED = 0x8001;

  private final Map<Integer, Long> onCard = new HashMap<>();

  private void follow(List<ScriptedCard.Event> events, boolean refused) {
    List<ScriptedCard.Event.Wqe> wqes =
        events.stream()
            .filter(ScriptedCard.Event.Wqe.class::isInstance)
            .map(ScriptedCard.Event.Wqe.class::cast)
            .toList();
    for (ScriptedCard.Event.Wqe one :
        wqes.subList(refused ? Math.min(1, wqes.size()) : 0, wqes.size())) {
      MemorySegment wqe = MemorySegment.ofArray(new long[8]);
      byte[] bytes = HexFormat.of().parseHex(one.hex());
      MemorySegment.copy(bytes, 0, wqe, ValueLayout.JAVA_BYTE, 0, bytes.length);
      switch (CqpCommand.decode(wqe, 0)) {
        case AddArp add -> {
          assertTrue(add.valid() && add.permanent(), add::toString);
          assertEquals(null, onCard.put(add.index(), add.macAddress()), "twice: " + add);
        }
        case DeleteArp delete ->
            assertTrue(onCard.remove(delete.index()) != null, "not there: " + delete);
        case null, default -> {}
      }
    }
  }

  @Property(tries = 500)
  void entriesAreThereWhileTheyHaveUsers(@ForAll long seed) {
    onCard.clear();
    Random random = new Random(seed);
    try (ScriptedCard card = new ScriptedCard()) {
      ControlQueue control = Bench.control(card, 64);
      ControlCompletions completions = Bench.completions(card, control, 128);
      ArpTable table = new ArpTable(control, ENTRIES + 1);
      List<ArpEntry> users = new ArrayList<>();
      card.take();
      for (int step = 0; step < 60; step++) {
        boolean refused = random.nextInt(5) == 0;
        card.failOnce(refused ? 1 : 0, new ScriptedCard.Failure(0xffff, REFUSED));
        if (!users.isEmpty() && random.nextBoolean()) {
          ArpEntry one = users.remove(random.nextInt(users.size()));
          try {
            table.release(one);
          } catch (ControlQueueException e) {
            assertEquals(REFUSED, e.minor());
          }
        } else {
          Gid gid = Gid.of("10.0.0." + (1 + random.nextInt(ADDRESSES)));
          long mac = 0x0200_0000_0000L | random.nextInt(2);
          boolean taken =
              users.stream().anyMatch(one -> one.gid().equals(gid) && one.macAddress() != mac);
          if (taken) {
            assertThrows(RdmaException.class, () -> table.resolve(gid, mac));
          } else {
            try {
              ArpEntry entry = table.resolve(gid, mac);
              assertEquals(gid, entry.gid());
              assertEquals(mac, entry.macAddress());
              users.add(entry);
            } catch (ControlQueueException e) {
              assertEquals(REFUSED, e.minor());
            }
          }
        }
        follow(card.take(), refused);
        for (ArpEntry one : users) {
          assertEquals(one.macAddress(), onCard.get(one.index()), "entry " + one.index());
        }
        long wanted = users.stream().map(ArpEntry::gid).distinct().count();
        long indices = users.stream().map(ArpEntry::index).distinct().count();
        assertEquals(wanted, indices);
        assertTrue(onCard.size() >= wanted && onCard.size() <= ADDRESSES);
      }
      card.failOnce(0, new ScriptedCard.Failure(0, 0));
      users.forEach(table::release);
      // What a refusal left behind is taken by its next user.
      for (int i = 1; i <= ADDRESSES; i++) {
        table.release(table.resolve(Gid.of("10.0.0." + i), 0x0200_0000_0009L));
      }
      follow(card.take(), false);
      assertEquals(Map.of(), onCard);
      Bench.close(control, completions);
    }
  }
}
