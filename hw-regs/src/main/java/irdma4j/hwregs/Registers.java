package irdma4j.hwregs;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The registers of a GEN_2 function (E810) in BAR 0 that RDMA uses.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/icrdma_hw.h and irdma.h.
 */
public final class Registers {
  /** Slot of the control ring that the device will execute next. */
  public static final Field CQPTAIL_WQTAIL =
      Field.bits("WQTAIL", 0, 10, 0, "Slot of the control ring that the device will execute next");

  /** An operation failed before the CCQ existed. */
  public static final Field CQPTAIL_CQP_OP_ERR =
      Field.bit("CQP_OP_ERR", 0, 31, "An operation failed before the CCQ existed");

  /** The control queue pair is up. */
  public static final Field CCQPSTATUS_CCQP_DONE =
      Field.bit("CCQP_DONE", 0, 0, "The control queue pair is up");

  /** The control queue pair could not be created. */
  public static final Field CCQPSTATUS_CCQP_ERR =
      Field.bit("CCQP_ERR", 0, 31, "The control queue pair could not be created");

  /** Minor code of the last error. */
  public static final Field CQPERRCODES_CQP_MINOR_CODE =
      Field.bits("CQP_MINOR_CODE", 0, 15, 0, "Minor code of the last error");

  /** Major code of the last error. */
  public static final Field CQPERRCODES_CQP_MAJOR_CODE =
      Field.bits("CQP_MAJOR_CODE", 0, 31, 16, "Major code of the last error");

  /** Where the page of doorbells starts. */
  public static final long DOORBELL_PAGE = 0x7f0000;

  /** Queue pair whose SQ has new WQEs. */
  public static final Field WQEALLOC_QPID =
      Field.bits("QPID", 0, 17, 0, "Queue pair whose SQ has new WQEs");

  /** Index of a pushed WQE, in units of eight quanta. */
  public static final Field WQEALLOC_WQE_DESC_INDEX =
      Field.bits("WQE_DESC_INDEX", 0, 31, 20, "Index of a pushed WQE, in units of eight quanta");

  /** Completion queue whose shadow area asks for an event. */
  public static final Field CQARM_CQID =
      Field.bits("CQID", 0, 18, 0, "Completion queue whose shadow area asks for an event");

  /** Completion queue whose event was consumed. */
  public static final Field CQACK_CQID =
      Field.bits("CQID", 0, 18, 0, "Completion queue whose event was consumed");

  /** Number of asynchronous events consumed. */
  public static final Field AEQALLOC_COUNT =
      Field.bits("COUNT", 0, 31, 0, "Number of asynchronous events consumed");

  /** Doorbell size: 1 means 4 MiB, 2 means 8 MiB. */
  public static final Field LBARCTRL_PE_DB_SIZE =
      Field.bits("PE_DB_SIZE", 0, 5, 4, "Doorbell size: 1 means 4 MiB, 2 means 8 MiB");

  /** The vector may interrupt. */
  public static final Field DYN_CTL_INTENA = Field.bit("INTENA", 0, 0, "The vector may interrupt");

  /** Clear the pending bit. */
  public static final Field DYN_CTL_CLEARPBA = Field.bit("CLEARPBA", 0, 1, "Clear the pending bit");

  /** Throttle that INTERVAL sets; 3 means none. */
  public static final Field DYN_CTL_ITR_INDX =
      Field.bits("ITR_INDX", 0, 4, 3, "Throttle that INTERVAL sets; 3 means none");

  /** Least time between interrupts, in units of 2 µs. */
  public static final Field DYN_CTL_INTERVAL =
      Field.bits("INTERVAL", 0, 16, 5, "Least time between interrupts, in units of 2 us");

  /** Vector that the event queue uses. */
  public static final Field CEQCTL_MSIX_INDX =
      Field.bits("MSIX_INDX", 0, 10, 0, "Vector that the event queue uses");

  /** Throttle that the event queue obeys. */
  public static final Field CEQCTL_ITR_INDX =
      Field.bits("ITR_INDX", 0, 12, 11, "Throttle that the event queue obeys");

  /** The event queue may interrupt. */
  public static final Field CEQCTL_CAUSE_ENA =
      Field.bit("CAUSE_ENA", 0, 30, "The event queue may interrupt");

  /** Least time between interrupts, in units of 4 µs. */
  public static final Field RATE_INTERVAL =
      Field.bits("INTERVAL", 0, 5, 0, "Least time between interrupts, in units of 4 us");

  /** The rate limit is on. */
  public static final Field RATE_INTRL_ENA = Field.bit("INTRL_ENA", 0, 6, "The rate limit is on");

