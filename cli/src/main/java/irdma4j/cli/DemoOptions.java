package irdma4j.cli;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the demo is to do, checked.
 *
 * @param file the data, a file of at least one byte
 * @param bytes how many bytes to move: the file's beginning, or the file again and again
 * @param pcap where the frames are written, or null
 * @param stepped run in virtual time on one thread, so that a seed gives the same run again
 * @param seed of everything that is left to chance
 * @param wire what the wire does to frames, checked
 * @param faults what is to go wrong in simulated functions
 * @param devices the two functions, both simulated or both cards
 * @param cards how cards are opened
 * @param watch how simulated devices are watched, checked
 * @param record whether what passes between driver and device is recorded, checked
 */
record DemoOptions(
    Path file,
    long bytes,
    @Nullable Path pcap,
    boolean stepped,
    long seed,
    WireOptions wire,
    List<FaultSpec> faults,
    List<DeviceAddress> devices,
    CardOptions cards,
    WatchOptions watch,
    RecordOptions record) {}
