/*
 * Counts the packets of a message by their size and gives the counts to the host when the message ends. It needs all
 * three handlers: the header handler clears the bins, payload handlers of many packets count at the same time, and the
 * tail handler, which runs when they have all finished, copies the result.
 */
#include <handler.h>
#include <packets.h>
#include <spin_host.h>

#define BIN_BYTES 64
#define BINS 32

/* Messages of one queue come one after the other, so as many as there are queues are open at once. */
#define QUEUES 16

/* The bins of a message, in handler memory, and in the same place of host memory. Whole lines, so copies are cheap. */
typedef struct {
    volatile int32_t bin[BINS];
} __attribute__((aligned(DMA_ALIGN))) histogram_t;

static uint32_t queue(const task_t *task) { return FAST_MOD(task->flow_id, QUEUES); }

static histogram_t *histogram(const task_t *task) { return (histogram_t *)task->handler_mem + queue(task); }

__handler__ void histogram_hh(handler_args_t *args) {
    histogram_t *mine = histogram(args->task);
    for (int i = 0; i < BINS; ++i) {
        mine->bin[i] = 0;
    }
}

__handler__ void histogram_ph(handler_args_t *args) {
    uint32_t bin = FAST_DIV(args->task->pkt_mem_size, 6);
    /* Other HPUs count in the same bins: an ordinary addition would lose some of their counts. */
    amo_send_add(&histogram(args->task)->bin[MIN(bin, BINS - 1)], 1);
}

__handler__ void histogram_th(handler_args_t *args) {
    task_t *task = args->task;
    uint32_t offset = queue(task) * sizeof(histogram_t);
    if (task->host_mem_size < offset + sizeof(histogram_t)) {
        printf("histogram: the host gave %u bytes, queue %u needs %u\n", (unsigned)task->host_mem_size,
               (unsigned)queue(task), (unsigned)(offset + sizeof(histogram_t)));
        return;
    }
    spin_cmd_t copy;
    spin_dma_to_host(HOST_ADDR(args) + offset, (uint32_t)(uintptr_t)histogram(task), sizeof(histogram_t), true, &copy);
    /* The next message of this queue will clear the bins: they must have left by then. */
    spin_cmd_wait(copy);
}

static_assert(BIN_BYTES == 1 << 6, "histogram_ph divides by it");

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = histogram_hh;
    *ph = histogram_ph;
    *th = histogram_th;
    *handler_mem = NULL;
}
