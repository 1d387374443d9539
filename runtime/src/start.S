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
 */
#include "context.h"
#include "spin_conf.h"

/* Registers of the HPU's driver, and of the cluster's instruction cache. */
#define HANDLER 0x00
#define TASK 0x08
#define DOORBELL 0x50
#define ERROR 0x54
#define WAIT 0x84
#define ICACHE_ENABLE 0x00
#define ICACHE_FLUSH 0x04

#define MSTATUS_MPP 0x1800
#define CAUSE_USER_ECALL 8
#define CAUSE_MACHINE_ECALL 11
#define ECALL_CYCLES 1
#define ECALL_EXIT 10

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
    mul t0, t0, t1
    li t1, SPIN_AREA_OFFSET
    add t0, t0, t1
    add t0, t0, s3
    la t1, __spin_tls_size
    sub tp, t0, t1
    addi sp, tp, -ARGS_SIZE
    sw sp, CONTEXT_SP(s4)
    sw tp, CONTEXT_TP(s4)
    sw s2, CONTEXT_CLUSTER(s4)
    sw s1, CONTEXT_HPU(s4)
    li t0, NB_CORES
    mul t0, t0, s2
    add t0, t0, s1
    sw t0, CONTEXT_GID(s4)

    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop

    mv a0, s0
    call spin_start
    mv t0, s4

    /* t0: the context, here and from here on */
next_task:
    li t1, SPIN_HPU_ADDR
    lw t2, HANDLER(t1)
    csrw mepc, t2
    li t2, MSTATUS_MPP
    csrc mstatus, t2

    /* Fresh registers and arguments: the handler before may have left anything in them. */
    lw sp, CONTEXT_SP(t0)
    lw tp, CONTEXT_TP(t0)
    lw t3, CONTEXT_GID(t0)
    lw t4, CONTEXT_CLUSTER(t0)
    lw t5, CONTEXT_HPU(t0)
    addi t1, t1, TASK
    sw t1, 0(sp)
    sw t3, 4(sp)
    sw t4, 8(sp)
    sw t5, 12(sp)
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la ra, handler_returned
    mv a0, sp
    mret
    .size _start, . - _start

    /* The return address of handlers, in user mode. */
    .type handler_returned, @function
handler_returned:
    li a7, ECALL_EXIT
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
    li t1, ECALL_EXIT
    beq a7, t1, handler_done
    li t1, ECALL_CYCLES
    bne a7, t1, fault

    /* The cycle counter, and everything else as it was. */
give_cycles:
    csrr t1, mepc
    addi t1, t1, 4
    csrw mepc, t1
    csrr a0, mcycle
    lw t1, CONTEXT_SAVED(t0)
    csrrw t0, mscratch, t0
    mret

    /* init_handlers, which runs in machine mode, may ask for the cycles as well. */
not_a_handlers_call:
    addi t1, t1, CAUSE_USER_ECALL - CAUSE_MACHINE_ECALL
    bnez t1, fault
    li t1, ECALL_CYCLES
    beq a7, t1, give_cycles
    j fault

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

handler_done:
    csrw mscratch, t0
    li t1, SPIN_HPU_ADDR

    /*
     * Commands that the handler has not waited for are waited for here: if the next task started one while this task's
     * are under way, the public cluster would tell it the number of another one.
     */
task_done:
    sw zero, WAIT(t1)
    li t2, 1
    sw t2, WAIT(t1)
    li t2, 2
    sw t2, WAIT(t1)
    li t2, 3
    sw t2, WAIT(t1)
    sw zero, DOORBELL(t1)
    j next_task

    /* In machine mode only init_handlers can fault: the watchdog leaves machine mode alone. */
fault_at_start:
    lw sp, CONTEXT_SP(t0)
    lw tp, CONTEXT_TP(t0)
    mv a0, t2
    csrr a1, mepc
    csrr a2, mtval
    call spin_start_failed
    .size trap, . - trap
