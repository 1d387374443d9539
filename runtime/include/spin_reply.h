/* Turning a packet into a reply. Not part of FPsPIN's runtime. */
#ifndef SPIN_REPLY_H
#define SPIN_REPLY_H

#include "packets.h"

/*
 * Swaps `count` halfwords, up to 3, at even addresses. Addresses in headers cross words of memory, and an HPU accesses a word that does in
 * four slots, but a halfword in one. The compiler would make words of halfwords that it knows to be next to each other.
 */
static inline void spin_swap_halfwords(void *one, void *other, size_t count) {
    spin_halfword_t *first = (spin_halfword_t *)one, *second = (spin_halfword_t *)other, a[3], b[3];
    _Pragma("GCC unroll 3") for (size_t i = 0; i < count; ++i) {
        a[i] = first[i];
        b[i] = second[i];
        asm("" : "+r"(a[i]), "+r"(b[i]));
    }
    _Pragma("GCC unroll 3") for (size_t i = 0; i < count; ++i) {
        first[i] = b[i];
        second[i] = a[i];
    }
    /* Few registers: those of the caller have not to be saved. */
    asm volatile("" : : : "memory");
}

/* Swaps source and destination of Ethernet and IP. The IP checksum, a sum, stays valid. */
static inline void spin_swap_addresses(eth_hdr_t *eth, ip_hdr_t *ip) {
#ifdef SPIN_PSPIN_ONLY
    /* As it was when traces of the public cluster were recorded. */
    mac_addr_t mac = eth->src;
    eth->src = eth->dest;
    eth->dest = mac;
    uint32_t address = ip->source_id;
    ip->source_id = ip->dest_id;
    ip->dest_id = address;
#else
    spin_swap_halfwords(&eth->src, &eth->dest, sizeof(mac_addr_t) / sizeof(spin_halfword_t));
    spin_swap_halfwords(&ip->source_id, &ip->dest_id, sizeof(uint32_t) / sizeof(spin_halfword_t));
#endif
}

/* Swaps addresses and UDP ports. The UDP checksum is a sum as well. */
static inline void spin_swap_ends(pkt_hdr_t *packet) {
    spin_swap_addresses(&packet->eth_hdr, &packet->ip_hdr);
    uint16_t port = packet->udp_hdr.src_port;
    packet->udp_hdr.src_port = packet->udp_hdr.dst_port;
    packet->udp_hdr.dst_port = port;
}

/* Sets the headers for `bytes` bytes of UDP payload, without a UDP checksum, which IPv4 allows. */
static inline void spin_set_udp_payload(pkt_hdr_t *packet, uint32_t bytes) {
    packet->ip_hdr.length = htons(sizeof(ip_hdr_t) + sizeof(udp_hdr_t) + bytes);
    packet->ip_hdr.checksum = 0;
    packet->ip_hdr.checksum = ip_checksum(&packet->ip_hdr, sizeof(ip_hdr_t));
    packet->udp_hdr.length = htons(sizeof(udp_hdr_t) + bytes);
    packet->udp_hdr.checksum = 0;
}

/* Turns an SLMP packet into its reply, with other flags and `bytes` bytes after the SLMP header. */
static inline void spin_slmp_reply(slmp_pkt_hdr_t *packet, uint16_t flags, uint32_t bytes) {
    pkt_hdr_t *udp = (pkt_hdr_t *)packet;
    spin_swap_ends(udp);
    spin_set_udp_payload(udp, sizeof(slmp_hdr_t) + bytes);
    packet->slmp_hdr.flags = htons(flags);
}

#endif
