/* Every name of spin_dma.h. */
#include <handler.h>
#include <packets.h>
#include <spin_dma.h>

static uint8_t buffer[64];

__handler__ void names_spin_dma_ph(handler_args_t *args)
{
    uint32_t id = spin__memcpy_nonblk(args->task->l2_pkt_mem, buffer, sizeof(buffer));
    if (!spin__tf_completed(id))
        spin__wait_for_tf_completion(id);
    spin__memcpy(buffer, args->task->l2_pkt_mem, sizeof(buffer));
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem_ptr)
{
    volatile handler_fn handlers[] = {NULL, names_spin_dma_ph, NULL};
    *hh = handlers[0];
    *ph = handlers[1];
    *th = handlers[2];
    (void)handler_mem_ptr;
}
