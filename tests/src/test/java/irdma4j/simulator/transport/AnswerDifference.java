package irdma4j.simulator.transport;

import irdma4j.simulator.wire.BthOpcode;

/**
 * How an answer of the responder may differ from soft-RoCE's, each with the rule of the InfiniBand
 * Architecture Specification, volume 1, that lets it. Everything that a difference does not name is
 * the same.
 */
enum AnswerDifference {
  /** 9.7.5.2.8: how long the requester is to wait is the responder's to say. */
  RNR_TIMER {
    @Override
    CapturedAnswer asOurs(CapturedAnswer theirs, CapturedAnswer ours) {
      return theirs.syndrome() == THEIR_RNR ? theirs.withSyndrome(OUR_RNR) : theirs;
    }
  },

  /**
   * 9.4.4: a READ asked for again from its middle is a request of its own length, whose answer has
   * the PSNs and the data of the first one. So it begins with FIRST or is ONLY; soft-RoCE goes on
   * with the first answer's opcodes, and its MIDDLE has no AETH.
   */
  READ_FROM_MIDDLE {
    @Override
    CapturedAnswer asOurs(CapturedAnswer theirs, CapturedAnswer ours) {
      return switch (theirs.opcode()) {
        case BthOpcode.READ_RESPONSE_MIDDLE ->
            theirs
                .withOpcode(BthOpcode.READ_RESPONSE_FIRST)
                .withSyndrome(UNLIMITED)
                .withMsn(ours.msn());
        case BthOpcode.READ_RESPONSE_LAST -> theirs.withOpcode(BthOpcode.READ_RESPONSE_ONLY);
        default -> theirs;
      };
    }
  },

  /**
   * 9.7.5.1.2: an acknowledgement stands for every request up to its PSN, a READ's answer must come
   * itself. So a repeated request with a READ behind it is acknowledged by its own PSN; soft-RoCE
   * names the last PSN that it has acknowledged.
   */
  DUPLICATE_BEFORE_READ {
    @Override
    CapturedAnswer asOurs(CapturedAnswer theirs, CapturedAnswer ours) {
      boolean earlier = Psn.distance(ours.psn(), theirs.psn()) > 0;
      return earlier && theirs.opcode() == BthOpcode.ACKNOWLEDGE && theirs.syndrome() == UNLIMITED
          ? theirs.withPsn(ours.psn())
          : theirs;
    }
  },

  /**
   * 9.7.4.1: a request that is not supported is an invalid request. An atomic ends the connection
   * here; so that what comes behind it can be compared, a WRITE without bytes stands in for it, and
   * its acknowledgement for the atomic's.
   */
  ATOMIC {
    @Override
    CapturedAnswer asOurs(CapturedAnswer theirs, CapturedAnswer ours) {
      boolean notEarlier = Psn.distance(theirs.psn(), ours.psn()) >= 0;
      return notEarlier && theirs.opcode() == BthOpcode.ATOMIC_ACKNOWLEDGE
          ? theirs.withOpcode(BthOpcode.ACKNOWLEDGE).withPsn(ours.psn())
          : theirs;
    }
  },

  /** 9.9.6.3: a message that is too long for its receive is an invalid request. */
  TOO_LONG {
    @Override
    CapturedAnswer asOurs(CapturedAnswer theirs, CapturedAnswer ours) {
      return theirs.syndrome() == Aeth.NAK_REMOTE_OPERATION
          ? theirs.withSyndrome(Aeth.NAK_INVALID_REQUEST)
          : theirs;
    }
  },

  /** 9.7.7.1: the MSN counts every request that is done, a SEND with invalidate too. */
  INVALIDATE_COUNTED {
    @Override
    CapturedAnswer asOurs(CapturedAnswer theirs, CapturedAnswer ours) {
      return theirs.withMsn(Psn.add(theirs.msn(), 1));
    }
  };

  private static final int UNLIMITED = Aeth.CREDITS_UNLIMITED;

  /** 655.36 ms. */
  private static final int THEIR_RNR = 0x20;

  /** 0.64 ms. */
  private static final int OUR_RNR = 0x2c;

  /** Soft-RoCE's answer with this difference; itself if it cannot have it. */
  abstract CapturedAnswer asOurs(CapturedAnswer theirs, CapturedAnswer ours);

  boolean explains(CapturedAnswer theirs, CapturedAnswer ours) {
    return asOurs(theirs, ours).equals(ours);
  }
}
