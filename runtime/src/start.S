/*
 * Start-up, traps, and the loop of an HPU, in machine mode. Handlers run in user mode.
 *
 *   reset -> _start -> spin_start() -> next_task: wait for a task --mret--> handler
 *                                          ^                                  |
 *                                          +-- doorbell <-------- exit call --+
 *                                                   ^-- error <-- any trap ---+
 *
 * A read of the handler's address waits for a task. The doorbell ends it, whether it is read or written, and so it is
 * touched once a task, at its end; the error register only says why, before that.
 *
 * mscratch always holds this HPU's context, in a part of L1 that user mode cannot reach. Nothing that a handler leaves
 * in registers or in its stack is relied on, and nothing here uses a stack.
 *
 * With SPIN_RESIDENT this is the resident runtime, which belongs to no program: the id in the size of a handler names its
 * program, and resident/switch.S is entered when another one than before has a task.
 */
#include "context.h"
#include "spin_conf.h"

/* Handlers for the PULP cluster alone have their arguments on the stack, as drivers have none. */
#ifdef SPIN_PSPIN_ONLY
#define SPIN_STACK_ARGS
#endif

/* Registers of the HPU's driver, and of the cluster's instruction cache. */
#define HANDLER (HWSCHED_HANDLER_FUN_ADDR - SPIN_HPU_ADDR)
#define HANDLER_SIZE (HWSCHED_HANDLER_FUN_SIZE - SPIN_HPU_ADDR)
#define TASK (HWSCHED_HANDLER_MEM_ADDR - SPIN_HPU_ADDR)
#define DOORBELL (HWSCHED_DOORBELL - SPIN_HPU_ADDR)
#define ARGS (HWSCHED_ARGS - SPIN_HPU_ADDR)
#define ERROR (HWSCHED_ERROR - SPIN_HPU_ADDR)
#define WAIT (CMD_WAIT - SPIN_HPU_ADDR)
#define ICACHE_ENABLE 0x00
#define ICACHE_FLUSH 0x04

#define MSTATUS_MPP 0x1800
#define CAUSE_USER_ECALL 8
#define CAUSE_MACHINE_ECALL 11
#define ECALL_RETURN 0 /* the end of a handler, as ECALL_EXIT */
#define ECALL_CYCLES 1
#define ECALL_ENTER 2
#define ECALL_LEAVE 3
#define ECALL_EXIT 10
#define ECALL_STARTED 11 /* the resident runtime's: init_handlers has returned */

    /* Multiplies, with t2 where there is no instruction for it. */
    .macro multiply product, number
#ifdef __riscv_mul
    mul \product, \product, \number
#else
    mv t2, \product
    li \product, 0
1:  beqz t2, 2f
    add \product, \product, \number
    addi t2, t2, -1
    j 1b
2:
#endif
    .endm

    /* Arguments for a handler, at the start of its stack. t0: the context, t1: the driver. */
    .macro prepare_arguments
    lw t3, CONTEXT_GID(t0)
    lw t4, CONTEXT_CLUSTER(t0)
    lw t5, CONTEXT_HPU(t0)
    addi t6, t1, TASK
    sw t6, 0(sp)
    sw t3, 4(sp)
    sw t4, 8(sp)
    sw t5, 12(sp)
    mv a0, sp
    .endm

    /* Asks for the next task, and begins its handler, with fresh registers: the one before may have left anything in them. */
    .macro begin_next_task
next_task:
#ifdef SPIN_STACK_ARGS
    lw t2, HANDLER(t1)
#endif
    lw tp, CONTEXT_TP(t0)
#ifndef SPIN_RESIDENT
    lw gp, CONTEXT_GP(t0)
    lw ra, CONTEXT_RETURN(t0)
#endif
    addi sp, tp, -ARGS_SIZE
    prepare_arguments
#ifdef SPIN_RESIDENT
    mv tp, t0
    j begin_task
#else
#ifndef SPIN_STACK_ARGS
    lw t2, HANDLER(t1)
#endif
    csrw mepc, t2
    mret
#endif
    .endm

#ifndef SPIN_STACK_ARGS
    /*
     * The same if the driver has the arguments. All is ready before the task comes: its handler begins soon after its address is there.
     * tp: the context, t1: the driver.
     */
    .macro begin_next_own_task
