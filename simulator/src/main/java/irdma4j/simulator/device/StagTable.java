package irdma4j.simulator.device;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.PageSize;
import irdma4j.hwregs.PbleEntry;
import irdma4j.hwregs.SqWqe;
import irdma4j.simulator.watch.Watch;
import irdma4j.simulator.wire.Payload;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The stags of a function: checks of an access, translation of an address over page lists of level
 * 0, 1 and 2, and the copies themselves.
 *
 * <p>An entry stands in its MR object in host memory; the device works on a decoded copy and drops
 * all copies when a segment descriptor changes. The check and the copies allocate nothing.
 */
final class StagTable {
  private static final int CHUNK_BITS = 10;
  private static final int CHUNK = 1 << CHUNK_BITS;

  private static final int UNALLOCATED = AeCode.AMP_UNALLOCATED_STAG.code();
  private static final int INVALID = AeCode.AMP_INVALID_STAG.code();
  private static final int BAD_QP = AeCode.AMP_BAD_QP.code();
  private static final int BAD_PD = AeCode.AMP_BAD_PD.code();
  private static final int BAD_KEY = AeCode.AMP_BAD_STAG_KEY.code();
  private static final int BAD_INDEX = AeCode.AMP_BAD_STAG_INDEX.code();
  private static final int BOUNDS = AeCode.AMP_BOUNDS_VIOLATION.code();
  private static final int RIGHTS = AeCode.AMP_RIGHTS_VIOLATION.code();
  private static final int WRAP = AeCode.AMP_TO_WRAP.code();
  private static final int ZERO = AeCode.STAG_ZERO_INVALID.code();
  private static final int NO_REMOTE = AeCode.AMP_INVALIDATE_NO_REMOTE_ACCESS_RIGHTS.code();
  private static final int TYPE_1 = AeCode.AMP_INVALIDATE_TYPE1_MW.code();
  private static final int BOUND = AeCode.AMP_INVALIDATE_MR_WITH_BOUND_WINDOWS.code();

  private static final int BIND_RIGHT = 0x10;

  private static final int REMOTE_RIGHTS = DeviceServices.REMOTE_READ | DeviceServices.REMOTE_WRITE;

  private final Device device;
  private final HmcWalk hmc;
  private final Iommu iommu;
  private final Watch watch;

  /** What is read, in hand. */
  private final Payload whole = new Payload();

  private @Nullable Stag[][] chunks = new Stag[0][];
  private long pblesRead;
  private long translationHits;

  StagTable(Device device, HmcWalk hmc, Iommu iommu, Watch watch) {
    this.device = device;
    this.hmc = hmc;
    this.iommu = iommu;
    this.watch = watch;
  }

  /** PBLEs fetched from host memory. */
  long pblesRead() {
    return pblesRead;
  }

  /** Page translations that the last pages of the region answered. */
  long translationHits() {
    return translationHits;
  }

  /** Forgets the decoded copies; the entries in host memory stay. */
  void dropCopies() {
    chunks = new Stag[0][];
  }

  /** The entry of an index; null if the index was not committed or has no memory. */
  @Nullable Stag find(int index) {
    int chunk = index >>> CHUNK_BITS;
    if (chunk < chunks.length && chunks[chunk] != null) {
      Stag known = chunks[chunk][index & (CHUNK - 1)];
      if (known != null) {
        return known;
      }
    }
    return load(index);
  }

  private @Nullable Stag load(int index) {
    long object = hmc.object(HmcObject.MR, index);
    if (object == HmcWalk.FAULT) {
      return null;
    }
    Stag entry = new Stag();
    entry.load(device, object);
    int chunk = index >>> CHUNK_BITS;
    if (chunk >= chunks.length) {
      chunks = Arrays.copyOf(chunks, chunk + 1);
    }
    if (chunks[chunk] == null) {
      chunks[chunk] = new Stag[CHUNK];
    }
    chunks[chunk][index & (CHUNK - 1)] = entry;
    return entry;
  }

  /** Writes an entry through to its object; if that cannot be, the change is forgotten. */
  boolean store(int index, Stag entry) {
    entry.runLength = 0;
    long object = hmc.object(HmcObject.MR, index);
    if (object != HmcWalk.FAULT && entry.store(device, object)) {
      return true;
    }
    @Nullable Stag[] chunk = chunks[index >>> CHUNK_BITS];
    if (chunk != null) {
      chunk[index & (CHUNK - 1)] = null;
    }
    return false;
  }

