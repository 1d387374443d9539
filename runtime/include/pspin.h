/*
 * Atomics, spin locks, time, and the data that host and HPUs share.
 *
 * Atomics work on words of the HPU's own L1 and of L2 handler memory, and return the previous value. On spinneret's own HPU
 * they are AMO instructions. On the PULP cluster they are serialized (spin_guard.h) and take about 200 clocks each, because
 * its AMO instructions are unusable for this: in L2 they always return 1, and in L1 they corrupt words on their way to the
 * host or the wire.
 *
 * Without a result, amo_send_add is one instruction of about 40 clocks in L2, and amo_store is one instruction everywhere. On
 * words that also see atomics with a result, amo_send_add may be combined only with amo_add, and amo_store only with locks.
 */
#ifndef PSPIN_H
#define PSPIN_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "pspin_rt.h"
#include "spin_conf.h"
#include "spin_guard.h"

#define MEM_ALIGNMENT 4
#define ALIGN_UP(number, alignment) (((uint32_t)(number) + ((alignment) - 1)) & ~((uint32_t)(alignment) - 1))
#define DMA_MAX_XFER_SIZE 32768
#define DMA_NULL 0

typedef uint32_t dma_t;
typedef volatile uint32_t futex_t;

/* A sum and the number of its values; the host divides. */
#define MAX_COUNTERS 16
struct perf_counter {
    uint32_t sum;
    uint32_t count;
};

/* Whether push_counter also keeps the values for the host (COUNTERS of spin.mk). */
#ifndef SPIN_COUNTER_QUEUE
#define SPIN_COUNTER_QUEUE 1
#endif

/* A value in the queue of an HPU. */
#define SPIN_QUEUE_VALUES 32
#define SPIN_QUEUE_COUNTER_BITS 4
struct spin_pushed {
    uint32_t value;
    uint32_t tag; /* how many values this HPU had pushed with this one; in the lowest bits the counter */
};
static_assert(MAX_COUNTERS == 1 << SPIN_QUEUE_COUNTER_BITS, "the tag has the number of the counter");

/* Data in L2 that the host reads and writes: an answer flag for each HPU (spin_host.h), then the counters. */
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
 * Returns the 32-bit cycle counter; differences are valid up to 2^32 cycles (107 s at 40 MHz, 17 s at 250 MHz). User mode
 * cannot read it on the PULP cluster, where this is an environment call of about 30 cycles.
 */
static inline uint32_t cycles(void) {
    if (spin_is_own_hpu()) {
        uint32_t now;
        /* csrr now, cycle: the linker may compile for an instruction set without zicsr. */
        asm volatile(".insn i 0x73, 2, %0, x0, -1024" : "=r"(now) : : "memory");
        return now;
    }
    register uint32_t now asm("a0");
    register uint32_t number asm("a7") = PSPIN_ECALL_CYCLES;
    asm volatile("ecall" : "=r"(now) : "r"(number) : "memory");
    return now;
}

/*
 * LR and SC instructions, for spinneret's own HPU. Use compare_and_swap instead, which works on both: on the PULP cluster, SC
 * in L1 always stores, and SC in L2 may store although another HPU has written in between. The model refuses both.
 */
static inline uint32_t load_reserved(volatile const uint32_t *const address) {
    uint32_t value;
    asm volatile("lr.w %0, (%1)" : "=r"(value) : "r"(address) : "memory");
    return value;
}

static inline unsigned store_conditional(volatile uint32_t *const address, const uint32_t value) {
    unsigned failed;
    asm volatile("sc.w %0, %1, (%2)" : "=&r"(failed) : "r"(value), "r"(address) : "memory");
    return failed;
}

/* Whether an address is in L2 handler memory. */
static inline bool spin_is_in_l2(volatile const void *address) {
    return (uintptr_t)address >> 24 == SPIN_L2_ADDR >> 24;
}

/* Whether an AMO instruction without a result works on a word. */
static inline bool spin_has_amo(volatile const void *address) { return spin_is_own_hpu() || spin_is_in_l2(address); }

/*
 * Changes a word, inside the guard. In L2 this is an AMO instruction, because other HPUs may add to the word without the
 * guard.
 */
#define SPIN_CHANGE(instruction, address, value, after)                                                \
    do {                                                                                               \
        if (spin_has_amo(address)) {                                                                   \
            asm volatile(instruction " zero, %0, (%1)" : : "r"(value), "r"(address) : "memory");       \
        } else {                                                                                       \
            *(address) = (after);                                                                      \
        }                                                                                              \
    } while (0)

/*
 * The guarded form does not write a word that does not change, so that the release of a lock between the load and the store
 * is not lost.
 */