next_own_task:
    lw sp, CONTEXT_TP(tp)
    addi a0, t1, ARGS
begin_task:
    lw gp, CONTEXT_GP(tp)
#ifdef SPIN_RESIDENT
    la ra, handler_returned
    lw t4, CONTEXT_PROGRAM(tp)
#else
    lw ra, CONTEXT_RETURN(tp)
#endif
    lw tp, CONTEXT_TP(tp)
    lw t2, HANDLER(t1)
#ifdef SPIN_RESIDENT
    lw t3, HANDLER_SIZE(t1)
    srli t3, t3, SPIN_RESIDENT_ID_SHIFT
    bne t3, t4, 1f
#endif
    csrw mepc, t2
    mret
#ifdef SPIN_RESIDENT
    /* It is too far away for a branch. */
1:  csrr t0, mscratch
    j other_program
#endif
    .endm
#endif

    /* The end of a handler. */
    .macro end_of_task
handler_done:
    csrw mscratch, t0
task_done:
    lw t2, CONTEXT_INSIDE(t0)
    li t1, SPIN_HPU_ADDR
    bnez t2, task_done_specially
    sw zero, DOORBELL(t1)
    .endm

    /* The reset vector of the cores is 0x80 bytes into program memory; the entry point of the ELF file is _start. */
    .section .vectors, "ax"
    .org 0x80
    j _start

    .section .text.start, "ax"
    .globl _start
    .type _start, @function
_start:
    csrw mie, zero
    la t0, trap
    csrw mtvec, t0
    /* The cycle counter, which environment call 1 reads, stands still after reset. */
    csrw mcountinhibit, zero

    /* s0: hart, s1: HPU in its cluster, s2: cluster, s3: this cluster's L1 */
    csrr s0, mhartid
    andi s1, s0, 31
    srli s2, s0, 5
    andi s2, s2, 63
    slli s3, s2, SPIN_L1_SHIFT
    li t0, SPIN_L1_ADDR
    add s3, s3, t0

    /* The cluster's instruction cache is off after reset. HPU 0 turns all of it on, and empties it, before a handler runs. */
    bnez s1, 1f
    li t0, SPIN_ICACHE_ADDR
    li t1, -1
    sw t1, ICACHE_ENABLE(t0)
    li t1, 1
    sw t1, ICACHE_FLUSH(t0)
1:

    /* s4: the context */
    li t0, SPIN_CONTEXT_OFFSET
    add s4, s3, t0
    slli t0, s1, SPIN_CONTEXT_SHIFT
    add s4, s4, t0
    csrw mscratch, s4

    /* From the top of this HPU's area down: thread-local variables, arguments of the handler, stack. */
    addi t0, s1, 1
    li t1, SPIN_AREA_SIZE
    multiply t0, t1
    li t1, SPIN_AREA_OFFSET
    add t0, t0, t1
    add t0, t0, s3
#ifdef SPIN_RESIDENT
    sw zero, CONTEXT_PROGRAM(s4)
    sw t0, CONTEXT_TP(s4)
#else
    la t1, __spin_tls_size
    sub tp, t0, t1
    addi sp, tp, -ARGS_SIZE
    sw tp, CONTEXT_TP(s4)
    la t1, handler_returned
    sw t1, CONTEXT_RETURN(s4)
#endif
    sw s2, CONTEXT_CLUSTER(s4)
    sw s1, CONTEXT_HPU(s4)
    li t0, NB_CORES
    multiply t0, s2
    add t0, t0, s1
    sw t0, CONTEXT_GID(s4)
#ifdef SPIN_RESIDENT
    /* The counters of the PULP cluster alone can be stopped. */
    csrsi mcountinhibit, 1
    csrr a0, mcountinhibit
    andi a0, a0, 1
    csrw mcountinhibit, zero
#else
    call spin_has_cycles
    seqz a0, a0
#endif
    slli a0, a0, IS_PUBLIC_SHIFT
    sw a0, CONTEXT_INSIDE(s4)

#ifdef SPIN_RESIDENT
    j start_resident
