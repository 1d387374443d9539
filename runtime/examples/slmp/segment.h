/*
 * One segment: the fields of its frame, the checks of these fields, and the answer to it.
 */
#ifndef SEGMENT_H
#define SEGMENT_H

#include <handler.h>
#include <packets.h>
#include <slmp.h>

/*
 * The frame's layout in L1. Frames begin at a multiple of 4 there, so every field has its natural alignment and takes
 * one load. The structures of packets.h may be at any address and are read byte by byte. Fields are in network order.
 */
typedef struct {
    uint16_t to[3];
    uint16_t from[3];
    uint16_t type;
    uint8_t version_ihl;
    uint8_t tos;
    uint16_t ip_bytes;
    uint16_t identification;
    uint16_t fragment;
    uint8_t ttl;
    uint8_t protocol;
    uint16_t ip_checksum;
    uint16_t source[2];
    uint16_t destination[2];
    uint16_t source_port;
    uint16_t destination_port;
    uint16_t udp_bytes;
    uint16_t udp_checksum;
    uint16_t flags;
    uint8_t message_id[4]; /* turned into host order byte by byte, which is the shortest way on an HPU */
    uint8_t offset[4];
    uint8_t payload[];
} frame_t;

static_assert(sizeof(frame_t) == sizeof(slmp_pkt_hdr_t), "packets.h has the same headers");
static_assert(offsetof(frame_t, version_ihl) == offsetof(slmp_pkt_hdr_t, ip_hdr), "packets.h has the same headers");
static_assert(offsetof(frame_t, source_port) == offsetof(slmp_pkt_hdr_t, udp_hdr), "packets.h has the same headers");
static_assert(offsetof(frame_t, flags) == offsetof(slmp_pkt_hdr_t, slmp_hdr), "packets.h has the same headers");
static_assert(offsetof(frame_t, offset) == 48 && offsetof(frame_t, payload) == 52, "the offset of SLMP");

#define ETHERTYPE_IPV4 0x0800
#define IPV4_PLAIN_HEADER 0x45
#define IP_MORE_FRAGMENTS 0x2000
#define IP_FRAGMENT_OFFSET 0x1fff
#define PROTOCOL_UDP 17

#define UDP_AND_SLMP_BYTES (sizeof(udp_hdr_t) + SLMP_HEADER_BYTES)

/* Lays out the code for the common case: a jump takes three clocks, straight-line code one. */
#define likely(condition) __builtin_expect((condition), 1)

/* A segment that was read: everything in host order but the source, which is only ever compared. */
typedef struct {
    frame_t *frame;
    uint32_t source;
    uint32_t port;
    uint32_t message_id;
    uint32_t offset;
    uint32_t bytes;
    bool is_end;
    bool wants_ack;
    bool is_turned;  /* the frame has become an answer */
    spin_cmd_t sent; /* that is being sent, if so */
} segment_t;

static inline uint32_t host_order(const uint8_t word[4]) {
    return (uint32_t)word[0] << 24 | (uint32_t)word[1] << 16 | (uint32_t)word[2] << 8 | word[3];
}

/* Adds up halfwords that are known to be few: the loop is unrolled. */
static inline uint32_t sum_of(uint32_t sum, const uint16_t *halfword, uint32_t count) {
#pragma GCC unroll 10
    for (uint32_t i = 0; i < count; ++i) {
        sum += halfword[i];
    }
    return sum;
}

static inline bool has_right_ip_checksum(const frame_t *frame) {
    const uint16_t *header = (const uint16_t *)(const void *)&frame->version_ihl;
    return ip_checksum_finish(sum_of(0, header, sizeof(ip_hdr_t) / sizeof(uint16_t))) == 0;
}

/* Over UDP and the pseudo header: addresses, protocol, length. */
static inline bool has_right_udp_checksum(const frame_t *frame, uint32_t frame_bytes, uint32_t udp_bytes) {
    uint32_t pseudo = sum_of(htons(PROTOCOL_UDP) + frame->udp_bytes, frame->source, 4);
    return ip_checksum_finish(pseudo + spin_payload_sum(frame, frame_bytes, &frame->source_port, udp_bytes)) == 0;
}

/* Whether type, version and header length are those of IPv4 without options: one word, with the byte behind them. */
static inline bool is_plain_ipv4(const frame_t *frame) {
    uint32_t word;
    memcpy(&word, __builtin_assume_aligned(&frame->type, sizeof(word)), sizeof(word));
    return word << 8 == (IPV4_PLAIN_HEADER << 16 | htons(ETHERTYPE_IPV4)) << 8;
}

