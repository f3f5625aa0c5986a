package irdma4j.driver.ring;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.SqWqe;

/**
 * The WQEs that set up an iWARP connection: the first of a send queue, which {@link
 * SendQueue#reserveConnectionWqes} leaves to this. Nothing is rung: the device fetches them when
 * the queue pair enters RTS.
 *
 * <p>Source: Linux irdma_sc_send_lsmm, irdma_sc_send_rtt and irdma_sc_gen_rts_ae in ctrl.c.
 */
public final class ConnectionWqes {
  private static final int READ_ZERO_STAG = 0xabcd;
  private static final int READ_ZERO_KEY = 0x1234;

  private final SendQueue queue;
  private final boolean reportReady;

  /**
   * The connection WQEs of a queue.
   *
   * @param reportReady the device is to raise an event when the queue pair has entered RTS, which
   *     takes two more WQEs
   */
  public ConnectionWqes(SendQueue queue, boolean reportReady) {
    this.queue = queue;
    this.reportReady = reportReady;
  }

  /**
   * Sends the last message of the TCP stream, then waits for the peer's first FPDU.
   *
   * @param address virtual address of the message
   * @param length its bytes, 0 to 2^31 - 1
   * @param key lkey of the region that holds it
   * @throws irdma4j.hwregs.FieldRangeException if the length is too large
   */
  public void lastStreamMessage(long address, int length, int key) {
    long word8 =
        SqWqe.FRAG_STAG.encode(Integer.toUnsignedLong(key))
            | SqWqe.FRAG_LEN.encode(Integer.toUnsignedLong(length))
            | SqWqe.FRAG_VALID.encode(queue.polarity());
    write(
        0,
        address,
        word8,
        SqWqe.OPCODE.encode(SqOpcode.SEND.code())
            | SqWqe.STREAMMODE.encode(1)
            | SqWqe.WAITFORRCVPDU.encode(1));
    ready();
  }

  /** Reads nothing from the peer, which tells it that this side is ready. */
  public void readNothing() {
    write(
        0,
        0,
        READ_ZERO_STAG | SqWqe.FRAG_VALID.encode(queue.polarity()),
        SqWqe.OPCODE.encode(SqOpcode.RDMA_READ.code()) | SqWqe.REMSTAG.encode(READ_ZERO_KEY));
    ready();
  }

  /** Writes nothing to the peer, which tells it that this side is ready. */
  public void writeNothing() {
    write(
        0,
        0,
        SqWqe.FRAG_VALID.encode(queue.polarity()),
        SqWqe.OPCODE.encode(SqOpcode.RDMA_WRITE.code()));
    ready();
  }

  private void ready() {
    if (reportReady) {
      write(1, 0, 0, SqWqe.OPCODE.encode(SqOpcode.NOP.code()) | SqWqe.LOCALFENCE.encode(1));
      write(2, 0, 0, SqWqe.OPCODE.encode(SqOpcode.GEN_RTS_AE.code()));
    }
  }

  private void write(int index, long word0, long word8, long header) {
    long base = (long) index * RingSizes.QUANTUM;
    var memory = queue.memory();
    LittleEndian.setLong(memory, base, word0);
    LittleEndian.setLong(memory, base + 8, word8);
    LittleEndian.setLong(memory, base + 16, 0);
    LittleEndian.setLongRelease(memory, base + 24, header | SqWqe.VALID.encode(queue.polarity()));
  }
}