#else
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    sw gp, CONTEXT_GP(s4)

    mv a0, s0
    call spin_start
    mv t0, s4
#endif

    /* t0: the context, t1: the driver, here and from here on. Traps and mret leave user mode in MPP. */
first_task:
    li t1, SPIN_HPU_ADDR
    li t2, MSTATUS_MPP
    csrc mstatus, t2
#ifndef SPIN_STACK_ARGS
next_task_of_any:
    lw t2, CONTEXT_INSIDE(t0)
    beqz t2, back_to_own_tasks
    j next_task
#else
    begin_next_task
#endif
    .size _start, . - _start

    /* The return address of handlers, in user mode. */
    .type handler_returned, @function
handler_returned:
    li a7, ECALL_RETURN
    ecall
    .size handler_returned, . - handler_returned

    .section .text.trap, "ax"
    .balign 256 /* mtvec keeps no more of an address */
    .type trap, @function
trap:
    csrrw t0, mscratch, t0
    sw t1, CONTEXT_SAVED(t0)
    csrr t1, mcause
    addi t1, t1, -CAUSE_USER_ECALL
    bnez t1, not_a_handlers_call
#ifdef SPIN_STACK_ARGS
    beqz a7, handler_done
#else
    bnez a7, 1f
    end_of_task
    j next_task_of_any
1:
#endif
    li t1, ECALL_EXIT
    beq a7, t1, handler_done
call_of_any:
    li t1, ECALL_CYCLES
    beq a7, t1, give_cycles
    li t1, ECALL_ENTER
    beq a7, t1, guard_enter
    li t1, ECALL_LEAVE
    beq a7, t1, guard_leave
#ifdef SPIN_RESIDENT
    li t1, ECALL_STARTED
    beq a7, t1, program_started
#endif
    j fault

    /* The cycle counter, and everything else as it was. */
give_cycles:
    csrr t1, mepc
    addi t1, t1, 4
    csrw mepc, t1
    csrr a0, mcycle
    lw t1, CONTEXT_SAVED(t0)
    csrrw t0, mscratch, t0
    mret

    /* init_handlers, which runs in machine mode, may call as well. */
not_a_handlers_call:
    addi t1, t1, CAUSE_USER_ECALL - CAUSE_MACHINE_ECALL
    beqz t1, call_of_any

    /* The task ends with its cause. The hardware frees the packet; locks that the handler held stay locked. */
fault:
    csrw mscratch, t0
    csrr t2, mcause
    csrr t1, mstatus
    li t3, MSTATUS_MPP
    and t1, t1, t3
    bnez t1, fault_at_start
    li t1, SPIN_HPU_ADDR
    sw t2, ERROR(t1)
    j task_done

#ifdef SPIN_STACK_ARGS
    /* Where it was when traces of the public cluster were recorded, whose cache makes a difference. */
    end_of_task
    j next_task
#endif

    /* It was the only one that was let in, or this is the public cluster. */
task_done_specially:
    andi t2, t2, INSIDE
    beqz t2, wait_for_commands
#ifdef SPIN_RESIDENT
    jal a5, start_failed
#endif
    jal a6, let_next_in
    li t1, SPIN_HPU_ADDR
    j task_done

    /*
     * Commands that the handler has not waited for are waited for here: if the next task started one while this task's
     * are under way, the public cluster would tell it the number of another one.
     */
wait_for_commands:
    sw zero, WAIT(t1)
    li t2, 1
    sw t2, WAIT(t1)
    li t2, 2
    sw t2, WAIT(t1)
    li t2, 3
    sw t2, WAIT(t1)
    sw zero, DOORBELL(t1)
#ifdef SPIN_STACK_ARGS
    j next_task
#else
    .size trap, . - trap
    .type next_task, @function
    begin_next_task
    .size next_task, . - next_task
    .type fault_at_start, @function
#endif

fault_at_start:
#ifdef SPIN_RESIDENT
    /* Nothing here faults while the memories are there. */
    li t1, SPIN_TERMINATE_ADDR
    sw t2, 0(t1)
