/* Sends every UDP packet to port 9000 back to where it came from. rules.toml says which packets come here. */
#include <handler.h>
#include <packets.h>
#include <spin_reply.h>

__handler__ void NAME_ph(handler_args_t *args) {
    task_t *task = args->task;
    pkt_hdr_t *packet = task->pkt_mem;
    if (task->pkt_mem_size < sizeof(pkt_hdr_t)) {
        return;
    }
    spin_swap_ends(packet);
    spin_cmd_t send;
    spin_send_packet(packet, task->pkt_mem_size, &send);
    spin_cmd_wait(send);
}