  /** Segment descriptor whose page descriptor is invalid. */
  public static final Field PDINV_PMSDIDX =
      Field.bits(
          "PMSDIDX", 0, 11, 0, "Segment descriptor whose page descriptor the device forgets");

  /** Which partition of the table. */
  public static final Field PDINV_PMSDPARTSEL =
      Field.bit("PMSDPARTSEL", 0, 15, "Which partition of the table");

  /** Page descriptor in its segment. */
  public static final Field PDINV_PMPDIDX =
      Field.bits("PMPDIDX", 0, 24, 16, "Page descriptor in its segment");

  /** Progress of the control ring. */
  public static final Register PFPE_CQPTAIL =
      Register.of(
          "PFPE_CQPTAIL",
          0x00500880,
          "Progress of the control ring",
          CQPTAIL_WQTAIL,
          CQPTAIL_CQP_OP_ERR);

  /** Doorbell of the control ring. */
  public static final Register PFPE_CQPDB =
      Register.of("PFPE_CQPDB", 0x00500800, "Doorbell of the control ring: index of its head");

  /** Whether the control queue pair is up. */
  public static final Register PFPE_CCQPSTATUS =
      Register.of(
          "PFPE_CCQPSTATUS",
          0x0050a000,
          "Whether the control queue pair is up",
          CCQPSTATUS_CCQP_DONE,
          CCQPSTATUS_CCQP_ERR);

  /** Upper half of the address of the control queue pair's host context. */
  public static final Register PFPE_CCQPHIGH =
      Register.of(
          "PFPE_CCQPHIGH", 0x0050a100, "Host context of the control queue pair, upper half");

  /** Lower half of that address; writing it creates the control queue pair, 0 destroys it. */
  public static final Register PFPE_CCQPLOW =
      Register.of(
          "PFPE_CCQPLOW",
          0x0050a080,
          "Host context of the control queue pair, lower half: writing it creates the queue pair, 0"
              + " destroys it");

  /** Arm a completion queue. */
  public static final Register PFPE_CQARM =
      Register.of("PFPE_CQARM", 0x00502c00, "Arm a completion queue", CQARM_CQID);

  /** Acknowledge a completion event. */
  public static final Register PFPE_CQACK =
      Register.of("PFPE_CQACK", 0x00502c80, "Acknowledge a completion event", CQACK_CQID);

  /** Give back consumed entries of the asynchronous event queue. */
  public static final Register PFPE_AEQALLOC =
      Register.of(
          "PFPE_AEQALLOC",
          0x00502d00,
          "Give back consumed entries of the asynchronous event queue",
          AEQALLOC_COUNT);

  /** Codes of the last control queue pair error. */
  public static final Register PFPE_CQPERRCODES =
      Register.of(
          "PFPE_CQPERRCODES",
          0x0050a200,
          "Codes of the last control queue pair error",
          CQPERRCODES_CQP_MINOR_CODE,
          CQPERRCODES_CQP_MAJOR_CODE);

  /** Doorbell of the send queues. */
  public static final Register PFPE_WQEALLOC =
      Register.of(
          "PFPE_WQEALLOC",
          0x00504400,
          "Doorbell of the send queues",
          WQEALLOC_QPID,
          WQEALLOC_WQE_DESC_INDEX);

  /** Control of an interrupt vector. */
  public static final Register GLINT_DYN_CTL =
      Register.array(
          "GLINT_DYN_CTL",
          0x00160000,
          2048,
          "Control of an interrupt vector",
          DYN_CTL_INTENA,
          DYN_CTL_CLEARPBA,
          DYN_CTL_ITR_INDX,
          DYN_CTL_INTERVAL);

  /** Vector of a completion event queue. */
  public static final Register GLINT_CEQCTL =
      Register.array(
          "GLINT_CEQCTL",
          0x0015c000,
          2048,
          "Vector of a completion event queue",
          CEQCTL_MSIX_INDX,
          CEQCTL_ITR_INDX,
          CEQCTL_CAUSE_ENA);

  /** Rate limit of an interrupt vector. */
  public static final Register GLINT_RATE =
      Register.array(
          "GLINT_RATE",
          0x0015a000,
          2048,
          "Rate limit of an interrupt vector",
          RATE_INTERVAL,
          RATE_INTRL_ENA);

  /** Vector of the asynchronous event queue. */
  public static final Register PFINT_AEQCTL =
      Register.of(
          "PFINT_AEQCTL",
          0x0016cb00,
          "Vector of the asynchronous event queue",
          CEQCTL_MSIX_INDX,
          CEQCTL_ITR_INDX,
          CEQCTL_CAUSE_ENA);

