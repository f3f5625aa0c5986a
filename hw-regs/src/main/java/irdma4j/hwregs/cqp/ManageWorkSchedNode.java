package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Add, change or delete a node of the work scheduler.
 *
 * @param weight weight among its siblings
 * @param vsi virtual station interface
 * @param nodeId number of the node
 * @param parentId number of its parent
 * @param function virtual function or machine
 * @param operation 0 add, 1 change, 2 delete
 * @param functionType kind of function
 * @param trafficClass traffic class
 * @param priorityType 1 weighted round robin, 2 strict, 3 weighted strict
 * @param leaf the node is a leaf: a queue set
 * @param enable the node may send
 */
public record ManageWorkSchedNode(
    int weight,
    int vsi,
    int nodeId,
    int parentId,
    int function,
    int operation,
    int functionType,
    int trafficClass,
    int priorityType,
    boolean leaf,
    boolean enable)
    implements CqpCommand {
  private static final Field WEIGHT = Field.bits("WEIGHT", 32, 38, 32, "Weight among its siblings");
  private static final Field VSI = Field.bits("VSI", 32, 57, 48, "Virtual station interface");
  private static final Field NODEID = Field.bits("NODEID", 24, 9, 0, "Number of the node");
  private static final Field PARENTID = Field.bits("PARENTID", 24, 25, 16, "Number of its parent");
  private static final Field VMVFNUM =
      Field.bits("VMVFNUM", 24, 51, 42, "Virtual function or machine");
  private static final Field NODEOP = Field.bits("NODEOP", 24, 53, 52, "0 add, 1 change, 2 delete");
  private static final Field VMVFTYPE = Field.bits("VMVFTYPE", 24, 55, 54, "Kind of function");
  private static final Field TC = Field.bits("TC", 24, 58, 56, "Traffic class");
  private static final Field PRIOTYPE =
      Field.bits("PRIOTYPE", 24, 60, 59, "1 weighted round robin, 2 strict, 3 weighted strict");
  private static final Field NODETYPE =
      Field.bit("NODETYPE", 24, 61, "The node is a leaf: a queue set");
  private static final Field ENABLENODE = Field.bit("ENABLENODE", 24, 62, "The node may send");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/work-sched-node",
          CqpWqe.SIZE,
          "Add, change or delete a node of the work scheduler",
          WEIGHT,
          VSI,
          NODEID,
          PARENTID,
          VMVFNUM,
          NODEOP,
          VMVFTYPE,
          TC,
          PRIOTYPE,
          NODETYPE,
          ENABLENODE,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.WORK_SCHED_NODE;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word32 =
        WEIGHT.encode(Integer.toUnsignedLong(weight)) | VSI.encode(Integer.toUnsignedLong(vsi));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | NODEID.encode(Integer.toUnsignedLong(nodeId))
            | PARENTID.encode(Integer.toUnsignedLong(parentId))
            | VMVFNUM.encode(Integer.toUnsignedLong(function))
            | NODEOP.encode(Integer.toUnsignedLong(operation))
            | VMVFTYPE.encode(Integer.toUnsignedLong(functionType))
            | TC.encode(Integer.toUnsignedLong(trafficClass))
            | PRIOTYPE.encode(Integer.toUnsignedLong(priorityType))
            | NODETYPE.encode(leaf)
            | ENABLENODE.encode(enable);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 32, word32);
    return header;
  }

  static ManageWorkSchedNode decode(MemorySegment wqe, long base) {
    return new ManageWorkSchedNode(
        (int) WEIGHT.get(wqe, base),
        (int) VSI.get(wqe, base),
        (int) NODEID.get(wqe, base),
        (int) PARENTID.get(wqe, base),
        (int) VMVFNUM.get(wqe, base),
        (int) NODEOP.get(wqe, base),
        (int) VMVFTYPE.get(wqe, base),
        (int) TC.get(wqe, base),
        (int) PRIOTYPE.get(wqe, base),
        NODETYPE.get(wqe, base) != 0,
        ENABLENODE.get(wqe, base) != 0);
  }
}
