/*
 * A filter in the wire: UDP packets to blocked ports disappear, all others are sent on as they are. The table has one
 * bit for each of the 65536 ports, so a packet costs one load, however many ports are blocked.
 *
 * The table is in the section l2_handler_data, in L2 handler memory: it comes with the program, all HPUs read it, and
 * the host can change it at any time under the name `blocked_ports`.
 */
#include <handler.h>
#include <packets.h>

#define PORTS 65536

#define WORD(port) [(port) / 32]
#define BIT(port) (1u << (port) % 32)

/* Services that are abused to amplify attacks. No two of them share a word: such bits would have to be or-ed. */
__attribute__((used, section(".l2_handler_data"))) volatile uint32_t blocked_ports[PORTS / 32] = {
    WORD(19) = BIT(19),       /* chargen */
    WORD(389) = BIT(389),     /* connectionless LDAP */
    WORD(1900) = BIT(1900),   /* SSDP */
    WORD(11211) = BIT(11211), /* memcached */
};

/* Counters of __host_data: bytes and packets. */
enum { PASSED, DROPPED };

static bool is_blocked(uint16_t port) { return (blocked_ports[port / 32] >> port % 32 & 1) != 0; }

__handler__ void filter_ph(handler_args_t *args) {
    task_t *task = args->task;
    pkt_hdr_t *packet = task->pkt_mem;
    uint32_t bytes = task->pkt_mem_size;

    /* A handler drops a packet by doing nothing with it. */
    if (is_blocked(ntohs(packet->udp_hdr.dst_port))) {
        push_counter(&__host_data.counters[DROPPED], bytes);
        return;
    }

    /* The packet is not changed, so it can be sent from L2, which leaves L1 to handlers that compute. */
    spin_send_packet(task->l2_pkt_mem, bytes, NULL);
    push_counter(&__host_data.counters[PASSED], bytes);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = filter_ph;
    *th = NULL;
    *handler_mem = NULL;
}