/* Lengths come from the network: each is compared with what holds it, from the outside in. */
static inline bool is_well_formed(const frame_t *frame, uint32_t frame_bytes, uint32_t ip_bytes, uint32_t udp_bytes) {
    return likely(is_plain_ipv4(frame)) &&
           likely((frame->fragment & htons(IP_MORE_FRAGMENTS | IP_FRAGMENT_OFFSET)) == 0) &&
           likely(frame->protocol == PROTOCOL_UDP) && likely(ip_bytes <= frame_bytes - sizeof(eth_hdr_t)) &&
           likely(udp_bytes + sizeof(ip_hdr_t) <= ip_bytes) && likely(udp_bytes >= UDP_AND_SLMP_BYTES);
}

/*
 * Reads the fields that identify a frame's message. Returns SLMP_ACCEPTED, or why the frame is no segment. A UDP
 * checksum takes so long that it is checked before anything else begins.
 */
static inline enum slmp_cause read_segment(segment_t *segment, frame_t *frame, uint32_t frame_bytes) {
    if (!likely(frame_bytes >= sizeof(frame_t))) {
        return SLMP_MALFORMED;
    }
    uint32_t udp_bytes = ntohs(frame->udp_bytes);
    if (!likely(is_well_formed(frame, frame_bytes, ntohs(frame->ip_bytes), udp_bytes))) {
        return SLMP_MALFORMED;
    }
    if (!likely(frame->udp_checksum == 0) && !has_right_udp_checksum(frame, frame_bytes, udp_bytes)) {
        return has_right_ip_checksum(frame) ? SLMP_UDP_CHECKSUM : SLMP_IP_CHECKSUM;
    }
    segment->frame = frame;
    segment->source = frame->source[0] | (uint32_t)frame->source[1] << 16;
    segment->port = frame->source_port;
    segment->message_id = host_order(frame->message_id);
    segment->bytes = udp_bytes - UDP_AND_SLMP_BYTES;
    return SLMP_ACCEPTED;
}

/* Reads the rest, which is not needed to find the message: SLMP_ACCEPTED, or why it is no segment. */
static inline enum slmp_cause read_rest(segment_t *segment) {
    const frame_t *frame = segment->frame;
    if (!likely(has_right_ip_checksum(frame))) {
        return SLMP_IP_CHECKSUM;
    }
    if (!likely((frame->flags & htons(SLMP_FLAG_ACK)) == 0)) {
        return SLMP_NOT_A_SEGMENT;
    }
    segment->offset = host_order(frame->offset);
    segment->is_end = (frame->flags & htons(SLMP_FLAG_EOM)) != 0;
    segment->wants_ack = (frame->flags & htons(SLMP_FLAG_SYN)) != 0;
    segment->is_turned = false;
    return SLMP_ACCEPTED;
}

static inline void swap(uint16_t *left, uint16_t *right, uint32_t count) {
#pragma GCC unroll 3
    for (uint32_t i = 0; i < count; ++i) {
        uint16_t value = left[i];
        left[i] = right[i];
        right[i] = value;
    }
}

/*
 * Makes the headers those of an answer without payload. Swapping addresses leaves the IP checksum right; the new length
 * takes the old one's place in it (RFC 1624, equation 3). No UDP checksum is sent.
 */
static inline void turn_around(frame_t *frame) {
    swap(frame->to, frame->from, 3);
    swap(frame->source, frame->destination, 2);
    swap(&frame->source_port, &frame->destination_port, 1);
    uint16_t ip_bytes = htons(sizeof(ip_hdr_t) + UDP_AND_SLMP_BYTES);
    frame->ip_checksum = ip_checksum_finish(2 * 0xffff - frame->ip_checksum - frame->ip_bytes + ip_bytes);
    frame->ip_bytes = ip_bytes;
    frame->udp_bytes = htons(UDP_AND_SLMP_BYTES);
    frame->udp_checksum = 0;
}

/* Sends the frame's headers back as the acknowledgement of the segment that they say. */
static inline void send_back(segment_t *segment) {
    segment->is_turned = true;
    spin_send_packet(segment->frame, sizeof(frame_t), &segment->sent);
}

/* Acknowledges the segment. The payload stays as it is, so it may be on its way to the host. */
static inline void acknowledge(segment_t *segment) {
    turn_around(segment->frame);
    segment->frame->flags |= htons(SLMP_FLAG_ACK);
    send_back(segment);
}

/* Acknowledges the segment at the end of the message, at `offset`, of which this one need not be it. */
static inline void acknowledge_end(segment_t *segment, uint32_t offset) {
    if (segment->is_turned) {
        /* The bytes that are being sent are those that we change. */
        spin_cmd_wait(segment->sent);
    } else {
        turn_around(segment->frame);
    }
    segment->frame->flags = htons(SLMP_FLAG_EOM | SLMP_FLAG_SYN | SLMP_FLAG_ACK);
    uint32_t network_offset = htonl(offset);
    memcpy(segment->frame->offset, &network_offset, sizeof(network_offset));
    send_back(segment);
}

/* The result of a claim. */
typedef enum {
    WON,
    LOST,    /* another HPU has the segment */
    UNKNOWN, /* another HPU wants it, and has made no progress for too long */
} claim_t;

#endif
