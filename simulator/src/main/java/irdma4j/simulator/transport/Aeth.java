package irdma4j.simulator.transport;

/**
 * The syndrome of an AETH and the code of the RNR timer. Source: InfiniBand Architecture
 * Specification, volume 1, 9.7.5.1 and 9.7.5.2.8.
 */
final class Aeth {
  static final int KIND_MASK = 0x60;
  static final int VALUE_MASK = 0x1f;
  static final int KIND_ACK = 0x00;
  static final int KIND_RNR = 0x20;
  static final int KIND_NAK = 0x60;

  static final int NAK_SEQUENCE = 0x60;
  static final int NAK_INVALID_REQUEST = 0x61;
  static final int NAK_REMOTE_ACCESS = 0x62;
  static final int NAK_REMOTE_OPERATION = 0x63;

  /** The credit value that leaves the requester without a limit. */
  static final int CREDITS_UNLIMITED = 31;

  private static final int[] CREDITS = {
    0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048,
    3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768
  };

  private static final int[] RNR_MICROSECONDS = {
    655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120,
    7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520
  };

  private Aeth() {}

  /** Receives that a credit code of 0 to 30 stands for. */
  static int credits(int code) {
    return CREDITS[code];
  }

  /** How long an RNR NAK's timer code asks the requester to wait. */
  static long rnrNanos(int code) {
    return RNR_MICROSECONDS[code] * 1000L;
  }
}
