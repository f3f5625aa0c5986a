package irdma4j.hwregs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The members of a multicast group: up to eight words, each a queue pair that gets a copy of the
 * group's packets. Members stand first; the rest is 0.
 *
 * <p>Source: Linux irdma_create_mg_ctx in uda.c and uda_d.h.
 */
public final class MulticastContext {
  /** Most members. */
  public static final int MEMBERS = 8;

  /** Size of all members in bytes. */
  public static final int SIZE = 8 * MEMBERS;

  /** Queue pair of the member. */
  public static final Field QPID = Field.bits("QPID", 0, 17, 0, "Queue pair of the member");

  /** Physical function of the member. */
  public static final Field PFID = Field.bits("PFID", 0, 21, 18, "Physical function of the member");

  /** Virtual function of the member. */
  public static final Field VFID = Field.bits("VFID", 0, 28, 22, "Virtual function of the member");

  /** The member belongs to a virtual function. */
  public static final Field VFFLAG =
      Field.bit("VFFLAG", 0, 29, "The member belongs to a virtual function");

  /** The member takes packets to any port. */
  public static final Field FLAGIGNOREDPORT =
      Field.bit("FLAGIGNOREDPORT", 0, 30, "The member takes packets to any port");

  /** The word holds a member. */
  public static final Field VALIDENT = Field.bit("VALIDENT", 0, 31, "The word holds a member");

  /** UDP port of the packets. */
  public static final Field DESTPORT = Field.bits("DESTPORT", 0, 47, 32, "UDP port of the packets");

  /** One member. */
  public static final Layout LAYOUT =
      Layout.of(
          "multicast-member",
          8,
          "A member of a multicast group",
          QPID,
          PFID,
          VFID,
          VFFLAG,
          FLAGIGNOREDPORT,
          VALIDENT,
          DESTPORT);

  private MulticastContext() {}

  /**
   * A queue pair that gets a copy of the group's packets.
   *
   * @param qpId number of the queue pair
   * @param port UDP port of the packets
   */
  public record Member(int qpId, int port) {
    long word() {
      return QPID.encode(Integer.toUnsignedLong(qpId))
          | DESTPORT.encode(Integer.toUnsignedLong(port))
          | VALIDENT.encode(true);
    }
  }

  /**
   * Writes all members.
   *
   * @param memory memory with {@link #SIZE} bytes at {@code base}
   * @throws FieldRangeException if a value does not fit its field; nothing was written
   */
  public static void encode(MemorySegment memory, long base, List<Member> members) {
    if (members.size() > MEMBERS) {
      throw new IllegalArgumentException(
          members.size() + " members: a group has at most " + MEMBERS);
    }
    long[] words = new long[MEMBERS];
    for (int i = 0; i < members.size(); i++) {
      words[i] = members.get(i).word();
    }
    for (int i = 0; i < MEMBERS; i++) {
      LittleEndian.setLong(memory, base + 8L * i, words[i]);
    }
  }

  /** Reads all members. */
  public static List<Member> decode(MemorySegment memory, long base) {
    List<Member> members = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      long word = LittleEndian.getLong(memory, base + 8L * i);
      if (VALIDENT.isSet(word)) {
        members.add(new Member((int) QPID.decode(word), (int) DESTPORT.decode(word)));
      }
    }
    return members;
  }
}
