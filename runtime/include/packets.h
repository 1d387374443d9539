/*
 * Packet headers in wire format: multi-byte fields are big-endian, so access them with ntohs and ntohl.
 *
 * All structures are packed, because the IP header of a frame starts at byte 14; the compiler splits accesses to
 * unaligned fields. IP headers are assumed to have 20 bytes, unless a handler checks `ihl`.
 */
#ifndef PACKETS_H
#define PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __riscv
#include "pspin_rt.h"
#include "spin_map.h"
#endif
#include "slmp.h"

typedef struct mac_addr {
    uint8_t data[6];
} __attribute__((packed)) mac_addr_t;

typedef struct eth_hdr {
    mac_addr_t dest;
    mac_addr_t src;
    uint16_t length; /* the type of what follows, since it is above 1535 */
} __attribute__((packed)) eth_hdr_t;

typedef struct ip_hdr {
    uint8_t ihl : 4; /* words of this header */
    uint8_t version : 4;
    uint8_t tos;
    uint16_t length; /* this header and all behind it */
    uint16_t identification;
    uint16_t offset;
    uint8_t ttl;
    uint8_t protocol;
    uint16_t checksum;
    uint32_t source_id;
    uint32_t dest_id;
} __attribute__((packed)) ip_hdr_t;

typedef struct udp_hdr {
    uint16_t src_port;
    uint16_t dst_port;
    uint16_t length; /* this header and the payload */
    uint16_t checksum;
} __attribute__((packed)) udp_hdr_t;

/* sPIN Lightweight Message Protocol. */
typedef struct slmp_hdr {
    uint16_t flags;
    uint32_t msg_id;
    uint32_t pkt_off; /* where the payload belongs in the message */
} __attribute__((packed)) slmp_hdr_t;

typedef struct pkt_hdr {
    eth_hdr_t eth_hdr;
    ip_hdr_t ip_hdr;
    udp_hdr_t udp_hdr;
} __attribute__((packed)) pkt_hdr_t;

typedef struct slmp_pkt_hdr {
    eth_hdr_t eth_hdr;
    ip_hdr_t ip_hdr;
    udp_hdr_t udp_hdr;
    slmp_hdr_t slmp_hdr;
} __attribute__((packed)) slmp_pkt_hdr_t;

/* Flags of SLMP, in host order: end of message, acknowledgement requested, acknowledgement. */
#define MKEOM SLMP_FLAG_EOM
#define MKSYN SLMP_FLAG_SYN
#define MKACK SLMP_FLAG_ACK
#define EOM(flags) ((flags) & MKEOM)
#define SYN(flags) ((flags) & MKSYN)
#define ACK(flags) ((flags) & MKACK)

/* Byte order conversion: HPUs are little-endian. The C library may define macros of these names. */
#undef bswap_16
#undef bswap_32
#undef htons
#undef ntohs
#undef htonl
#undef ntohl
#define bswap_16(value) ((uint16_t)__builtin_bswap16((uint16_t)(value)))
#define bswap_32(value)                                                                                   \
    (__builtin_constant_p(value) ? (uint32_t)__builtin_bswap32((uint32_t)(value)) : spin_bswap_32((uint32_t)(value)))
/* RV32IMAC has no instruction for this, and the compiler would emit a call. */
static inline uint32_t spin_bswap_32(uint32_t value) {
    return value << 24 | (value & 0xff00) << 8 | (value >> 8 & 0xff00) | value >> 24;
}

#define htons(value) bswap_16(value)
#define ntohs(value) bswap_16(value)
#define htonl(value) bswap_32(value)
#define ntohl(value) bswap_32(value)

/* Payload bytes of an SLMP packet, from its UDP length. */
#define SLMP_PAYLOAD_LEN(hdrs) (ntohs((hdrs)->udp_hdr.length) - sizeof(udp_hdr_t) - sizeof(slmp_hdr_t))

/* UDP payload of a packet that starts with an IP header whose length is in host order. */
#define GET_IP_UDP_PLD(packet, payload, payload_length)                                           \
    {                                                                                             \
        ip_hdr_t *spin_ip = (ip_hdr_t *)(packet);                                                 \
        payload_length = spin_ip->length - sizeof(ip_hdr_t) - sizeof(udp_hdr_t);                  \
        payload = (uint8_t *)(packet) + spin_ip->ihl * 4 + sizeof(udp_hdr_t);                     \
    }

typedef uint16_t __attribute__((may_alias)) spin_halfword_t;
typedef uint32_t __attribute__((may_alias)) spin_word_t;

/* From this many bytes on, adding words is faster; one iteration adds SPIN_CHECKSUM_BLOCK words. */
#define SPIN_CHECKSUM_LONG(has_csum) ((has_csum) ? 16 : 128)
#define SPIN_CHECKSUM_BLOCK 16

/* Whether this processor has the instruction `csum`, as spinneret's own HPU. */
static inline bool spin_has_csum(void) {
#ifdef __riscv
    return spin_is_own_hpu();
#else
    return false;
#endif
}

/* The sum of two words and its carry, in one instruction. */
static inline uint32_t spin_csum(uint32_t sum, uint32_t word) {
#ifdef __riscv
    uint32_t result;
    __asm__(".insn r 0x0b, 0, 0, %0, %1, %2" : "=r"(result) : "r"(sum), "r"(word));
    return result;
#else
    uint32_t result = sum + word;
    return result + (result < sum);
#endif
}

