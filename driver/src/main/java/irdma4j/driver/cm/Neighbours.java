package irdma4j.driver.cm;

import irdma4j.driver.DatagramPath;
import irdma4j.driver.Gid;
import irdma4j.uapi.EthernetPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * Address resolution on the LAN side of the port: ARP for IPv4, neighbour discovery for IPv6. It
 * answers for the port's own addresses and remembers what it is told.
 *
 * <p>Source: RFC 826; RFC 4861, 4.3, 4.4 and 7.2; RFC 2464, 7.
 */
final class Neighbours {
  /** How often a neighbour is asked for. */
  static final int ASKED = 3;

  /** Nanoseconds after which it is asked for again. */
  static final long ASK_AGAIN = 1_000_000_000;

  private static final long BROADCAST = 0xffff_ffff_ffffL;
  private static final int ETHERTYPE_ARP = 0x0806;
  private static final int ETHERTYPE_IPV6 = 0x86dd;
  private static final long ARP_IPV4 = 0x0001_0800_0604L;
  private static final int ETHERTYPE_VLAN = 0x8100;
  private static final int TAG = 4;
  private static final int ARP_REQUEST = 1;
  private static final int ARP_REPLY = 2;
  private static final int ARP_FRAME = 60;
  private static final int ICMPV6 = 58;
  private static final int SOLICITATION = 135;
  private static final int ADVERTISEMENT = 136;
  private static final int SOURCE_OPTION = 1;
  private static final int TARGET_OPTION = 2;
  private static final int SOLICITED_OVERRIDE = 0x6000_0000;
  private static final int IP = 14;
  private static final int ICMP = IP + 40;
  private static final int ICMP_BYTES = 32;
  private static final int MOST_KNOWN = 1024;
  private static final int MOST_AT_ONCE = 64;
  private static final long MAPPED = 0xffffL << 32;

  private final EthernetPort port;
  private final long mac;
  private final CmConfig config;
  private final MemorySegment in = Arena.ofAuto().allocate(EthernetPort.MAX_FRAME);
  private final MemorySegment out = Arena.ofAuto().allocate(128);
  private final Map<Gid, Long> known = new HashMap<>();

  /** Of the frame that came in. */
  private int tag = DatagramPath.NO_VLAN;

  Neighbours(EthernetPort port, long mac, CmConfig config) {
    this.port = port;
    this.mac = mac;
    this.config = config;
  }

  /** The MAC address of a neighbour, or -1 while it is not known. */
  long macOf(Gid gid) {
    return config.isOwn(gid) ? mac : known.getOrDefault(gid, -1L);
  }

  /** The MAC address of a neighbour; while it is not known, asks for it and answers -1. */
  long macOrAsk(LocalAddress own, Gid wanted) {
    long found = macOf(wanted);
    if (found < 0) {
      ask(own, wanted);
    }
    return found;
  }

  /** Forgets a neighbour who did not answer, so that it is asked for again. */
  void forget(Gid gid) {
    known.remove(gid);
  }

  /** Asks who has an address. */
  void ask(LocalAddress own, Gid wanted) {
    if (wanted.isIpv4()) {
      arp(ARP_REQUEST, BROADCAST, own, 0, wanted);
    } else {
      // The group of all who share the last 24 bits.
      Gid group = new Gid(0xff02L << 48, 1L << 32 | 0xff00_0000L | (wanted.low() & 0xff_ffff));
      icmp(group.multicastMac(), own, group, SOLICITATION, 0, wanted, SOURCE_OPTION);
    }
  }

  /** Handles what has come in. */
  void progress() {
    for (int i = 0; i < MOST_AT_ONCE; i++) {
      int bytes = port.receive(in);
      if (bytes == 0) {
        return;
      }
      tag = DatagramPath.NO_VLAN;
      if (bytes > IP + TAG && Bytes.get16(in, 12) == ETHERTYPE_VLAN) {
        tag = Bytes.get16(in, IP);
        bytes -= TAG;
        MemorySegment.copy(in, 12 + TAG, in, 12, bytes - 12);
      }
      int type = bytes < IP ? 0 : Bytes.get16(in, 12);
      if (type == ETHERTYPE_ARP && bytes >= IP + 28) {
        arpArrived();
      } else if (type == ETHERTYPE_IPV6 && bytes >= ICMP + 24) {
        ipv6Arrived(bytes);
      }
    }
  }

  private void learn(Gid gid, long from) {
    if (known.size() >= MOST_KNOWN && !known.containsKey(gid)) {
      known.clear();
    }
    known.put(gid, from);
  }

  private static Gid ipv4(MemorySegment m, long at) {
    return new Gid(0, MAPPED | Integer.toUnsignedLong(Bytes.get32(m, at)));
  }