  /** As {@link DeviceServices#checkAccess}. */
  int check(int stag, long address, long bytes, int rights, int pdId, int qpId) {
    int index = stag >>> 8;
    if (index == 0) {
      return ZERO;
    }
    if (index >= hmc.count(HmcObject.MR)) {
      return BAD_INDEX;
    }
    Stag entry = find(index);
    if (entry == null || entry.state == Stag.FREE) {
      return UNALLOCATED;
    }
    if (entry.key != (stag & 0xff)) {
      return BAD_KEY;
    }
    if (entry.state != Stag.VALID) {
      return INVALID;
    }
    if (entry.pdId != pdId) {
      return BAD_PD;
    }
    if (entry.kind == Stag.WINDOW_TYPE_2 && entry.qpId != qpId) {
      return BAD_QP;
    }
    if ((entry.rights & rights) != rights || ((rights & REMOTE_RIGHTS) != 0 && !entry.remote)) {
      return RIGHTS;
    }
    if (bytes == 0) {
      return DeviceServices.ACCESS_OK;
    }
    long offset = entry.addressBased ? address - entry.address : address;
    if (bytes < 0 || Long.compareUnsigned(address + bytes - 1, address) < 0) {
      return WRAP;
    }
    if (Long.compareUnsigned(offset, entry.length) >= 0 || bytes > entry.length - offset) {
      return BOUNDS;
    }
    return DeviceServices.ACCESS_OK;
  }

  /** As {@link DeviceServices#readRegion}. */
  boolean read(int stag, long address, MemorySegment target, long targetOffset, long bytes) {
    whole.clear();
    if (!lend(stag, address, whole, bytes)) {
      return false;
    }
    whole.copyTo(0, target, targetOffset, bytes);
    return true;
  }

  /** As {@link DeviceServices#lendRegion}. */
  boolean lend(int stag, long address, Payload payload, long bytes) {
    return reach(stag, address, bytes, false, payload, 0);
  }

  /** As {@link DeviceServices#writeRegion}. */
  boolean write(int stag, long address, Payload source, long from, long bytes) {
    return reach(stag, address, bytes, true, source, from);
  }

  /** Lends each part of a range that lies in one page, or writes it. */
  private boolean reach(
      int stag, long address, long bytes, boolean writes, Payload payload, long from) {
    Stag entry = mapping(stag);
    if (entry == null) {
      return false;
    }
    long position = position(stag, entry, address);
    long at = from;
    long left = bytes;
    while (left > 0) {
      long n = Math.min(left, room(entry, position));
      long iova = translate(entry, position);
      watch.region(stag, address + bytes - left, n, iova);
      if (iova == HmcWalk.FAULT
          || !(writes ? iommu.write(iova, payload, at, n) : iommu.lend(iova, payload, n))) {
        return false;
      }
      position += n;
      at += n;
      left -= n;
    }
    return true;
  }

  /** As {@link DeviceServices#invalidateStag}. */
  int invalidate(int stag, int pdId, int qpId, boolean byPeer) {
    int index = stag >>> 8;
    if (index == 0) {
      return ZERO;
    }
    if (index >= hmc.count(HmcObject.MR)) {
      return BAD_INDEX;
    }
    Stag entry = find(index);
    if (entry == null || entry.state == Stag.FREE) {
      return UNALLOCATED;
    }
    if (entry.key != (stag & 0xff)) {
      return BAD_KEY;
    }
    if (entry.pdId != pdId) {
      return BAD_PD;
    }
    if (entry.kind == Stag.WINDOW_TYPE_1) {
      return TYPE_1;
    }
    if (entry.kind == Stag.WINDOW_TYPE_2 && entry.state == Stag.VALID && entry.qpId != qpId) {
      return BAD_QP;
    }
    if (byPeer && !entry.remote) {
      return NO_REMOTE;
    }
    if (entry.windows > 0) {
      return BOUND;
    }
    unbind(entry);
    entry.state = Stag.INVALID;
    store(index, entry);
    return DeviceServices.ACCESS_OK;
  }