/* Evaluates SPIN_ADD_WORD for `count` words. */
#define SPIN_ADD_WORDS(word, count)                                                             \
    for (; count >= SPIN_CHECKSUM_BLOCK; count -= SPIN_CHECKSUM_BLOCK, word += SPIN_CHECKSUM_BLOCK) { \
        _Pragma("GCC unroll 16") for (size_t i = 0; i < SPIN_CHECKSUM_BLOCK; ++i) {             \
            uint32_t next = word[i];                                                            \
            SPIN_ADD_WORD(next);                                                                \
        }                                                                                       \
    }                                                                                           \
    _Pragma("GCC unroll 1") for (; count != 0; --count, ++word) {                               \
        SPIN_ADD_WORD(*word);                                                                   \
    }

/*
 * Adds up `count` words as 16-bit numbers, at a clock a byte or, by `csum`, half a clock. Words are added as they are, and
 * their carries apart: 2^32 and 2^16 both leave 1 when divided by 0xffff, so all parts count the same in the end.
 */
static inline uint32_t ip_checksum_words(const spin_word_t *word, size_t count, bool has_csum) {
    uint32_t words = 0, carries = 0;
    if (has_csum) {
#define SPIN_ADD_WORD(next) words = spin_csum(words, next)
        SPIN_ADD_WORDS(word, count)
#undef SPIN_ADD_WORD
    } else {
#define SPIN_ADD_WORD(next) (words += (next), carries += words < (next))
        SPIN_ADD_WORDS(word, count)
#undef SPIN_ADD_WORD
    }
    return (words & 0xffff) + (words >> 16) + carries;
}

/*
 * Adds up `length` bytes as 16-bit numbers in memory order, the last one padded with zero. The upper half collects the
 * carries, so up to 64 KiB fit. It is not inlined, because program memory is small and cached. It is aligned to a word,
 * because jumps to an instruction that crosses words take longer.
 */
static __attribute__((noinline, unused, aligned(4))) uint32_t ip_checksum_add(uint32_t sum, const void *data,
                                                                              size_t length) {
    const uint8_t *bytes = (const uint8_t *)data;
    if (((uintptr_t)bytes & 1) == 0) {
        bool has_csum = spin_has_csum();
        if (__builtin_expect(length >= SPIN_CHECKSUM_LONG(has_csum), 0)) {
            if (((uintptr_t)bytes & 2) != 0) {
                sum += *(const spin_halfword_t *)(const void *)bytes;
                bytes += 2;
                length -= 2;
            }
            sum += ip_checksum_words((const spin_word_t *)(const void *)bytes, length / 4, has_csum);
            bytes += length & ~(size_t)3;
            length &= 3;
        }
        for (; length >= 2; length -= 2, bytes += 2) {
            sum += *(const spin_halfword_t *)(const void *)bytes;
        }
    }
    for (; length >= 2; length -= 2, bytes += 2) {
        sum += (uint32_t)(bytes[0] | bytes[1] << 8);
    }
    return length != 0 ? sum + bytes[0] : sum;
}

/*
 * Folds the carries of a sum and inverts it, for a checksum field in memory order. Both halves are added to each other,
 * so the carry of the lower half goes into the upper half, which is the result.
 */
static inline uint16_t ip_checksum_finish(uint32_t sum) {
    sum += sum << 16 | sum >> 16;
    return (uint16_t)(~sum >> 16);
}

/*
 * Returns the Internet checksum of `length` bytes at any address (RFC 1071), in network order. The sum does not depend
 * on the byte order. It starts at 0xffff, the other zero of one's complement, so that zeros have the checksum 0, not
 * 0xffff.
 */
static inline uint16_t ip_checksum(void *data, size_t length) {
    return ip_checksum_finish(ip_checksum_add(0xffff, data, length));
}

#ifdef __riscv
/*
 * Returns size and sum of the packet as the NIC tells them: the sum of its IP payload from there to the end of the frame, in the
 * bits from SPIN_PACKET_SIZE_BITS on. Above the size there are zeros if the NIC has no sum: the packet is not IP, its
 * payload is all zeros, or this NIC or cluster makes no sums.
 */
static inline uint32_t spin_packet_sum(void) {
#ifdef SPIN_NO_PACKET_SUM
    return 0;
#else
    return spin_is_own_hpu() ? *(volatile uint32_t *)(uintptr_t)HWSCHED_PACKET_SUM : 0;
#endif
}

/*
 * Returns the sum over `length` bytes of IP payload at `payload`, which is where the NIC's sum begins, in a packet of `bytes` bytes
 * at `packet`: that of ip_checksum_add. If the NIC has the sum and all of the packet is there, the bytes are not read, only those
 * behind them, such as padding. The packet must be as it came. The frame is as long as the packet, or the software adds up.
 */
static inline uint32_t spin_payload_sum(const void *packet, size_t bytes, const void *payload, size_t length) {
    uint32_t told = spin_packet_sum(), sum = told >> SPIN_PACKET_SIZE_BITS;
    if (sum == 0 || (told & ((1u << SPIN_PACKET_SIZE_BITS) - 1)) != bytes) {
        return ip_checksum_add(0, payload, length);
    }
    size_t behind = (size_t)((const uint8_t *)packet + bytes - (const uint8_t *)payload) - length;
    if (behind != 0) {
        uint32_t rest = ip_checksum_add(0, (const uint8_t *)payload + length, behind);
        /* After an odd length, what is behind begins with the second byte of a word. */
        rest = (length & 1) != 0 ? rest << 8 | rest >> 24 : rest;
        sum += ip_checksum_finish(rest);
    }
    return sum;
}
#endif

#endif
