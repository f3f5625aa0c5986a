package irdma4j.simulator.device;

import irdma4j.simulator.Fault;
import irdma4j.simulator.Occasion;

/** A device's reads of page descriptors and PBLEs, where a fault may change them first. */
final class DescriptorReads implements HostWords {
  private final Iommu iommu;
  private final FaultPoint faults;

  DescriptorReads(Iommu iommu, FaultPoint faults) {
    this.iommu = iommu;
    this.faults = faults;
  }

  @Override
  public long readWord(long iova) {
    return iommu.readWord(iova);
  }

  @Override
  public long readPageDescriptor(long iova) {
    return read(iova, Occasion.PAGE_DESCRIPTOR);
  }

  @Override
  public long readPble(long iova) {
    return read(iova, Occasion.PBLE);
  }

  private long read(long iova, Occasion occasion) {
    if (faults.at(occasion) instanceof Fault.CorruptDescriptor fault) {
      iommu.writeWord(iova, iommu.readWord(iova) ^ fault.bits());
    }
    return iommu.readWord(iova);
  }

  @Override
  public long faults() {
    return iommu.faults();
  }
}