#define SPIN_AMO(name, instruction, type, result)                                                      \
    static inline type name##_guarded(volatile type *const address, const type value) {                \
        spin_guard_enter();                                                                            \
        const type before = *address, after = (type)(result);                                          \
        if (after != before) {                                                                         \
            SPIN_CHANGE(instruction, address, value, after);                                           \
        }                                                                                              \
        spin_guard_leave();                                                                            \
        return before;                                                                                 \
    }                                                                                                  \
    static inline type name(volatile type *const address, const type value) {                          \
        if (!spin_is_own_hpu()) {                                                                      \
            return name##_guarded(address, value);                                                     \
        }                                                                                              \
        type before;                                                                                   \
        asm volatile(instruction " %0, %1, (%2)" : "=r"(before) : "r"(value), "r"(address) : "memory"); \
        return before;                                                                                 \
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

/* Adds to a word of L2 or, on spinneret's own HPU, of L1, without a result: one instruction. */
static inline void spin_l2_add(volatile int32_t *const address, const int32_t value) {
    asm volatile("amoadd.w zero, %0, (%1)" : : "r"(value), "r"(address) : "memory");
}

/* Adds, without a result. */
static inline void amo_send_add(volatile int32_t *const address, const int32_t value) {
    if (spin_has_amo(address)) {
        spin_l2_add(address, value);
    } else {
        amo_add_guarded(address, value);
    }
}

/* A store that is ordered with the other atomics of this word. */
static inline void amo_store(volatile uint32_t *const address, const uint32_t value) {
    if (spin_is_own_hpu()) {
        *address = value;
    } else {
        SPIN_CHANGE("amoswap.w", address, value, value);
    }
}

static inline int compare_and_swap_guarded(volatile uint32_t *const address, const uint32_t expected,
                                           const uint32_t new_value) {
    spin_guard_enter();
    bool is_expected = *address == expected;
    if (is_expected) {
        *address = new_value;
    }
    spin_guard_leave();
    return is_expected ? 0 : -1;
}

/*
 * Stores `new_value` if the word holds `expected`. Returns 0 if it did, else -1. For words in L2, or in L1 if only HPUs of
 * that cluster use them, with this function and amo_store.
 */
static inline int compare_and_swap(volatile uint32_t *const address, const uint32_t expected,
                                   const uint32_t new_value) {
    if (!spin_is_own_hpu()) {
        return compare_and_swap_guarded(address, expected, new_value);
    }
    uint32_t before;
    do {
        before = load_reserved(address);
    } while (before == expected && store_conditional(address, new_value) != 0);
    return before == expected ? 0 : -1;
}

static inline void futex_init(futex_t *futex) { amo_store(futex, 0); }

/* Returns 1 if it has taken the lock, 0 if the lock is held. Polling does not slow down the holder. */
static inline int futex_try_lock(futex_t *futex) { return *futex == 0 && amo_or(futex, 1) == 0; }

static inline int futex_lock(futex_t *futex) {
    while (!futex_try_lock(futex)) {
    }
    return 1;
}

/* As futex_lock, but polls less often, to leave memory bandwidth to other HPUs. */
static inline int futex_lock_s(futex_t *futex) {
    while (!futex_try_lock(futex)) {
        rt_time_wait_cycles(32);
    }
    return 1;
}

static inline void futex_unlock(futex_t *futex) { futex_init(futex); }

/*
 * The newest values of each HPU, in L2, and how many this HPU has pushed. An HPU writes its own queue only, so this needs no
 * atomics. It never waits: the host finds gaps in the numbers, and counts lost values.
 */
extern volatile struct spin_pushed __counter_queue[CORE_COUNT][SPIN_QUEUE_VALUES];
extern __thread uint32_t spin_pushed_values;

/* Writes the value before its tag, which makes it valid. HPUs beyond CORE_COUNT have no queue. */
static inline void spin_push_value(uint32_t counter, uint32_t value) {
    uint32_t hpu = rt_cluster_id() * NB_CORES + rt_core_id();
    if (counter < MAX_COUNTERS && hpu < CORE_COUNT) {
        uint32_t number = ++spin_pushed_values;
        volatile struct spin_pushed *place = &__counter_queue[hpu][number % SPIN_QUEUE_VALUES];
        place->value = value;
        place->tag = number << SPIN_QUEUE_COUNTER_BITS | counter;
    }
}

/* Counts without AMO instructions. */
static __attribute__((noinline, cold, unused)) void spin_count_guarded(volatile struct perf_counter *counter,
                                                                       uint32_t value) {
    amo_add_guarded((volatile int32_t *)&counter->sum, (int32_t)value);
    amo_add_guarded((volatile int32_t *)&counter->count, 1);
}

/*
 * Pushes a value to a counter of __host_data: the host reads the values in the order of each HPU, and their sum and number.
 * HPUs may do this concurrently.
 */
static inline void push_counter(volatile struct perf_counter *counter, uint32_t value) {
    /* The compiler knows which counter of __host_data it is, as most often. These are in L2. */
    if (__builtin_constant_p(counter - __host_data.counters) || spin_has_amo(counter)) {
        volatile int32_t *word = (volatile int32_t *)&counter->sum;
        /* With its address in a register, that of the next word takes one instruction. */
        asm("" : "+r"(word));
        spin_l2_add(word, (int32_t)value);
        spin_l2_add(word + 1, 1);
    } else {
        spin_count_guarded(counter, value);
    }
#if SPIN_COUNTER_QUEUE
    spin_push_value((uint32_t)(counter - __host_data.counters), value);
#endif
}

#endif
