/* Tests of packets.h that run where they are compiled: on the build machine, and on any HPU. */
#include <assert.h>
#include <stdio.h>

#include "../include/packets.h"

static_assert(sizeof(mac_addr_t) == 6 && sizeof(eth_hdr_t) == 14 && sizeof(ip_hdr_t) == 20, "sizes on the wire");
static_assert(sizeof(udp_hdr_t) == 8 && sizeof(slmp_hdr_t) == 10, "sizes on the wire");
static_assert(sizeof(pkt_hdr_t) == 42 && sizeof(slmp_pkt_hdr_t) == 52, "sizes on the wire");
static_assert(offsetof(eth_hdr_t, src) == 6 && offsetof(eth_hdr_t, length) == 12, "Ethernet");
static_assert(offsetof(ip_hdr_t, length) == 2 && offsetof(ip_hdr_t, offset) == 6, "IP");
static_assert(offsetof(ip_hdr_t, ttl) == 8 && offsetof(ip_hdr_t, protocol) == 9, "IP");
static_assert(offsetof(ip_hdr_t, checksum) == 10 && offsetof(ip_hdr_t, source_id) == 12, "IP");
static_assert(offsetof(ip_hdr_t, dest_id) == 16 && offsetof(udp_hdr_t, checksum) == 6, "IP and UDP");
static_assert(offsetof(slmp_pkt_hdr_t, slmp_hdr) == 42 && offsetof(slmp_hdr_t, msg_id) == 2, "SLMP");
static_assert(offsetof(slmp_hdr_t, pkt_off) == 6, "SLMP");

static int failures;

#define CHECK(condition)                                               \
    do {                                                               \
        if (!(condition)) {                                            \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
            ++failures;                                                \
        }                                                              \
    } while (0)

/* RFC 1071 in its simplest form: big-endian words one by one, every carry at once. It starts from the other zero. */
static uint16_t plain_checksum(const uint8_t *data, size_t length) {
    uint32_t sum = 0xffff;
    for (size_t i = 0; i < length; i += 2) {
        sum += (uint32_t)data[i] << 8 | (i + 1 < length ? data[i + 1] : 0);
        if (sum > 0xffff) {
            sum -= 0xffff;
        }
    }
    return (uint16_t)~sum;
}

static uint32_t random_state = 20231127;
static uint32_t random_word(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    return random_state ^= random_state << 5;
}

/* Bytes of a known header: RFC 1071 gives no other example than sums, so this one is from a real capture. */
static void knows_a_real_header(void) {
    uint8_t header[20] = {0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                          0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};
    ip_hdr_t *ip = (ip_hdr_t *)(void *)header;
    CHECK(ip->version == 4 && ip->ihl == 5 && ntohs(ip->length) == 115 && ip->protocol == 17);
    CHECK(ntohl(ip->source_id) == 0xc0a80001);
    ip->checksum = ip_checksum(header, sizeof(header));
    CHECK(header[10] == 0xb8 && header[11] == 0x61);
    CHECK(ip_checksum(header, sizeof(header)) == 0);
}

static void agrees_with_the_plain_checksum(void) {
    static uint8_t data[2048] __attribute__((aligned(4)));
    for (int round = 0; round < 4000; ++round) {
        size_t start = random_word() % 4, length = random_word() % (round < 2000 ? 40 : 2000);
        uint32_t extreme = random_word() % 8;
        for (size_t i = 0; i < sizeof(data); ++i) {
            data[i] = extreme == 0 ? 0 : extreme == 1 ? 0xff : (uint8_t)random_word();
        }
        CHECK(ntohs(ip_checksum(data + start, length)) == plain_checksum(data + start, length));
    }
}

/* The largest sum: 64 KiB of ones must not lose a carry. */
static void keeps_every_carry(void) {
    static uint8_t data[65536];
    memset(data, 0xff, sizeof(data));
    CHECK(ip_checksum(data, sizeof(data)) == 0 && ip_checksum(data, sizeof(data) - 1) == htons(0x00ff));
}

static void swaps_bytes(void) {
    CHECK(htons(0x1234) == 0x3412 && ntohs(0x3412) == 0x1234);
    CHECK(htonl(0x12345678) == 0x78563412 && ntohl(0x78563412) == 0x12345678);
    CHECK(htons(0x11234) == 0x3412); /* only 16 bits count */
}

static void reads_slmp(void) {
    slmp_pkt_hdr_t packet = {0}, *hdrs = &packet;
    packet.udp_hdr.length = htons(8 + 10 + 1462);
    packet.slmp_hdr.flags = htons(MKEOM | MKSYN);
    CHECK(SLMP_PAYLOAD_LEN(hdrs) == 1462);
    uint16_t flags = ntohs(packet.slmp_hdr.flags);
    CHECK(EOM(flags) && SYN(flags) && !ACK(flags));
    CHECK(((uint8_t *)hdrs)[42] == 0xc0 && ((uint8_t *)hdrs)[43] == 0);
}

int main(void) {
    knows_a_real_header();
    agrees_with_the_plain_checksum();
    keeps_every_carry();
    swaps_bytes();
    reads_slmp();
    if (failures != 0) {
        printf("packets.h: %d checks failed\n", failures);
    }
    return failures != 0;
}
