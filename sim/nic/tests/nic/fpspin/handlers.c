/* Asks the host for each packet, if there are pages for all HPUs, and pushes values to counters. */
#include <handler.h>
#include <packets.h>
#include <spin_host.h>

enum { NUMBERS, ANSWERS, WORDS, BLOCKING, STARTED };
/* Values of NUMBERS for each packet, if the host answers nothing. */
#define VALUES 100

__handler__ void ask_ph(handler_args_t *args) {
    task_t *task = args->task;
    bool is_answered = fpspin_check_host_mem(args);
    for (uint32_t value = 0; value < (is_answered ? 1 : VALUES); value++) {
        push_counter(&__host_data.counters[NUMBERS], value);
    }
    push_counter(&__host_data.counters[WORDS], *(volatile uint32_t *)task->handler_mem);
    if (!is_answered) {
        return;
    }
    uint32_t begun = cycles();
    spin_write_to_host(HOST_PLD_ADDR(args) + PAGE_SIZE / 2, 1, NULL);
    uint32_t waited = cycles();
    spin_cmd_t write;
    spin_write_to_host_nonblk(HOST_PLD_ADDR(args) + PAGE_SIZE / 2, 2, &write);
    uint32_t started = cycles();
    spin_cmd_wait(write);
    push_counter(&__host_data.counters[BLOCKING], waited - begun);
    push_counter(&__host_data.counters[STARTED], started - waited);

    spin_cmd_t copy;
    spin_dma_to_host(HOST_PLD_ADDR(args), (uint32_t)(uintptr_t)task->pkt_mem, task->pkt_mem_size, true, &copy);
    spin_cmd_wait(copy);
    push_counter(&__host_data.counters[ANSWERS], fpspin_host_req(args, task->pkt_mem_size).len);
}
