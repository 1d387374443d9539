/* Every name of spin_conf.h. */
#include <spin_conf.h>
#include <handler.h>

static uint8_t seen[NB_CLUSTERS][NUM_CLUSTER_HPUS];
static uint8_t packet[PKT_SIZE];

__handler__ void names_spin_conf_ph(handler_args_t *args)
{
    seen[args->cluster_id][args->hpu_id] = 1;
    packet[args->hpu_gid] = NB_CORES + CORE_COUNT;
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem_ptr)
{
    volatile handler_fn handlers[] = {NULL, names_spin_conf_ph, NULL};
    *hh = handlers[0];
    *ph = handlers[1];
    *th = handlers[2];
    (void)handler_mem_ptr;
}