  private void arpArrived() {
    if (Bytes.get48(in, IP) != ARP_IPV4) {
      return;
    }
    int operation = Bytes.get16(in, IP + 6);
    long senderMac = Bytes.get48(in, IP + 8);
    Gid sender = ipv4(in, IP + 14);
    Gid target = ipv4(in, IP + 24);
    LocalAddress own = config.local(target, tag);
    if (own != null || known.containsKey(sender)) {
      learn(sender, senderMac);
    }
    if (own != null && operation == ARP_REQUEST) {
      arp(ARP_REPLY, senderMac, own, senderMac, sender);
    }
  }

  private void arp(int operation, long to, LocalAddress own, long targetMac, Gid target) {
    out.fill((byte) 0);
    ethernet(to, ETHERTYPE_ARP);
    Bytes.set48(out, IP, ARP_IPV4);
    Bytes.set16(out, IP + 6, operation);
    Bytes.set48(out, IP + 8, mac);
    Bytes.set32(out, IP + 14, (int) own.gid().low());
    Bytes.set48(out, IP + 18, targetMac);
    Bytes.set32(out, IP + 24, (int) target.low());
    send(own, ARP_FRAME);
  }

  private void ipv6Arrived(int bytes) {
    int length = Bytes.get16(in, IP + 4);
    if (Bytes.get8(in, IP + 6) != ICMPV6
        || Bytes.get8(in, IP + 7) != 255
        || length < 24
        || ICMP + length > bytes
        || checksum(in, length) != 0) {
      return;
    }
    Gid sender = Bytes.gid(in, IP + 8);
    Gid target = Bytes.gid(in, ICMP + 8);
    switch (Bytes.get8(in, ICMP)) {
      case SOLICITATION -> {
        LocalAddress own = config.local(target, tag);
        if (own != null && !sender.equals(new Gid(0, 0))) {
          long from = option(SOURCE_OPTION, length);
          long to = from < 0 ? Bytes.get48(in, 6) : from;
          learn(sender, to);
          icmp(to, own, sender, ADVERTISEMENT, SOLICITED_OVERRIDE, target, TARGET_OPTION);
        }
      }
      case ADVERTISEMENT -> {
        long from = option(TARGET_OPTION, length);
        learn(target, from < 0 ? Bytes.get48(in, 6) : from);
      }
      default -> {}
    }
  }

  /** The link-layer address in an option of the frame that came in, or -1. */
  private long option(int wanted, int length) {
    int at = 24;
    while (at + 8 <= length) {
      int units = Bytes.get8(in, ICMP + at + 1);
      if (units == 0) {
        return -1;
      }
      if (Bytes.get8(in, ICMP + at) == wanted) {
        return Bytes.get48(in, ICMP + at + 2);
      }
      at += 8 * units;
    }
    return -1;
  }

  private void icmp(
      long to, LocalAddress own, Gid destination, int type, int flags, Gid target, int kind) {
    out.fill((byte) 0);
    ethernet(to, ETHERTYPE_IPV6);
    Bytes.set32(out, IP, 0x6000_0000);
    Bytes.set16(out, IP + 4, ICMP_BYTES);
    Bytes.set8(out, IP + 6, ICMPV6);
    Bytes.set8(out, IP + 7, 255);
    Bytes.set(out, IP + 8, own.gid());
    Bytes.set(out, IP + 24, destination);
    Bytes.set8(out, ICMP, type);
    Bytes.set32(out, ICMP + 4, flags);
    Bytes.set(out, ICMP + 8, target);
    Bytes.set8(out, ICMP + 24, kind);
    Bytes.set8(out, ICMP + 25, 1);
    Bytes.set48(out, ICMP + 26, mac);
    Bytes.set16(out, ICMP + 2, checksum(out, ICMP_BYTES));
    send(own, ICMP + ICMP_BYTES);
  }

  /** Sends the frame, with the tag of the address's VLAN. */
  private void send(LocalAddress own, int bytes) {
    int count = bytes;
    if (own.vlan() != DatagramPath.NO_VLAN) {
      MemorySegment.copy(out, 12, out, 12 + TAG, bytes - 12);
      Bytes.set16(out, 12, ETHERTYPE_VLAN);
      Bytes.set16(out, IP, own.vlan());
      count += TAG;
    }
    port.send(out, count);
  }

  /** Of the addresses, the length, the protocol and the message. */
  private static int checksum(MemorySegment frame, int length) {
    return Bytes.checksum(
        Bytes.sum(frame, IP + 8, 32) + length + ICMPV6 + Bytes.sum(frame, ICMP, length));
  }

  private void ethernet(long to, int type) {
    Bytes.set48(out, 0, to);
    Bytes.set48(out, 6, mac);
    Bytes.set16(out, 12, type);
  }
}
