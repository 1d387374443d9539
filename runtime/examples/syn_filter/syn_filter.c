/*
 * A filter in front of TCP servers: each source may ask for some connections in a period of time, and a flood of requests ends
 * in the NIC. Only requests come here, so connections run at the full rate of the NIC.
 */
#include <handler.h>
#include <packets.h>
#include <spin_guard.h>

/* Sources with the same hash of their address share an entry. */
#define ENTRIES_LOG2 10

/* Settings in L2, which the host can change: requests that a source may send in a period, and the length of a period, as a power of two in
 * clocks; 2^25 clocks are 0.8 s at 40 MHz. */
__attribute__((used, section(".l2_handler_data"))) volatile uint32_t syn_limit = 16;
__attribute__((used, section(".l2_handler_data"))) volatile uint32_t syn_period_shift = 25;

/* The period of the last request of each entry, and requests in it. */
struct source {
    uint16_t period;
    uint16_t requests;
};
static volatile struct source sources[1 << ENTRIES_LOG2];

/* Counters of __host_data: bytes and packets. */
enum { PASSED, DROPPED };

/* Takes one of the source's requests of this period. Returns false if there is none left. */
static bool take_request(uint32_t address) {
    volatile struct source *source = &sources[address * 2654435761u >> (32 - ENTRIES_LOG2)];
    uint16_t period = cycles() >> syn_period_shift;
    uint16_t limit = syn_limit;
    spin_guard_enter();
    /* Counters of HPUs differ by a few clocks, so one of them may be in the next period before another one. */
    if ((int16_t)(period - source->period) > 0) {
        source->period = period;
        source->requests = 0;
    }
    bool is_left = source->requests < limit;
    if (is_left) {
        source->requests++;
    }
    spin_guard_leave();
    return is_left;
}

__handler__ void syn_filter_ph(handler_args_t *args) {
    task_t *task = args->task;
    const pkt_hdr_t *packet = task->pkt_mem;
    uint32_t bytes = task->pkt_mem_size;

    if (!take_request(packet->ip_hdr.source_id)) {
        push_counter(&__host_data.counters[DROPPED], bytes);
        return;
    }
    /* The packet is not changed, so L2 has it as well. */
    spin_pass(task, task->l2_pkt_mem, bytes, NULL);
    push_counter(&__host_data.counters[PASSED], bytes);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = syn_filter_ph;
    *th = NULL;
    *handler_mem = NULL;
}
