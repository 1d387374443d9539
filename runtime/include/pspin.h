/*
 * Atomics, spin locks, time, and what host and HPUs share.
 *
 * Atomics work on words of the HPU's own L1 and of L2 handler memory, and give the value before the operation. In L1
 * they are single AMO instructions. In L2 they are made of a reservation: there the public cluster gives 1 for the value
 * before, whatever it was. Where nobody wants it, amo_send_add is the instruction in L2 as well.
 */
#ifndef PSPIN_H
#define PSPIN_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "pspin_rt.h"
#include "spin_conf.h"

#define MEM_ALIGNMENT 4
#define ALIGN_UP(number, alignment) (((uint32_t)(number) + ((alignment) - 1)) & ~((uint32_t)(alignment) - 1))
#define DMA_MAX_XFER_SIZE 32768
#define DMA_NULL 0

typedef uint32_t dma_t;
typedef volatile uint32_t futex_t;

/* A sum and how many values went into it; the host divides. */
#define MAX_COUNTERS 16
struct perf_counter {
    uint32_t sum;
    uint32_t count;
};

/* What the host reads and writes in L2: one answer flag for each HPU (spin_host.h), then the counters. */
struct host_data {
    uint64_t flag[CORE_COUNT];
    struct perf_counter counters[MAX_COUNTERS];
};
extern volatile struct host_data __host_data;

/* Keeps the compiler from moving memory accesses across. The HPU itself does not reorder them. */
static inline void asm_mem_fence(void) { asm volatile("" ::: "memory"); }

/* Waits for about this many cycles: an iteration is a decrement (1) and a branch that is taken (3). */
static inline void rt_time_wait_cycles(const unsigned cycles) {
    unsigned turns = cycles / 4;
    if (turns != 0) {
        asm volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(turns));
    }
}

/*
 * The cycle counter, 32 bits: differences are right up to 2^32 cycles (107 s at 40 MHz). User mode cannot read it on the
 * public cluster, so the runtime is asked, which takes some 30 cycles.
 */
static inline uint32_t cycles(void) {
    register uint32_t now asm("a0");
    register uint32_t number asm("a7") = PSPIN_ECALL_CYCLES;
    asm volatile("ecall" : "=r"(now) : "r"(number) : "memory");
    return now;
}

/* Reservations are there in L2 only: in L1 the public cluster stores without a look. */
static inline uint32_t load_reserved(volatile const uint32_t *const address) {
    uint32_t value;
    asm volatile("lr.w %0, (%1)" : "=r"(value) : "r"(address) : "memory");
    return value;
}

/* Stores only if nobody wrote the word since this HPU's load_reserved: 0 if it stored, else another number. */
static inline unsigned store_conditional(volatile uint32_t *const address, const uint32_t value) {
    unsigned failed;
    asm volatile("sc.w %0, %1, (%2)" : "=&r"(failed) : "r"(value), "r"(address) : "memory");
    return failed;
}

/* Whether an address is in L2 handler memory. */
static inline bool spin_is_in_l2(volatile const void *address) {
    return (uintptr_t)address >> 24 == SPIN_L2_ADDR >> 24;
}

#define SPIN_AMO(name, instruction, type, after)                                                                \
    static inline type name(volatile type *const address, const type value) {                                  \
        type before;                                                                                            \
        if (spin_is_in_l2(address)) {                                                                           \
            do {                                                                                                \
                before = (type)load_reserved((volatile const uint32_t *)address);                              \
            } while (store_conditional((volatile uint32_t *)address, (uint32_t)(after)) != 0);                 \
        } else {                                                                                                \
            asm volatile(instruction " %0, %1, (%2)" : "=r"(before) : "r"(value), "r"(address) : "memory");     \
        }                                                                                                       \
        return before;                                                                                          \
    }

SPIN_AMO(amo_swap, "amoswap.w", uint32_t, value)
SPIN_AMO(amo_add, "amoadd.w", int32_t, (uint32_t)before + (uint32_t)value)
SPIN_AMO(amo_and, "amoand.w", uint32_t, before & value)
SPIN_AMO(amo_or, "amoor.w", uint32_t, before | value)
SPIN_AMO(amo_xor, "amoxor.w", uint32_t, before ^ value)
SPIN_AMO(amo_max, "amomax.w", int32_t, before > value ? before : value)
SPIN_AMO(amo_maxu, "amomaxu.w", uint32_t, before > value ? before : value)
SPIN_AMO(amo_min, "amomin.w", int32_t, before < value ? before : value)
SPIN_AMO(amo_minu, "amominu.w", uint32_t, before < value ? before : value)

/* Adds, and gives nothing: one instruction in L1 and in L2. */
static inline void amo_send_add(volatile int32_t *const address, const int32_t value) {
    asm volatile("amoadd.w zero, %0, (%1)" : : "r"(value), "r"(address) : "memory");
}

/* A store that is ordered with the other atomics of this word. */
static inline void amo_store(volatile uint32_t *const address, const uint32_t value) {
    asm volatile("amoswap.w zero, %0, (%1)" : : "r"(value), "r"(address) : "memory");
}

/*
 * In L2: stores `new_value` if the word holds `expected`: 0 if it did, -1 if the word held something else, and a number
 * above 0 if another HPU wrote it in between, in which case one tries again. It is one piece of assembly because
 * a reservation is only sure to hold if no other memory access stands between the two halves.
 */
static inline int compare_and_swap(volatile uint32_t *const address, const uint32_t expected,
                                   const uint32_t new_value) {
    uint32_t found;
    int result;
    asm volatile("lr.w %0, (%2)\n\t"
                 "li   %1, -1\n\t"
                 "bne  %0, %3, 1f\n\t"
                 "sc.w %1, %4, (%2)\n"
                 "1:"
                 : "=&r"(found), "=&r"(result)
                 : "r"(address), "r"(expected), "r"(new_value)
                 : "memory");
    return result;
}

/*
 * Sets a bit, and gives the word as it was before. In L2 a bit that was set already is not stored again: who waits for it
 * takes no reservation away from others.
 */
static inline uint32_t spin_claim_bit(volatile uint32_t *const address, const uint32_t bit) {
    if (!spin_is_in_l2(address)) {
        return amo_or(address, bit);
    }
    uint32_t before;
    do {
        before = load_reserved(address);
    } while ((before & bit) == 0 && store_conditional(address, before | bit) != 0);
    return before;
}

static inline void futex_init(futex_t *futex) { amo_store(futex, 0); }

/* 1 if the lock is ours now, 0 if somebody has it. */
static inline int futex_try_lock(futex_t *futex) { return spin_claim_bit(futex, 1) == 0; }

static inline int futex_lock(futex_t *futex) {
    while (!futex_try_lock(futex)) {
    }
    return 1;
}

/* As futex_lock, but asks the memory less often, which leaves it to the HPUs that have work. */
static inline int futex_lock_s(futex_t *futex) {
    while (!futex_try_lock(futex)) {
        rt_time_wait_cycles(32);
    }
    return 1;
}

static inline void futex_unlock(futex_t *futex) { futex_init(futex); }

/* Adds one measurement to a counter of __host_data. Two HPUs may do it at once. */
static inline void push_counter(volatile struct perf_counter *counter, uint32_t duration) {
    amo_send_add((volatile int32_t *)&counter->count, 1);
    amo_send_add((volatile int32_t *)&counter->sum, (int32_t)duration);
}

#endif
