/*
 * One HPU at a time, of all clusters: what atomic operations are made of.
 *
 * The public cluster has no atomic operation in L2 whose result can be used. An AMO instruction does its work, but gives 1
 * for the value before. LR and SC give values, but a reservation there belongs to the number that a transaction has on
 * its way, and the way to L2 gives the lowest free number to each: HPUs that compete store over one another. In L1 an AMO
 * instruction is right, but whoever reads the same bank from outside in the clock after, as sends and copies to the host
 * do, may be given its word in place of his own (amo_shim.sv, state ProlongAMO). So who wants a result reads and writes as
 * the only one.
 *
 * The runtime lets them in, in about the order in which they come (start.S). It does so in machine mode, so what it keeps is
 * out of the reach of handlers, and it lets the next one in if a handler ends or faults inside.
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

/* Waits until no other HPU is inside. Who is inside must not enter again: that is a fault. */
static inline void spin_guard_enter(void) { spin_guard_call(PSPIN_ECALL_ENTER); }

/* Lets the next one in. */
static inline void spin_guard_leave(void) { spin_guard_call(PSPIN_ECALL_LEAVE); }

#endif
