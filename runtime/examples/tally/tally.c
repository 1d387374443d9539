/* Tells the host how many bytes come to which port: the host's side is sim/nic/examples/tally.rs. */
#include <handler.h>
#include <packets.h>

#include "tally.h"

__handler__ void tally_ph(handler_args_t *args) {
    task_t *task = args->task;
    const pkt_hdr_t *packet = task->pkt_mem;
    if (task->pkt_mem_size < sizeof(*packet)) {
        return;
    }
    uint64_t sum;
    spin_status_t status = tally_add(ntohs(packet->udp_hdr.dst_port), task->pkt_mem_size, &sum);
    if (status != SPIN_SERVICE_DONE) {
        printf("tally: refused, status %u\n", (unsigned)status);
    }
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = tally_ph;
    *th = NULL;
    *handler_mem = NULL;
}