  /** Size of the doorbell region. */
  public static final Register GLPCI_LBARCTRL =
      Register.of("GLPCI_LBARCTRL", 0x0009de74, "Size of the doorbell region", LBARCTRL_PE_DB_SIZE);

  /** State of the protocol engine's first processor; 0x80 when firmware runs. */
  public static final Register GLPE_CPUSTATUS0 =
      Register.of("GLPE_CPUSTATUS0", 0x0050ba5c, "State of processor 0: 0x80 when firmware runs");

  /** State of the second processor. */
  public static final Register GLPE_CPUSTATUS1 =
      Register.of("GLPE_CPUSTATUS1", 0x0050ba60, "State of processor 1: 0x80 when firmware runs");

  /** State of the third processor. */
  public static final Register GLPE_CPUSTATUS2 =
      Register.of("GLPE_CPUSTATUS2", 0x0050ba64, "State of processor 2: 0x80 when firmware runs");

  /** Makes the device forget a page descriptor. */
  public static final Register PFHMC_PDINV =
      Register.of(
          "PFHMC_PDINV",
          0x00520300,
          "Makes the device forget a page descriptor",
          PDINV_PMSDIDX,
          PDINV_PMSDPARTSEL,
          PDINV_PMPDIDX);

  /** The same for a virtual function, by its HMC function's number beyond the first such. */
  public static final Register GLHMC_VFPDINV =
      Register.array(
          "GLHMC_VFPDINV",
          0x00528300,
          32,
          "Makes the device forget a page descriptor of a virtual function",
          PDINV_PMSDIDX,
          PDINV_PMPDIDX);

  /** Critical error of the protocol engine. */
  public static final Register GLPE_CRITERR =
      Register.of("GLPE_CRITERR", 0x00534000, "Critical error of the protocol engine");

  /** RDMA control of a virtual station interface. */
  public static final Register VSIQF_PE_CTL1 =
      Register.array(
          "VSIQF_PE_CTL1", 0x00414000, 768, "RDMA control of a virtual station interface");

  /** Every register here, in the order of their offsets. */
  public static final List<Register> ALL =
      List.of(
          GLPCI_LBARCTRL,
          GLINT_RATE,
          GLINT_CEQCTL,
          GLINT_DYN_CTL,
          PFINT_AEQCTL,
          VSIQF_PE_CTL1,
          PFPE_CQPDB,
          PFPE_CQPTAIL,
          PFPE_CQARM,
          PFPE_CQACK,
          PFPE_AEQALLOC,
          PFPE_WQEALLOC,
          PFPE_CCQPSTATUS,
          PFPE_CCQPLOW,
          PFPE_CCQPHIGH,
          PFPE_CQPERRCODES,
          GLPE_CPUSTATUS0,
          GLPE_CPUSTATUS1,
          GLPE_CPUSTATUS2,
          PFHMC_PDINV,
          GLHMC_VFPDINV,
          GLPE_CRITERR);

  /**
   * Where push pages begin in the BAR: behind the doorbell page and 60 KiB that are reserved.
   * Source: Linux IRDMA_PUSH_OFFSET, IRDMA_PF_BAR_RSVD in defs.h and ICRDMA_DB_ADDR_OFFSET in
   * icrdma_hw.h.
   */
  public static final int PUSH_AREA = 8 << 20;

  /** Bytes of a push page. */
  public static final int PUSH_PAGE_BYTES = 4096;

  /** The value of {@code GLPE_CPUSTATUSn} once that processor's firmware runs. */
  public static final int CPUSTATUS_RUNNING = 0x80;

  private Registers() {}

  /** The register, or array of registers, that holds an offset of BAR 0; null if none does. */
  public static @Nullable Register at(int offset) {
    for (Register register : ALL) {
      int end = register.offset() + (register.count() - 1) * register.stride() + 4;
      if (offset >= register.offset() && offset < end) {
        return register;
      }
    }
    return null;
  }

  /**
   * What is at an offset of BAR 0: a register's name, with its index if it is one of an array, a
   * place in a push page, or {@code unknown}.
   */
  public static String nameOf(int offset) {
    Register register = at(offset);
    if (register != null) {
      return register.count() == 1
          ? register.name()
          : register.name() + "[" + (offset - register.offset()) / register.stride() + "]";
    }
    if (offset >= PUSH_AREA) {
      return "push page %d, 0x%x"
          .formatted((offset - PUSH_AREA) / PUSH_PAGE_BYTES, offset & (PUSH_PAGE_BYTES - 1));
    }
    return "unknown 0x%x".formatted(offset);
  }
}
