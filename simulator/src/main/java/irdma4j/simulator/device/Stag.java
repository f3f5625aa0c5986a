package irdma4j.simulator.device;

/**
 * A stag entry as the device works with it: decoded from, and written through to, its MR object in
 * the HMC. Regions map and protect; windows protect only, on their region's map.
 *
 * <pre>
 *   word 0  base address, or offset of the first byte in its page
 *   word 1  length 45..0, protection domain 63..46
 *   word 2  key 7..0, rights 12..8, state 15..14, kind 17..16, level 19..18, page size 21..20,
 *           remote 22, virtual-address based 23, parent stag 63..32
 *   word 3  IOVA of the first page
 *   word 4  first PBLE 27..0, queue pair 55..32
 *   word 5  bound windows
 *   word 6  the most bytes that a fast registration may have
 * </pre>
 */
final class Stag {
  static final int FREE = 0;
  static final int INVALID = 1;
  static final int VALID = 2;

  /** Pages whose translation is kept, at most. */
  static final int RUN = 16;

  static final int REGION = 0;
  static final int WINDOW_TYPE_1 = 1;
  static final int WINDOW_TYPE_2 = 2;

  int state;
  int kind;
  int key;
  int pdId;
  int rights;
  boolean remote;
  boolean addressBased;
  int level;
  int pageBits;
  long address;
  long length;
  long physical;
  long firstPble;
  int parent;
  int qpId;
  int windows;
  long capacity;

  // The IOVAs of the pages that were translated last, which follow each other in the region.
  final long[] run = new long[RUN];
  long runFirst;
  int runLength;

  /** Where an address lies, counted from the start of the region's first page. */
  long position(long at) {
    return addressBased ? (address & ((1L << pageBits) - 1)) + (at - address) : address + at;
  }

  /** The number of the region's last page, counted from its first. */
  long lastPage() {
    long first = addressBased ? address & ((1L << pageBits) - 1) : address;
    return (first + length - 1) >>> pageBits;
  }

  /** Writes it to its object, which lies in one page; false if there is no memory. */
  boolean store(Device device, long object) {
    if (!device.writeHostWord(object, address)) {
      return false;
    }
    device.writeHostWord(object + 8, length | (long) pdId << 46);
    device.writeHostWord(
        object + 16,
        key
            | (long) rights << 8
            | (long) state << 14
            | (long) kind << 16
            | (long) level << 18
            | (long) ((pageBits - 12) / 9) << 20
            | (remote ? 1L << 22 : 0)
            | (addressBased ? 1L << 23 : 0)
            | Integer.toUnsignedLong(parent) << 32);
    device.writeHostWord(object + 24, physical);
    device.writeHostWord(object + 32, firstPble | (long) qpId << 32);
    device.writeHostWord(object + 40, windows);
    device.writeHostWord(object + 48, capacity);
    return true;
  }

  void load(Device device, long object) {
    address = device.readHostWord(object);
    long word1 = device.readHostWord(object + 8);
    length = word1 & ((1L << 46) - 1);
    pdId = (int) (word1 >>> 46);
    long word2 = device.readHostWord(object + 16);
    key = (int) word2 & 0xff;
    rights = (int) (word2 >>> 8) & 0x1f;
    state = (int) (word2 >>> 14) & 3;
    kind = (int) (word2 >>> 16) & 3;
    level = (int) (word2 >>> 18) & 3;
    pageBits = 12 + 9 * ((int) (word2 >>> 20) & 3);
    remote = (word2 >>> 22 & 1) != 0;
    addressBased = (word2 >>> 23 & 1) != 0;
    parent = (int) (word2 >>> 32);
    physical = device.readHostWord(object + 24);
    long word4 = device.readHostWord(object + 32);
    firstPble = word4 & ((1L << 28) - 1);
    qpId = (int) (word4 >>> 32) & 0xffffff;
    windows = (int) device.readHostWord(object + 40);
    capacity = device.readHostWord(object + 48);
    runLength = 0;
  }
}
