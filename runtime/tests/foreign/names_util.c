/* Every name of util.h. */
#define CHECK_ASSERTS
#include <handler.h>
#include "util.h"

__handler__ void names_util_ph(handler_args_t *args)
{
    uint32_t size = args->task->pkt_mem_size;
    uint32_t hart;
    ASSERT(size != 0);
    SPIN_PRINTF("%u %u\n", (unsigned)MIN(size, 5), (unsigned)MAX(size, 5));
    SPIN_PRINTF("no arguments\n");
    DEBUG_PRINT("not printed %d\n", 1);
    read_register(tp, hart);
    printf("%u %u %u %u %u\n", (unsigned)DIV_CEIL(size, 64), (unsigned)FAST_DIV(size, 6), (unsigned)FAST_MOD(size, 64),
           user_core_id() + user_cluster_id(), (unsigned)AND(hart, 1));
    TRACING_DUMMY_INSTR();
    if (size == 1)
        TERMINATE;
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem_ptr)
{
    volatile handler_fn handlers[] = {NULL, names_util_ph, NULL};
    *hh = handlers[0];
    *ph = handlers[1];
    *th = handlers[2];
    (void)handler_mem_ptr;
}
