package irdma4j.driver;

/**
 * An entry of the device's ARP table.
 *
 * @param index its place in the table
 * @param gid the address
 * @param macAddress the MAC address as a 48-bit integer
 */
record ArpEntry(int index, Gid gid, long macAddress) {}
