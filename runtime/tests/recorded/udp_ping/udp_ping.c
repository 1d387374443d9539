/*
 * Sends every UDP packet back to where it came from: Listing 1 of the FPsPIN paper. Traces of the PULP cluster were recorded with this
 * program, so it does not change with the example.
 */
#include <handler.h>
#include <packets.h>

__handler__ void udp_ping_ph(handler_args_t *args) {
    uint32_t start = cycles();
    task_t *task = args->task;
    pkt_hdr_t *packet = task->pkt_mem;

    mac_addr_t mac = packet->eth_hdr.src;
    packet->eth_hdr.src = packet->eth_hdr.dest;
    packet->eth_hdr.dest = mac;

    uint32_t address = packet->ip_hdr.source_id;
    packet->ip_hdr.source_id = packet->ip_hdr.dest_id;
    packet->ip_hdr.dest_id = address;

    uint16_t port = packet->udp_hdr.src_port;
    packet->udp_hdr.src_port = packet->udp_hdr.dst_port;
    packet->udp_hdr.dst_port = port;

    spin_cmd_t send;
    spin_send_packet(packet, task->pkt_mem_size, &send);
    spin_cmd_wait(send);

    /* The host reads the mean from counter 0, the time to the end of the send included. */
    push_counter(&__host_data.counters[0], cycles() - start);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = udp_ping_ph;
    *th = NULL;
    *handler_mem = NULL;
}
