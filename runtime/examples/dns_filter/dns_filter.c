/*
 * A filter in front of a DNS server: queries for allowed names reach Linux, others are answered with REFUSED by the NIC.
 *
 * A query that passes is unchanged. The filter drops all else that is sent to port 53, as it reads the name of one plain question
 * over UDP and IPv4 only.
 */
#include <handler.h>
#include <packets.h>
#include <spin_reply.h>

/* Names that are allowed, in lower case, with those below them; the table ends with the first empty name. It is in L2, where the
 * host can change it. */
#define NAMES 16
#define NAME_BYTES 60
struct allowed_name {
    char name[NAME_BYTES];
    int32_t queries;
};
__attribute__((used, section(".l2_handler_data"))) volatile struct allowed_name allowed_names[NAMES] = {
    {"example.com", 0},
    {"example.org", 0},
};

/* Counters of __host_data: bytes and packets. */
enum { PASSED, REFUSED, DROPPED };

typedef struct dns_hdr {
    uint16_t id;
    uint8_t flags; /* QR in bit 7 */
    uint8_t code;  /* RCODE in bits 3:0 */
    uint16_t questions;
    uint16_t answers;
    uint16_t authorities;
    uint16_t additional;
} __attribute__((packed)) dns_hdr_t;

#define DNS_ANSWER 0x80
#define DNS_REFUSED 5
#define DNS_PORT 53
/* Longest name as text, with its end. */
#define LONGEST_NAME 256

typedef struct dns_packet {
    pkt_hdr_t headers;
    dns_hdr_t dns;
    uint8_t question[];
} __attribute__((packed)) dns_packet_t;

/* A plain query of one question: UDP over IPv4 without options, not a fragment, with lengths that fit. */
static bool is_query(const dns_packet_t *packet, uint32_t bytes) {
    if (bytes < sizeof(*packet)) {
        return false;
    }
    const ip_hdr_t *ip = &packet->headers.ip_hdr;
    const udp_hdr_t *udp = &packet->headers.udp_hdr;
    uint32_t udp_bytes = ntohs(udp->length);
    return packet->headers.eth_hdr.length == htons(0x0800) && ip->version == 4 && ip->ihl == 5 && ip->protocol == 17 &&
           (ntohs(ip->offset) & 0x3fff) == 0 && udp->dst_port == htons(DNS_PORT) &&
           udp_bytes >= sizeof(*udp) + sizeof(packet->dns) && ntohs(ip->length) == sizeof(*ip) + udp_bytes &&
           bytes >= sizeof(eth_hdr_t) + sizeof(*ip) + udp_bytes && (packet->dns.flags & DNS_ANSWER) == 0 &&
           packet->dns.questions == htons(1);
}

/* Writes the name at `wire` as text in lower case, such as `www.example.com`. Returns false if it does not end within `bytes`, or
 * is no name of labels. */
static bool read_name(char *text, const uint8_t *wire, uint32_t bytes) {
    uint32_t at = 0;
    uint32_t written = 0;
    while (at < bytes && wire[at] != 0) {
        uint32_t label = wire[at++];
        /* Above 63 are compressed names, which a question has no reason for. */
        if (label > 63 || label >= bytes - at || written + label + 1 > LONGEST_NAME - 1) {
            return false;
        }
        if (written != 0) {
            text[written++] = '.';
        }
        for (uint32_t end = at + label; at < end; at++) {
            char letter = (char)wire[at];
            /* A dot or an end within a label would make another name of it. */
            if (letter == '.' || letter == 0) {
                return false;
            }
            text[written++] = letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
        }
    }
    text[written] = 0;
    return at < bytes && written != 0;
}

static bool is_same(const char *text, const volatile char *name) {
    for (uint32_t at = 0; at < NAME_BYTES; at++) {
        if (text[at] != name[at]) {
            return false;
        }
        if (text[at] == 0) {
            return true;
        }
    }
    return false;
}

/* Returns the entry of the name, or of one above it; NULL if there is none. */
static volatile struct allowed_name *find(const char *text) {
    for (const char *suffix = text;;) {
        for (uint32_t entry = 0; entry < NAMES && allowed_names[entry].name[0] != 0; entry++) {
            if (is_same(suffix, allowed_names[entry].name)) {
                return &allowed_names[entry];
            }
        }
        while (*suffix != 0 && *suffix != '.') {
            suffix++;
        }
        if (*suffix == 0) {
            return NULL;
        }
        suffix++;
    }
}

__handler__ void dns_filter_ph(handler_args_t *args) {
    task_t *task = args->task;
    dns_packet_t *packet = task->pkt_mem;
    uint32_t bytes = task->pkt_mem_size;
    char name[LONGEST_NAME];

    if (!is_query(packet, bytes)) {
        push_counter(&__host_data.counters[DROPPED], bytes);
        return;
    }
    uint32_t payload = ntohs(packet->headers.udp_hdr.length) - sizeof(udp_hdr_t);
    if (!read_name(name, packet->question, payload - sizeof(dns_hdr_t))) {
        push_counter(&__host_data.counters[DROPPED], bytes);
        return;
    }
    volatile struct allowed_name *allowed = find(name);
    if (allowed != NULL) {
        /* The packet is not changed, so L2 has it as well, which leaves L1 to handlers that compute. */
        spin_pass(task, task->l2_pkt_mem, bytes, NULL);
        amo_send_add(&allowed->queries, 1);
        push_counter(&__host_data.counters[PASSED], bytes);
        return;
    }
    packet->dns.flags |= DNS_ANSWER;
    packet->dns.code = DNS_REFUSED;
    spin_swap_ends(&packet->headers);
    spin_set_udp_payload(&packet->headers, payload);
    spin_send_packet(packet, bytes, NULL);
    push_counter(&__host_data.counters[REFUSED], bytes);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = dns_filter_ph;
    *th = NULL;
    *handler_mem = NULL;
}
