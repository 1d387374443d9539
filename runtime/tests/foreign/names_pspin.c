/* Every name of pspin.h, with the public runtime's order of includes. */
#include "pspin.h"
#include <handler.h>

static volatile uint32_t word;
static volatile int32_t number;
static futex_t futex;

__handler__ void names_pspin_ph(handler_args_t *args)
{
    uint32_t start = cycles();
    uint32_t before = amo_swap(&word, 1) + amo_and(&word, 3) + amo_or(&word, 4) + amo_xor(&word, 1)
                    + amo_maxu(&word, 9) + amo_minu(&word, 2);
    amo_store(&word, before);
    int32_t signed_before = amo_add(&number, -1) + amo_max(&number, 7) + amo_min(&number, -7);
    while (compare_and_swap(&word, load_reserved(&word), 5) != 0)
        ;
    unsigned failed = store_conditional(&word, 1);

    futex_init(&futex);
    if (futex_try_lock(&futex))
        futex_unlock(&futex);
    futex_lock(&futex);
    futex_unlock(&futex);
    futex_lock_s(&futex);
    futex_unlock(&futex);

    rt_time_wait_cycles(100);
    asm_mem_fence();
    for (int i = 0; i < MAX_COUNTERS; ++i) {
        push_counter(&__host_data.counters[i], cycles() - start);
        __host_data.counters[i].sum = 0;
        __host_data.counters[i].count = 0;
    }
    struct perf_counter counter = {.sum = 1, .count = 2};
    push_counter(&counter, 3);
    __host_data.flag[args->hpu_gid] = 0;
    dma_t dma = DMA_NULL;
    printf("%u %d %u %u %u %u %u\n", (unsigned)ALIGN_UP(13, 8), (int)signed_before, failed, (unsigned)dma,
           (unsigned)sizeof(struct host_data), (unsigned)MEM_ALIGNMENT, (unsigned)DMA_MAX_XFER_SIZE);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem_ptr)
{
    volatile handler_fn handlers[] = {NULL, names_pspin_ph, NULL};
    *hh = handlers[0];
    *ph = handlers[1];
    *th = handlers[2];
    (void)handler_mem_ptr;
}
