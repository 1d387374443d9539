/*
 * The HPU of a handler, and the environment calls into the runtime.
 *
 * Handlers run in user mode, which may not read `mhartid`, so the runtime keeps it in a thread-local variable.
 */
#ifndef PSPIN_RT_H
#define PSPIN_RT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define PAGE_SIZE 4096

/* Numbers of environment calls, in a7. 0 is the return of a handler, and any other number a fault of the task. */
#define PSPIN_ECALL_CYCLES 0x1
#define PSPIN_ECALL_ENTER 0x2
#define PSPIN_ECALL_LEAVE 0x3
#define ECALL_PSPIN_HANDLER_EXIT 0xa

/* Environment call `num` with seven arguments; the result in a0 is assigned to `ret`. */
#define ecall(num, x0, x1, x2, x3, x4, x5, x6, ret)                                                              \
    do {                                                                                                         \
        register uint32_t ecall_a0 asm("a0") = (uint32_t)(x0);                                                   \
        register uint32_t ecall_a1 asm("a1") = (uint32_t)(x1);                                                   \
        register uint32_t ecall_a2 asm("a2") = (uint32_t)(x2);                                                   \
        register uint32_t ecall_a3 asm("a3") = (uint32_t)(x3);                                                   \
        register uint32_t ecall_a4 asm("a4") = (uint32_t)(x4);                                                   \
        register uint32_t ecall_a5 asm("a5") = (uint32_t)(x5);                                                   \
        register uint32_t ecall_a6 asm("a6") = (uint32_t)(x6);                                                   \
        register uint32_t ecall_a7 asm("a7") = (uint32_t)(num);                                                  \
        asm volatile("ecall"                                                                                     \
                     : "+r"(ecall_a0)                                                                            \
                     : "r"(ecall_a1), "r"(ecall_a2), "r"(ecall_a3), "r"(ecall_a4), "r"(ecall_a5), "r"(ecall_a6), \
                       "r"(ecall_a7)                                                                             \
                     : "memory");                                                                                \
        (ret) = ecall_a0;                                                                                        \
    } while (0)
#define ecall_1(num, x0, ret) ecall(num, x0, 0, 0, 0, 0, 0, 0, ret)
#define ecall_0(num, ret) ecall_1(num, 0, ret)

/* This HPU's mhartid: the cluster from bit 5 on, the HPU in bits 4:0. */
extern __thread uint32_t spin_hart_id;

/* The number of this HPU in its cluster. */
static inline uint32_t rt_core_id(void) { return spin_hart_id & 0x1f; }

/*
 * Number of clusters of the NIC, which may differ from the number that the program was built for. On the PULP cluster, the
 * scratchpads of other clusters in a task are undefined.
 */
extern __thread uint32_t spin_cluster_count;
static inline uint32_t rt_cluster_count(void) { return spin_cluster_count; }

/*
 * Whether this is a HPU of spinneret's own: user mode reads the cycle counter, and all atomic instructions work. On the PULP
 * cluster the runtime has to help with both.
 */
extern __thread uint32_t spin_own_hpu;
static inline bool spin_is_own_hpu(void) {
#ifdef SPIN_PSPIN_ONLY
    return false;
#endif
    uint32_t is_own;
    /* It never changes, so accesses to memory in between do not matter to the compiler. */
    asm("lw %0, %%tprel_lo(spin_own_hpu)(tp)" : "=r"(is_own));
    return __builtin_expect(is_own, 1);
}

/* The number of this HPU's cluster. */
static inline uint32_t rt_cluster_id(void) { return spin_hart_id >> 5 & 0x3f; }

#endif