  /** As {@link DeviceServices#fastRegister}. */
  int fastRegister(long word0, long word1, long word2, long header, int pdId) {
    int index = (int) SqWqe.STAGINDEX.decode(header);
    int found = usable(index, pdId);
    if (found != DeviceServices.ACCESS_OK) {
      return found;
    }
    Stag entry = find(index);
    if (entry == null || entry.kind != Stag.REGION) {
      return AeCode.AMP_FASTREG_MW_STAG.code();
    }
    int rights = (int) SqWqe.STAGRIGHTS.decode(header);
    PageSize pageSize = PageSize.ofCode((int) SqWqe.HPAGESIZE.decode(header));
    int level = (int) SqWqe.LPBLSIZE.decode(header);
    long length = SqWqe.STAGLEN.decode(word2);
    if (entry.state == Stag.VALID) {
      return AeCode.AMP_FASTREG_VALID_STAG.code();
    }
    if ((rights & REMOTE_RIGHTS) != 0 && !entry.remote) {
      return AeCode.AMP_FASTREG_INVALID_RIGHTS.code();
    }
    if (length == 0 || length > entry.capacity) {
      return AeCode.AMP_FASTREG_INVALID_LENGTH.code();
    }
    if (pageSize == null || level == 2) {
      return AeCode.AMP_FASTREG_INVALID_PBL_HPS_CFG.code();
    }
    boolean addressBased = SqWqe.VABASEDTO.isSet(header);
    if (!addressBased && Long.compareUnsigned(word0, pageSize.bytes()) >= 0) {
      return AeCode.AMP_FASTREG_INVALID_LENGTH.code();
    }
    entry.state = Stag.VALID;
    entry.key = (int) SqWqe.STAGKEY.decode(header);
    entry.rights = rights;
    entry.addressBased = addressBased;
    entry.pageBits = pageSize.shift();
    entry.level = level == 3 ? 2 : level;
    entry.address = word0;
    entry.length = length;
    entry.physical = word1 & SqWqe.PBLADDR.mask();
    entry.firstPble =
        SqWqe.FIRSTPMPBLIDXHI.decode(word1) << 16 | SqWqe.FIRSTPMPBLIDXLO.decode(word2);
    return store(index, entry) ? DeviceServices.ACCESS_OK : UNALLOCATED;
  }

  /** As {@link DeviceServices#bindWindow}. */
  int bind(long word0, long word1, long word2, long header, int pdId, int qpId) {
    int windowStag = (int) SqWqe.MWSTAG.decode(word1);
    int parentStag = (int) SqWqe.PARENTMRSTAG.decode(word1);
    int found = usable(windowStag >>> 8, pdId);
    if (found != DeviceServices.ACCESS_OK) {
      return found;
    }
    Stag window = find(windowStag >>> 8);
    if (window == null || window.kind == Stag.REGION) {
      return AeCode.AMP_MWBIND_OF_MR_STAG.code();
    }
    boolean narrow = SqWqe.MEMWINDOWTYPE.isSet(header);
    boolean addressBased = SqWqe.VABASEDTO.isSet(header);
    if (narrow != (window.kind == Stag.WINDOW_TYPE_1)) {
      return AeCode.AMP_MWBIND_WRONG_TYPE.code();
    }
    if (!narrow && window.state == Stag.VALID) {
      return AeCode.AMP_MWBIND_VALID_STAG.code();
    }
    if (narrow && !addressBased) {
      return AeCode.AMP_MWBIND_ZERO_BASED_TYPE1_MW.code();
    }
    if (narrow && word2 == 0) {
      unbind(window);
      window.state = Stag.INVALID;
      window.key = windowStag & 0xff;
      return store(windowStag >>> 8, window) ? DeviceServices.ACCESS_OK : UNALLOCATED;
    }
    int rights = (int) SqWqe.STAGRIGHTS.decode(header);
    int refusal = parentRefuses(parentStag, word0, word2, rights, pdId);
    Stag parent = find(parentStag >>> 8);
    if (refusal != DeviceServices.ACCESS_OK || parent == null) {
      return refusal;
    }
    unbind(window);
    window.state = Stag.VALID;
    window.key = windowStag & 0xff;
    window.rights = rights;
    window.remote = true;
    window.addressBased = addressBased;
    window.address = word0;
    window.length = word2;
    window.parent = parentStag;
    window.qpId = qpId;
    parent.windows++;
    store(parentStag >>> 8, parent);
    return store(windowStag >>> 8, window) ? DeviceServices.ACCESS_OK : UNALLOCATED;
  }