1:  j 1b
#else
    /* In machine mode only init_handlers can fault: the watchdog leaves machine mode alone. */
    lw tp, CONTEXT_TP(t0)
    addi sp, tp, -ARGS_SIZE
    mv a0, t2
    csrr a1, mepc
    csrr a2, mtval
    call spin_start_failed
#endif
#ifdef SPIN_STACK_ARGS
    .size trap, . - trap
#else
    .size fault_at_start, . - fault_at_start

    /*
     * Where HPUs of spinneret's own trap, unless they are inside the guard. The end of a handler, and the next one: straight on, as each
     * task goes this way. A handler that has returned needs tp and gp no more.
     */
    .balign 4
    .type own_trap, @function
own_trap:
    csrr tp, mscratch
    csrr gp, mcause
    addi gp, gp, -CAUSE_USER_ECALL
    or gp, gp, a7
    bnez gp, not_a_return
    li t1, SPIN_HPU_ADDR
    sw zero, DOORBELL(t1)
    .size own_trap, . - own_trap
    .type next_own_task, @function
    begin_next_own_task
not_a_return:
    lw gp, CONTEXT_GP(tp)
    lw tp, CONTEXT_TP(tp)
    j trap
back_to_own_tasks:
    la t2, own_trap
    csrw mtvec, t2
    mv tp, t0
    j next_own_task
    .size next_own_task, . - next_own_task
#endif

    /*
     * The guard lets one HPU in at a time, by loads and stores alone: the public cluster has no atomic operation that can
     * be used for it. Within a cluster they take tickets, one after the other: each raises a flag, waits with it for those
     * behind it, and without it for those before it (the one-bit algorithm of Burns and of Lamport, "The mutual exclusion
     * problem", 1986). A ticket takes some clocks and the guard some 150, so nobody finds flags raised for long.
     *
     * Clusters take turns as in Lamport's bakery ("A new solution of Dijkstra's concurrent programming problem", 1974):
     * each tells all others that it chooses a number, chooses one higher than those it has been told, and tells that; the
     * lowest goes first. What others say is in the own L1, so waiting costs nobody else anything. Callers expect to lose
     * t1 to t6 and a0 to a6.
     *
     * t0: context, t2: cluster, t3: guard of cluster 0, t4: own guard, t6: clusters, a1: own number
     */
    .macro find_guard
    lw t2, CONTEXT_CLUSTER(t0)
    li t3, SPIN_L1_ADDR + SPIN_GUARD_OFFSET
    slli t4, t2, SPIN_L1_SHIFT
    add t4, t4, t3
    lw t6, GUARD_CLUSTERS(t4)
    .endm

    .section .text.guard, "ax"
    .type guard_enter, @function
guard_enter:
    lw t1, CONTEXT_INSIDE(t0)
    andi t2, t1, INSIDE
    bnez t2, fault
    li t1, INSIDE_HANDLER
    /* t1: for whom */
enter_guard:
#ifndef SPIN_STACK_ARGS
    la t2, trap
    csrw mtvec, t2
#endif
    lw t2, CONTEXT_INSIDE(t0)
    or t1, t1, t2
    sw t1, CONTEXT_INSIDE(t0)
    find_guard

    /* a3: where the own flag is, GUARD_WANTS further on. Nearly always it is the only one. */
    lw a2, CONTEXT_HPU(t0)
    add a3, t4, a2
raise_flag:
    li a1, 1
    sb a1, GUARD_WANTS(a3)
    lw t1, GUARD_WANTS(t4)
    lw t5, GUARD_WANTS + 4(t4)
    slli a4, a2, 3
    sll a4, a1, a4 /* by the shift's low five bits: where the flag is in its word */
    add t1, t1, t5
    beq t1, a4, take_ticket
    mv a4, t4
1:  beq a4, a3, 3f
    addi a4, a4, 1
    lbu t1, GUARD_WANTS - 1(a4)
    beqz t1, 1b
    sb zero, GUARD_WANTS(a3)
2:  lbu t1, GUARD_WANTS - 1(a4)
    bnez t1, 2b
    j raise_flag
3:  addi t5, t4, NB_CORES - 1
4:  beq a4, t5, take_ticket
    addi a4, a4, 1
5:  lbu t1, GUARD_WANTS(a4)
    bnez t1, 5b
    j 4b
