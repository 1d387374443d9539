/* The C part of start-up, and the data that the runtime shares with handlers and the host. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "handler.h"
#include "spin_dma.h"
#include "spin_host.h"

static_assert(sizeof(handler_args_t) == ARGS_SIZE, "start.S writes the arguments of handlers");
static_assert(SPIN_CONTEXT_SIZE == 1 << SPIN_CONTEXT_SHIFT, "start.S computes the address of its context");
static_assert(SPIN_CONTEXT_OFFSET + NB_CORES * SPIN_CONTEXT_SIZE <= SPIN_GUARD_OFFSET, "contexts overlap the guard");
static_assert(GUARD_NUMBER + 4 * GUARD_MAX_CLUSTERS <= SPIN_GUARD_SIZE, "the guard has no more room than that");
static_assert(SPIN_GUARD_OFFSET + SPIN_GUARD_SIZE <= SPIN_AREA_OFFSET, "the guard overlaps stacks");

/* Code that runs once is optimised for size, and placed after all other code: see link.ld. */
#define STARTUP __attribute__((cold, section(".startup")))

/* The host finds it by this name. */
__attribute__((used, section(".l2_handler_data.host"))) volatile struct host_data __host_data;

volatile uint8_t dma_idx[CORE_COUNT];

__thread uint32_t spin_hart_id;
__thread uint32_t spin_cluster_count;
__thread uint32_t spin_own_hpu;

/*
 * State of start-up. Other HPUs wait for it, and so does the host, which finds it by this name, before it sends packets. It is
 * initialised data, because HPU 0 is still clearing the rest.
 */
#define STARTING 1
#define READY 2
#define FAILED 3
volatile uint32_t __spin_state = STARTING;

/* Made by link.ld. */
extern uint32_t __bss_start[], __bss_end[];
extern const uint8_t __spin_tdata_start[];
extern const uint8_t __spin_tdata_size[], __spin_tls_size[];

/* Applications without it need no preparation; their handlers are found by name. */
__attribute__((weak)) void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = *ph = *th = NULL;
    *handler_mem = NULL;
}

/* In start.S: whether there is memory at an address, whose word is overwritten, and whether user mode has a cycle counter. */
bool spin_exists(volatile void *address);
bool spin_has_cycles(void);

STARTUP static void prepare_locals(uint32_t hart) {
    uint8_t *locals;
    read_register(tp, locals);
    size_t initialised = (uintptr_t)__spin_tdata_size;
    memcpy(locals, __spin_tdata_start, initialised);
    memset(locals + initialised, 0, (uintptr_t)__spin_tls_size - initialised);
    spin_hart_id = hart;
    spin_own_hpu = spin_has_cycles();
}


static volatile uint32_t *guard_of(uint32_t cluster) {
    return (volatile uint32_t *)(uintptr_t)(SPIN_L1_ADDR + (cluster << SPIN_L1_SHIFT) + SPIN_GUARD_OFFSET);
}

/*
 * Initialises the guard. Other clusters wait for `ready` before they run handlers, so no HPU uses it yet. A program also runs
 * on fewer or more clusters than it was built for, so this counts them.
 */
STARTUP static void prepare_guard(void) {
    uint32_t clusters = 1;
    while (clusters < GUARD_MAX_CLUSTERS && spin_exists(guard_of(clusters))) {
        ++clusters;
    }
    for (uint32_t cluster = 0; cluster < clusters; ++cluster) {
        for (uint32_t word = 0; word < SPIN_GUARD_SIZE / 4; ++word) {
            guard_of(cluster)[word] = word == GUARD_CLUSTERS / 4 ? clusters : 0;
        }
    }
}

/* Bytes that are cleared by stores, and the maximum that one copy clears; larger copies gain nothing. */
#define CLEAR_FIRST 64
#define CLEAR_MOST 4096

/* Clears words of L2. A store takes 30 clocks there, a copy of a cleared line 1. */
STARTUP static void clear(uint32_t *start, uint32_t bytes) {
    uint32_t done = 0;
    for (; done < bytes && done < CLEAR_FIRST; done += sizeof(*start)) {
        start[done / sizeof(*start)] = 0;
    }
    while (done < bytes) {
        uint32_t rest = bytes - done;
        uint32_t copied = done < CLEAR_MOST ? done : CLEAR_MOST;
        copied = copied < rest ? copied : rest;
        spin__memcpy(start, start + done / sizeof(*start), copied);
        done += copied;
    }
}

/* Called by every HPU after reset. HPU 0 initialises the shared memory, and the others wait. */
STARTUP void spin_start(uint32_t hart) {
    prepare_locals(hart);
    if (hart == 0) {
        clear(__bss_start, (uint32_t)((uintptr_t)__bss_end - (uintptr_t)__bss_start));
        prepare_guard();
        spin_cluster_count = guard_of(0)[GUARD_CLUSTERS / 4];
        handler_fn hh, ph, th;
        void *handler_mem;
        init_handlers(&hh, &ph, &th, &handler_mem);
        amo_store(&__spin_state, READY);
    } else {
        while (__spin_state != READY) {
            rt_time_wait_cycles(64);
        }
        spin_cluster_count = guard_of(rt_cluster_id())[GUARD_CLUSTERS / 4];
    }
}

/* Handles a trap outside of any task. */
STARTUP void spin_start_failed(uint32_t cause, uint32_t pc, uint32_t value) {
    printf("HPU %u of cluster %u: trap %u at 0x%08x (0x%08x) in init_handlers: nothing can run\n",
           (unsigned)rt_core_id(), (unsigned)rt_cluster_id(), (unsigned)cause, (unsigned)pc, (unsigned)value);
    amo_store(&__spin_state, FAILED);
    for (;;) {
        TERMINATE
    }
}
