package irdma4j.simulator.device;

/**
 * Where datagrams go, as CREATE_ADDR_HANDLE gave it.
 *
 * @param sourceMac own MAC address, a 48-bit integer
 * @param pdId protection domain
 * @param arpIndex ARP table entry of the next hop
 * @param ipv4 whether the addresses are IPv4 (in the last word)
 * @param vlanTag VLAN tag
 * @param insertVlan whether to send with the tag
 * @param trafficClass traffic class or type of service
 * @param flowLabel IPv6 flow label
 * @param hopLimit hop limit
 * @param destination0 destination address, most significant word
 * @param destination1 second word
 * @param destination2 third word
 * @param destination3 last word
 * @param source0 source address, most significant word
 * @param source1 second word
 * @param source2 third word
 * @param source3 last word
 */
public record AddressHandle(
    long sourceMac,
    int pdId,
    int arpIndex,
    boolean ipv4,
    int vlanTag,
    boolean insertVlan,
    int trafficClass,
    int flowLabel,
    int hopLimit,
    int destination0,
    int destination1,
    int destination2,
    int destination3,
    int source0,
    int source1,
    int source2,
    int source3) {}
