/* Passes each packet to the host's network stack, to find out how many it can be in a second. */
#include <handler.h>

__handler__ void pass_ph(handler_args_t *args) {
    task_t *task = args->task;
    spin_pass(task, task->l2_pkt_mem, task->pkt_mem_size, NULL);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = pass_ph;
    *th = NULL;
    *handler_mem = NULL;
}
