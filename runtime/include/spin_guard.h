/*
 * The guard: mutual exclusion of all HPUs of all clusters, on which atomic operations are built.
 *
 * The PULP cluster has no atomic operation in L2 with a usable result. An AMO instruction works, but always returns 1. LR
 * and SC return values, but the reservation belongs to the transaction id, and the interconnect assigns the lowest free id:
 * competing HPUs overwrite each other. In L1 an AMO instruction is correct, but an external read of the same bank in the next
 * clock, by a send or a copy to the host, may return its word instead (amo_shim.sv, state ProlongAMO). So atomics with a
 * result read and write under mutual exclusion.
 *
 * The runtime admits HPUs in about the order of their requests (start.S). It does so in machine mode, so handlers cannot
 * corrupt its state, and it admits the next HPU if a handler ends or faults inside.
 */
#ifndef SPIN_GUARD_H
#define SPIN_GUARD_H

#include <stdint.h>

#include "pspin_rt.h"

static inline void spin_guard_call(uint32_t number) {
    register uint32_t a7 asm("a7") = number;
    asm volatile("ecall"
                 : "+r"(a7)
                 :
                 : "memory", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6");
}

/* Enters the guard, after any other HPU inside. Entering twice is a fault. */
static inline void spin_guard_enter(void) { spin_guard_call(PSPIN_ECALL_ENTER); }

/* Leaves the guard. */
static inline void spin_guard_leave(void) { spin_guard_call(PSPIN_ECALL_LEAVE); }

#endif