take_ticket:
    lw t1, GUARD_TICKET(t4)
    addi a1, t1, 1
    sw a1, GUARD_TICKET(t4)
    sb zero, GUARD_WANTS(a3)
1:  lw t5, GUARD_TURN(t4)
    bne t5, t1, 1b

    li a1, GUARD_CHOOSING
    jal a5, tell_clusters

    /* Numbers may wrap around, as those that meet are close together. */
    li a1, 1
    li a0, 0
    li a2, 0
    mv a3, t4
1:  beq a2, t2, 3f
    lw a4, GUARD_NUMBER(a3)
    andi t1, a4, 1
    beqz t1, 3f
    addi a4, a4, 2
    beqz a0, 2f
    sub t1, a4, a1
    blez t1, 3f
2:  mv a1, a4
    li a0, 1
3:  addi a3, a3, 4
    addi a2, a2, 1
    bne a2, t6, 1b
    jal a5, tell_clusters

    /* Who has the same number goes after clusters before it. */
    li a0, GUARD_CHOOSING
    li a2, 0
    mv a3, t4
1:  beq a2, t2, 3f
2:  lw a4, GUARD_NUMBER(a3)
    beq a4, a0, 2b
    andi t1, a4, 1
    beqz t1, 3f
    sub t1, a4, a1
    bltz t1, 2b
    bnez t1, 3f
    bltu a2, t2, 2b
3:  addi a3, a3, 4
    addi a2, a2, 1
    bne a2, t6, 1b

#ifdef SPIN_RESIDENT
    lw t1, CONTEXT_INSIDE(t0)
    andi t1, t1, INSIDE_RUNTIME
    bnez t1, start_program
#endif
return_from_guard:
    csrr t1, mepc
    addi t1, t1, 4
    csrw mepc, t1
    csrrw t0, mscratch, t0
    mret
    .size guard_enter, . - guard_enter

    .type guard_leave, @function
guard_leave:
    lw t1, CONTEXT_INSIDE(t0)
    andi t1, t1, INSIDE
    beqz t1, fault
    jal a6, let_next_in
    j return_from_guard
    .size guard_leave, . - guard_leave

    .type let_next_in, @function
let_next_in:
    find_guard
    li a1, GUARD_IDLE
    jal a5, tell_clusters
    lw t1, CONTEXT_INSIDE(t0)
    andi t1, t1, ~INSIDE
    sw t1, CONTEXT_INSIDE(t0)
    lw t1, GUARD_TURN(t4)
    addi t1, t1, 1
    sw t1, GUARD_TURN(t4)
    jr a6
    .size let_next_in, . - let_next_in

    /* Tells a1 to all other clusters. */
    .type tell_clusters, @function
tell_clusters:
    slli a3, t2, 2
    add a3, a3, t3
    li a2, 0
    li a4, 1 << SPIN_L1_SHIFT
1:  beq a2, t2, 2f
    sw a1, GUARD_NUMBER(a3)
2:  add a3, a3, a4
    addi a2, a2, 1
    bne a2, t6, 1b
    jr a5
    .size tell_clusters, . - tell_clusters

#ifndef SPIN_RESIDENT
    /*
     * Whether there is memory at address a0, whose word is lost. Start-up alone asks. Where nothing is, an access is a
     * fault, or is answered with something as the public cluster does it.
     */
    .section .startup, "ax"
    .globl spin_exists
    .type spin_exists, @function
spin_exists:
    la t0, does_not_exist
    csrrw t0, mtvec, t0
    sw a0, 0(a0)
    lw t1, 0(a0)
    xor a0, a0, t1
    seqz a0, a0
    csrw mtvec, t0
    ret
    .size spin_exists, . - spin_exists

    /* Whether user mode may read the cycle counter. Start-up alone asks. */
    .globl spin_has_cycles
    .type spin_has_cycles, @function
spin_has_cycles:
    la t0, does_not_exist
    csrrw t0, mtvec, t0
    csrr a0, cycle
    li a0, 1
    csrw mtvec, t0
    ret
    .size spin_has_cycles, . - spin_has_cycles
    .balign 256
does_not_exist:
    csrw mtvec, t0
    li a0, 0
    ret
#endif