  private int parentRefuses(int parentStag, long address, long length, int rights, int pdId) {
    int found = usable(parentStag >>> 8, pdId);
    Stag parent = found == DeviceServices.ACCESS_OK ? find(parentStag >>> 8) : null;
    if (parent == null) {
      return found == BAD_PD ? found : AeCode.AMP_MWBIND_TO_INVALID_PARENT.code();
    }
    if (parent.kind != Stag.REGION) {
      return AeCode.AMP_MWBIND_TO_MW_STAG.code();
    }
    if (parent.state != Stag.VALID) {
      return AeCode.AMP_MWBIND_TO_INVALID_PARENT.code();
    }
    if (parent.key != (parentStag & 0xff)) {
      return BAD_KEY;
    }
    if ((parent.rights & BIND_RIGHT) == 0) {
      return AeCode.AMP_MWBIND_BIND_DISABLED.code();
    }
    if (!parent.addressBased) {
      return AeCode.AMP_MWBIND_TO_ZERO_BASED_STAG.code();
    }
    boolean writes = (rights & DeviceServices.REMOTE_WRITE) != 0;
    if ((rights & ~REMOTE_RIGHTS) != 0
        || (writes && (parent.rights & DeviceServices.LOCAL_WRITE) == 0)) {
      return AeCode.AMP_MWBIND_INVALID_RIGHTS.code();
    }
    long offset = address - parent.address;
    if (Long.compareUnsigned(offset, parent.length) >= 0
        || Long.compareUnsigned(length, parent.length - offset) > 0) {
      return AeCode.AMP_MWBIND_INVALID_BOUNDS.code();
    }
    return DeviceServices.ACCESS_OK;
  }

  /** Whether a stag is allocated, in the protection domain. */
  private int usable(int index, int pdId) {
    if (index == 0) {
      return ZERO;
    }
    if (index >= hmc.count(HmcObject.MR)) {
      return BAD_INDEX;
    }
    Stag entry = find(index);
    if (entry == null || entry.state == Stag.FREE) {
      return UNALLOCATED;
    }
    return entry.pdId == pdId ? DeviceServices.ACCESS_OK : BAD_PD;
  }

  /** A window lets go of its region. */
  void unbind(Stag entry) {
    if (entry.kind == Stag.REGION || entry.state != Stag.VALID) {
      return;
    }
    Stag parent = find(entry.parent >>> 8);
    if (parent != null && parent.windows > 0) {
      parent.windows--;
      store(entry.parent >>> 8, parent);
    }
  }

  private @Nullable Stag mapping(int stag) {
    Stag entry = find(stag >>> 8);
    if (entry != null && entry.kind != Stag.REGION) {
      entry = find(entry.parent >>> 8);
    }
    return entry == null || entry.state != Stag.VALID ? null : entry;
  }

  private long position(int stag, Stag region, long address) {
    Stag named = find(stag >>> 8);
    if (named != null && named != region && !named.addressBased) {
      return region.position(named.address + address);
    }
    return region.position(address);
  }

  private static long room(Stag entry, long position) {
    long page = 1L << entry.pageBits;
    return entry.level == 0 ? Long.MAX_VALUE : page - (position & (page - 1));
  }

  private long translate(Stag entry, long position) {
    if (entry.level == 0) {
      return entry.physical + position;
    }
    long page = position >>> entry.pageBits;
    long inPage = position & ((1L << entry.pageBits) - 1);
    long ahead = page - entry.runFirst;
    if (ahead >= 0 && ahead < entry.runLength) {
      translationHits++;
      return entry.run[(int) ahead] + inPage;
    }
    return readRun(entry, page) ? entry.run[0] + inPage : HmcWalk.FAULT;
  }

  /**
   * Translates a page, and with it those behind it if the last one translated was that before it:
   * then the message goes on.
   */
  private boolean readRun(Stag entry, long page) {
    boolean goesOn = entry.runLength != 0 && page == entry.runFirst + entry.runLength;
    int most = goesOn ? Math.clamp(entry.lastPage() - page + 1, 1, Stag.RUN) : 1;
    entry.runLength = 0;
    long index = entry.firstPble + page;
    if (entry.level > 1) {
      long root = hmc.pble(entry.firstPble + (page >>> 9));
      pblesRead++;
      if (root == HmcWalk.FAULT) {
        return false;
      }
      index = PbleEntry.LEAF_INDEX.decode(root) + (page & 511);
      most = Math.min(most, 512 - (int) (page & 511));
    }
    int count = hmc.pbles(index, most, entry.run);
    pblesRead += Math.max(1, count);
    for (int i = 0; i < count; i++) {
      entry.run[i] &= PbleEntry.ADDRESS.mask();
      iommu.prefetch(entry.run[i]);
    }
    entry.runFirst = page;
    entry.runLength = count;
    return count != 0;
  }
}
