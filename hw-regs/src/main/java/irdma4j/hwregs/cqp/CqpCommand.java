package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Layout;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation of the control queue pair, as the driver asks for it and the device reads it.
 *
 * <p>Immutable. A value wider than its field is refused when the WQE is encoded, before anything is
 * written. Source of all layouts: Linux drivers/infiniband/hw/irdma/ctrl.c and uda.c.
 */
public sealed interface CqpCommand
    permits CreateQp,
        ModifyQp,
        DestroyQp,
        CreateCq,
        ModifyCq,
        DestroyCq,
        AllocateStag,
        RegisterMr,
        DeallocateStag,
        AddLocalMac,
        DeleteLocalMac,
        AllocateLocalMac,
        AddArp,
        DeleteArp,
        QueryRdmaFeatures,
        UploadContext,
        CreateCeq,
        DestroyCeq,
        CreateAeq,
        DestroyAeq,
        UpdatePeSds,
        QueryFpm,
        CommitFpm,
        FlushWqes,
        Nop,
        SuspendQp,
        ResumeQp,
        StaticHmcPages,
        ManageStats,
        GatherStats,
        AllocateMw,
        ManageAddressHandle,
        ManageMulticastGroup,
        ManagePushPage,
        ManageHmcFunctionTable,
        ManageApbvt,
        ManageQuadHash,
        ManageWorkSchedNode,
        SetUserPriorityMap {

  /** The operation. */
  CqpOpcode opcode();

  /**
   * Writes every word of the WQE but the header: the caller adds the valid bit to the value
   * returned and stores it last, with release order, at byte {@link CqpWqe#HEADER}.
   *
   * @param wqe memory with 64 bytes at {@code base}
   * @param base byte offset of the WQE, a multiple of 8
   * @return the header word without the valid bit
   * @throws irdma4j.hwregs.FieldRangeException if a value does not fit its field; nothing was
   *     written
   */
  long encode(MemorySegment wqe, long base);

  /**
   * Reads a WQE.
   *
   * @return the operation, or null if the opcode is unknown
   */
  static @Nullable CqpCommand decode(MemorySegment wqe, long base) {
    CqpOpcode opcode = CqpOpcode.of((int) CqpWqe.OPCODE.get(wqe, base));
    if (opcode == null) {
      return null;
    }
    return switch (opcode) {
      case CREATE_QP -> CreateQp.decode(wqe, base);
      case MODIFY_QP -> ModifyQp.decode(wqe, base);
      case DESTROY_QP -> DestroyQp.decode(wqe, base);
      case CREATE_CQ -> CreateCq.decode(wqe, base);
      case MODIFY_CQ -> ModifyCq.decode(wqe, base);
      case DESTROY_CQ -> DestroyCq.decode(wqe, base);
      case ALLOC_STAG ->
          AllocateStag.isRegion(wqe, base)
              ? AllocateStag.decode(wqe, base)
              : AllocateMw.decode(wqe, base);
      case REG_MR -> RegisterMr.decode(wqe, base);
      case DEALLOC_STAG -> DeallocateStag.decode(wqe, base);
      case MANAGE_LOC_MAC_TABLE ->
          DeleteLocalMac.isDelete(wqe, base)
              ? DeleteLocalMac.decode(wqe, base)
              : AddLocalMac.decode(wqe, base);
      case MANAGE_ARP ->
          AddArp.isAdd(wqe, base) ? AddArp.decode(wqe, base) : DeleteArp.decode(wqe, base);
      case MANAGE_PUSH_PAGES -> ManagePushPage.decode(wqe, base);
      case QUERY_RDMA_FEATURES -> QueryRdmaFeatures.decode(wqe, base);
      case UPLOAD_CONTEXT -> UploadContext.decode(wqe, base);
      case ALLOCATE_LOC_MAC_TABLE_ENTRY -> AllocateLocalMac.decode(wqe, base);
      case MANAGE_HMC_PM_FUNC_TABLE -> ManageHmcFunctionTable.decode(wqe, base);
      case CREATE_CEQ -> CreateCeq.decode(wqe, base);
      case DESTROY_CEQ -> DestroyCeq.decode(wqe, base);
      case CREATE_AEQ -> CreateAeq.decode(wqe, base);
      case DESTROY_AEQ -> DestroyAeq.decode(wqe, base);
      case CREATE_ADDR_HANDLE, MODIFY_ADDR_HANDLE, DESTROY_ADDR_HANDLE ->
          ManageAddressHandle.decode(opcode, wqe, base);
      case UPDATE_PE_SDS -> UpdatePeSds.decode(wqe, base);
      case QUERY_FPM_VAL -> QueryFpm.decode(wqe, base);
      case COMMIT_FPM_VAL -> CommitFpm.decode(wqe, base);
      case FLUSH_WQES -> FlushWqes.decode(wqe, base);
      case MANAGE_APBVT -> ManageApbvt.decode(wqe, base);
      case NOP -> Nop.decode(wqe, base);
      case MANAGE_QUAD_HASH_TABLE_ENTRY -> ManageQuadHash.decode(wqe, base);
      case CREATE_MCAST_GRP, MODIFY_MCAST_GRP, DESTROY_MCAST_GRP ->
          ManageMulticastGroup.decode(opcode, wqe, base);
      case SUSPEND_QP -> SuspendQp.decode(wqe, base);
      case RESUME_QP -> ResumeQp.decode(wqe, base);
      case SHMC_PAGES_ALLOCATED -> StaticHmcPages.decode(wqe, base);
      case WORK_SCHED_NODE -> ManageWorkSchedNode.decode(wqe, base);
      case MANAGE_STATS -> ManageStats.decode(wqe, base);
      case GATHER_STATS -> GatherStats.decode(wqe, base);
      case UP_MAP -> SetUserPriorityMap.decode(wqe, base);
      case QUERY_STAG, REG_SMR, MANAGE_VF_PBLE_BP -> null;
    };
  }

  /** The layout of its WQE. */
  default Layout layout() {
    return switch (this) {
      case CreateQp unused -> CreateQp.LAYOUT;
      case ModifyQp unused -> ModifyQp.LAYOUT;
      case DestroyQp unused -> DestroyQp.LAYOUT;
      case CreateCq unused -> CreateCq.LAYOUT;
      case ModifyCq unused -> ModifyCq.LAYOUT;
      case DestroyCq unused -> DestroyCq.LAYOUT;
      case AllocateStag unused -> AllocateStag.LAYOUT;
      case RegisterMr unused -> RegisterMr.LAYOUT;
      case DeallocateStag unused -> DeallocateStag.LAYOUT;
      case AddLocalMac unused -> AddLocalMac.LAYOUT;
      case DeleteLocalMac unused -> DeleteLocalMac.LAYOUT;
      case AllocateLocalMac unused -> AllocateLocalMac.LAYOUT;
      case AddArp unused -> AddArp.LAYOUT;
      case DeleteArp unused -> DeleteArp.LAYOUT;
      case QueryRdmaFeatures unused -> QueryRdmaFeatures.LAYOUT;
      case UploadContext unused -> UploadContext.LAYOUT;
      case CreateCeq unused -> CreateCeq.LAYOUT;
      case DestroyCeq unused -> DestroyCeq.LAYOUT;
      case CreateAeq unused -> CreateAeq.LAYOUT;
      case DestroyAeq unused -> DestroyAeq.LAYOUT;
      case UpdatePeSds unused -> UpdatePeSds.LAYOUT;
      case QueryFpm unused -> QueryFpm.LAYOUT;
      case CommitFpm unused -> CommitFpm.LAYOUT;
      case FlushWqes unused -> FlushWqes.LAYOUT;
      case Nop unused -> Nop.LAYOUT;
      case SuspendQp unused -> SuspendQp.LAYOUT;
      case ResumeQp unused -> ResumeQp.LAYOUT;
      case StaticHmcPages unused -> StaticHmcPages.LAYOUT;
      case ManageStats unused -> ManageStats.LAYOUT;
      case GatherStats unused -> GatherStats.LAYOUT;
      case AllocateMw unused -> AllocateMw.LAYOUT;
      case ManageAddressHandle unused -> ManageAddressHandle.LAYOUT;
      case ManageMulticastGroup unused -> ManageMulticastGroup.LAYOUT;
      case ManagePushPage unused -> ManagePushPage.LAYOUT;
      case ManageHmcFunctionTable unused -> ManageHmcFunctionTable.LAYOUT;
      case ManageApbvt unused -> ManageApbvt.LAYOUT;
      case ManageQuadHash unused -> ManageQuadHash.LAYOUT;
      case ManageWorkSchedNode unused -> ManageWorkSchedNode.LAYOUT;
      case SetUserPriorityMap unused -> SetUserPriorityMap.LAYOUT;
    };
  }

  /** The layouts of all operations. */
  static List<Layout> layouts() {
    return List.of(
        CreateQp.LAYOUT,
        ModifyQp.LAYOUT,
        DestroyQp.LAYOUT,
        CreateCq.LAYOUT,
        ModifyCq.LAYOUT,
        DestroyCq.LAYOUT,
        AllocateStag.LAYOUT,
        RegisterMr.LAYOUT,
        DeallocateStag.LAYOUT,
        AddLocalMac.LAYOUT,
        DeleteLocalMac.LAYOUT,
        AllocateLocalMac.LAYOUT,
        AddArp.LAYOUT,
        DeleteArp.LAYOUT,
        QueryRdmaFeatures.LAYOUT,
        UploadContext.LAYOUT,
        CreateCeq.LAYOUT,
        DestroyCeq.LAYOUT,
        CreateAeq.LAYOUT,
        DestroyAeq.LAYOUT,
        UpdatePeSds.LAYOUT,
        QueryFpm.LAYOUT,
        CommitFpm.LAYOUT,
        FlushWqes.LAYOUT,
        Nop.LAYOUT,
        SuspendQp.LAYOUT,
        ResumeQp.LAYOUT,
        StaticHmcPages.LAYOUT,
        ManageStats.LAYOUT,
        GatherStats.LAYOUT,
        AllocateMw.LAYOUT,
        ManageAddressHandle.LAYOUT,
        ManageMulticastGroup.LAYOUT,
        ManagePushPage.LAYOUT,
        ManageHmcFunctionTable.LAYOUT,
        ManageApbvt.LAYOUT,
        ManageQuadHash.LAYOUT,
        ManageWorkSchedNode.LAYOUT,
        SetUserPriorityMap.LAYOUT);
  }
}
