/* A handler that answers the host as often as it asks, for figures of round trips. */
#include <handler.h>
#include <spin_host.h>

#define PAGE 4096

/* The host counts it up: each time it gets an answer, with all bits set it ends the handler. */
volatile uint32_t asked;
/* Bytes of an answer, PAGE at most. */
volatile uint32_t bytes = sizeof(uint32_t);

/* One packet is enough: the handlers of others end at once. */
static volatile int32_t handlers;

/* The last word is the number of the question that the page answers. */
static uint32_t page[PAGE / sizeof(uint32_t)];

__handler__ void trips_ph(handler_args_t *args) {
    uint32_t answered = 0;
    if (amo_add(&handlers, 1) != 0)
        return;
    for (uint32_t now = asked; now != UINT32_MAX; now = asked) {
        if (now == answered)
            continue;
        spin_cmd_t write;
        uint32_t length = bytes;
        page[length / sizeof(uint32_t) - 1] = now;
        spin_dma_to_host(HOST_ADDR(args), (uint32_t)(uintptr_t)page, length, true, &write);
        spin_cmd_wait(write);
        answered = now;
    }
}
