/* Every name of pspin_rt.h. */
#include <pspin_rt.h>
#include <handler.h>

__handler__ void names_pspin_rt_ph(handler_args_t *args)
{
    uint32_t now;
    ecall_0(PSPIN_ECALL_CYCLES, now);
    if (rt_core_id() != args->hpu_id || rt_cluster_id() != args->cluster_id)
        printf("I am somebody else at cycle %u, page %u\n", (unsigned)now, PAGE_SIZE);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem_ptr)
{
    volatile handler_fn handlers[] = {NULL, names_pspin_rt_ph, NULL};
    *hh = handlers[0];
    *ph = handlers[1];
    *th = handlers[2];
    (void)handler_mem_ptr;
}
