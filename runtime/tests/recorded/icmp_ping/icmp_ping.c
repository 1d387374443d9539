/*
 * Answers pings with two sums in software, whatever the NIC knows. Traces of the PULP cluster were recorded with this program, so it
 * does not change with the example. The request becomes its own reply: in the packet's copy in L1 the addresses change places, the type
 * changes, and the same bytes go back to the wire.
 */
#include <handler.h>
#include <packets.h>
#include <spin_reply.h>

#define ICMP_ECHO_REQUEST 8
#define ICMP_ECHO_REPLY 0

typedef struct {
    uint8_t type;
    uint8_t code;
    uint16_t checksum;
    uint16_t identifier;
    uint16_t sequence;
} __attribute__((packed)) icmp_hdr_t;

typedef struct {
    eth_hdr_t eth;
    ip_hdr_t ip;
    icmp_hdr_t icmp;
} __attribute__((packed)) ping_t;

/*
 * The rules have seen that this is IPv4 and an echo request, but not that the lengths make sense. A length that is too
 * large would have us read behind the packet, which ends in a fault at best.
 */
static bool is_whole(const ping_t *ping, size_t frame_bytes, size_t ip_bytes) {
    return frame_bytes >= sizeof(ping_t) && ping->ip.ihl == 5 && ip_bytes >= sizeof(ping_t) - sizeof(eth_hdr_t) &&
           ip_bytes <= frame_bytes - sizeof(eth_hdr_t) && ping->icmp.type == ICMP_ECHO_REQUEST;
}

__handler__ void icmp_ping_ph(handler_args_t *args) {
    ping_t *ping = args->task->pkt_mem;
    size_t ip_bytes = ntohs(ping->ip.length);
    if (!is_whole(ping, args->task->pkt_mem_size, ip_bytes)) {
        return;
    }

    /* Short frames are padded, so the length of the message comes from IP. It may be odd. */
    size_t icmp_bytes = ip_bytes - sizeof(ip_hdr_t);

    /* A sum over a message with its checksum is zero. A damaged request gets no answer, as from any other host. */
    if (ip_checksum(&ping->icmp, icmp_bytes) != 0) {
        return;
    }
    ping->icmp.type = ICMP_ECHO_REPLY;
    ping->icmp.checksum = 0;
    ping->icmp.checksum = ip_checksum(&ping->icmp, icmp_bytes);
    spin_swap_addresses(&ping->eth, &ping->ip);

    /* No need to wait: the packet's memory is kept until the command has finished. */
    spin_send_packet(ping, sizeof(eth_hdr_t) + ip_bytes, NULL);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = icmp_ping_ph;
    *th = NULL;
    *handler_mem = NULL;
}
