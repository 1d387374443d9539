/*
 * Sends every UDP packet back to where it came from: Listing 1 of the FPsPIN paper. Nothing is checked, since nothing
 * is read that the rules have not seen; and no checksum is touched, since swapping two terms of a sum does not
 * change it.
 */
#include <handler.h>
#include <packets.h>
#include <spin_reply.h>

__handler__ void udp_ping_ph(handler_args_t *args) {
    task_t *task = args->task;
    uint32_t start = cycles();
    pkt_hdr_t *packet = task->pkt_mem;
    size_t bytes = task->pkt_mem_size;

    spin_swap_ends(packet);

    spin_cmd_t send;
    spin_send_packet(packet, bytes, &send);
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
