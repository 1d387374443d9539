/*
 * The part of the resident runtime that start.S does not share with programs: its start, and what an HPU does when a task belongs to
 * another program than the one before.
 *
 *   other_program: save thread-local variables of the last one -> clear the area -> load those of this one
 *        +-- its context has had a task: next_task_of_any, which finds its program now
 *        +-- the first task: guard -> clear the context's scratchpads, if another context had them -> init_handlers, in
 *            user mode -> next_task_of_any
 *
 * So programs have nothing of each other's registers, stack, thread-local variables and scratchpads. None of their code runs in
 * machine mode. The table is in L2, out of reach of handlers; the host writes the id of an entry last, and clears it first.
 *
 * s0: table, s1: entry, s2: start of the area, s3: its end, s5: id
 */
#include "../src/start.S"

/* Bytes that are cleared by the first copy, from the area: no stack is smaller. */
#define CLEAR_BYTES 1024
/* Registers of the copy engine: spin_dma.h. */
#define DMA_SOURCE 0x00
#define DMA_DESTINATION 0x08
#define DMA_BYTES 0x10
#define DMA_START 0x18
#define DMA_DONE 0x20

/* A bit of a program's state, which the host does not know. */
#define IS_BEING_STARTED 8

#define SCRATCHPAD_ADDRESS (HWSCHED_SCRATCHPAD_0_ADDR - SPIN_HPU_ADDR)
#define SCRATCHPAD_SIZE (HWSCHED_SCRATCHPAD_0_SIZE - SPIN_HPU_ADDR)

    /* \entry: the entry of an id. */
    .macro find_entry entry, id
    andi \entry, \id, (1 << SPIN_RESIDENT_CONTEXT_BITS) - 1
    slli \entry, \entry, SPIN_RESIDENT_ENTRY_SHIFT
    add \entry, \entry, s0
    addi \entry, \entry, SPIN_RESIDENT_ENTRIES
    .endm

    /* \locals: where the entry keeps the variables of this HPU, of \bytes bytes. */
    .macro find_locals locals, bytes, entry
    lw \bytes, SPIN_RESIDENT_LOCALS_SIZE(\entry)
    lw \locals, CONTEXT_GID(t0)
    mul \locals, \locals, \bytes
    lw t6, SPIN_RESIDENT_LOCALS(\entry)
    add \locals, \locals, t6
    .endm

    .section .text.resident, "ax"
    /* HPU 0 prepares the guard of each cluster, and clears its scratchpads; the others wait. */
start_resident:
    mv t0, s4
    li t1, SPIN_RESIDENT_ADDR
    li t3, SPIN_RESIDENT_READY
    bnez s0, 3f
    lw t2, SPIN_RESIDENT_CLUSTERS(t1)
    li a0, SPIN_L1_ADDR + SPIN_GUARD_OFFSET
    li a1, 0
    li a4, 1 << SPIN_L1_SHIFT
1:  addi a2, a0, SPIN_GUARD_SIZE
    mv a3, a0
2:  sw zero, 0(a3)
    addi a3, a3, 4
    bne a3, a2, 2b
    sw t2, GUARD_CLUSTERS(a0)
    add a0, a0, a4
    addi a1, a1, 1
    bne a1, t2, 1b
    li s2, SPIN_L1_ADDR + SPIN_AREA_OFFSET
    addi a0, s2, CLEAR_BYTES
4:  addi a0, a0, -4
    sw zero, 0(a0)
    bne a0, s2, 4b
    li s3, SPIN_L1_ADDR + SPIN_SCRATCHPADS_OFFSET
5:  mv a1, s3
    li a2, SPIN_SCRATCHPADS_SIZE
    jal t5, clear_scratchpad
    li a4, 1 << SPIN_L1_SHIFT
    add s3, s3, a4
    addi t2, t2, -1
    bnez t2, 5b
    li t3, SPIN_RESIDENT_READY
    fence
    sw t3, SPIN_RESIDENT_STATE(t1)
3:  lw t2, SPIN_RESIDENT_STATE(t1)
    bne t2, t3, 3b
    j first_task

    /* t3: id of the program, t4: id of the last one */
other_program:
    li s0, SPIN_RESIDENT_ADDR
    mv s5, t3
    lw s2, CONTEXT_HPU(t0)
    li t5, SPIN_AREA_SIZE
    mul s2, s2, t5
    lw t6, CONTEXT_CLUSTER(t0)
    slli t6, t6, SPIN_L1_SHIFT
    add s2, s2, t6
    li t6, SPIN_L1_ADDR + SPIN_AREA_OFFSET
    add s2, s2, t6
    add s3, s2, t5

    /* A program that was unloaded has no variables. */
    beqz t4, 3f
    find_entry s1, t4
    lw t6, SPIN_RESIDENT_ID(s1)
    bne t6, t4, 3f
    find_locals a1, a3, s1
    sub t4, s3, a3
    jal a6, copy_bytes
    sw zero, CONTEXT_PROGRAM(t0)

3:  mv a0, s2
4:  sw zero, 0(a0)
    sw zero, 4(a0)
    sw zero, 8(a0)
    sw zero, 12(a0)
    sw zero, 16(a0)
    sw zero, 20(a0)
    sw zero, 24(a0)
    sw zero, 28(a0)
    addi a0, a0, 32
    bne a0, s3, 4b

    beqz s5, not_loaded
    find_entry s1, s5
    lw t6, SPIN_RESIDENT_ID(s1)
    bne t6, s5, not_loaded
    find_locals t4, a3, s1
    sub a1, s3, a3
    sw a1, CONTEXT_TP(t0)
    jal a6, copy_bytes
    lw t6, SPIN_RESIDENT_GP(s1)
    sw t6, CONTEXT_GP(t0)

    /* The instruction cache of the cluster may have code that was there before. */
    lw t2, CONTEXT_CLUSTER(t0)
    slli t2, t2, SPIN_L1_SHIFT
    li t6, SPIN_L1_ADDR + SPIN_GUARD_OFFSET
    add t2, t2, t6
    lw t3, SPIN_RESIDENT_LOADS(s0)
    lw t4, GUARD_LOADS(t2)
    beq t3, t4, 5f
    sw t3, GUARD_LOADS(t2)
    li t3, SPIN_ICACHE_ADDR
    li t4, 1
    sw t4, ICACHE_FLUSH(t3)

    /* One HPU starts the program, and the others wait here. If two find it untouched, the guard decides. */
5:  lw t6, SPIN_RESIDENT_ID(s1)
    bne t6, s5, not_loaded
    lw t6, SPIN_RESIDENT_PROGRAM_STATE(s1)
    li t5, SPIN_RESIDENT_READY
    beq t6, t5, enter_program
    li t5, SPIN_RESIDENT_FAILED
    beq t6, t5, not_loaded
    andi t5, t6, IS_BEING_STARTED
    bnez t5, 5b
    ori t6, t6, IS_BEING_STARTED
    sw t6, SPIN_RESIDENT_PROGRAM_STATE(s1)
    li t1, INSIDE_RUNTIME
    j enter_guard

    /* Inside the guard: another HPU may have started the program meanwhile. */
start_program:
    lw t6, SPIN_RESIDENT_PROGRAM_STATE(s1)
    andi t5, t6, SPIN_RESIDENT_READY & SPIN_RESIDENT_FAILED
    beqz t5, 1f
    jal a6, let_next_in
    j 5b

    /* The context's scratchpads in all clusters. */
1:  andi t6, t6, SPIN_RESIDENT_CLEARING
    beqz t6, 3f
    li t1, SPIN_HPU_ADDR
    lw a0, SPIN_RESIDENT_CLUSTERS(s0)
    slli a0, a0, 2
    add a0, a0, t1
2:  lw a1, SCRATCHPAD_ADDRESS(t1)
    lw a2, SCRATCHPAD_SIZE(t1)
    jal t5, clear_scratchpad
    addi t1, t1, 4
    bne t1, a0, 2b
3:
    /* init_handlers(hh, ph, th, handler_mem) in user mode: the pointers lead to words that are not looked at. */
    lw t2, SPIN_RESIDENT_INIT(s1)
    beqz t2, 7f
    lw t3, SPIN_RESIDENT_INIT_DONE(s1)
    lw t3, 0(t3)
    bnez t3, 7f
    csrw mepc, t2
    li t2, MSTATUS_MPP
    csrc mstatus, t2
    lw gp, CONTEXT_GP(t0)
    lw tp, CONTEXT_TP(t0)
    addi sp, tp, -ARGS_SIZE
    mv a0, sp
    addi a1, sp, 4
    addi a2, sp, 8
    addi a3, sp, 12
    la ra, init_returned
    jal t1, clear_registers
    mret
7:  li t6, SPIN_RESIDENT_READY
    sw t6, SPIN_RESIDENT_PROGRAM_STATE(s1)
    jal a6, let_next_in

enter_program:
    sw s5, CONTEXT_PROGRAM(t0)
    mv a1, zero
    mv a2, zero
    mv a3, zero
    jal t1, clear_registers
    li t1, SPIN_HPU_ADDR
    j next_task_of_any

    /* Clears a2 bytes at a1 in L1, with CLEAR_BYTES of zeros at s2; returns to t5. */
clear_scratchpad:
    mv t6, a1
    mv t4, s2
    li a3, CLEAR_BYTES
1:  beqz a2, 4f
    bgeu a2, a3, 2f
    mv a3, a2
2:  jal a6, copy_bytes
    add a1, a1, a3
    sub a2, a2, a3
    /* The next copy is from all that is clear by now, and so as long. */
    mv t4, t6
    sub a3, a1, t6
    j 1b
4:  jr t5

    /* Copies a3 bytes from t4 to a1; returns to a6. */
copy_bytes:
    li t3, SPIN_DMA_ADDR
    sw t4, DMA_SOURCE(t3)
    sw a1, DMA_DESTINATION(t3)
    sw a3, DMA_BYTES(t3)
    lw a4, DMA_START(t3)
1:  lw a5, DMA_DONE(t3)
    sub a5, a5, a4
    bltz a5, 1b
    jr a6

    /* Registers but ra, sp, gp, tp, t0 to t2 and a0 to a3; returns to t1. The runtime's are nothing to handlers. */
clear_registers:
    mv t3, zero
    mv t4, zero
    mv t5, zero
    mv t6, zero
    mv a4, zero
    mv a5, zero
    mv a6, zero
    mv a7, zero
    mv s0, zero
    mv s1, zero
    mv s2, zero
    mv s3, zero
    mv s4, zero
    mv s5, zero
    mv s6, zero
    mv s7, zero
    mv s8, zero
    mv s9, zero
    mv s10, zero
    mv s11, zero
    jr t1

    /* The return address of init_handlers, in user mode. */
init_returned:
    li a7, ECALL_STARTED
    ecall

    /* Only init_handlers may say so. */
program_started:
    lw t1, CONTEXT_INSIDE(t0)
    andi t1, t1, INSIDE_RUNTIME
    beqz t1, fault
    csrw mscratch, t0
    li s0, SPIN_RESIDENT_ADDR
    li t1, SPIN_HPU_ADDR
    lw s5, HANDLER_SIZE(t1)
    srli s5, s5, SPIN_RESIDENT_ID_SHIFT
    find_entry s1, s5
    lw t2, SPIN_RESIDENT_INIT_DONE(s1)
    li t3, 1
    sw t3, 0(t2)
    j 7b

    /* A task ends inside the guard: if it is one of init_handlers, the program does not run. Returns to a5. */
start_failed:
    lw t1, CONTEXT_INSIDE(t0)
    andi t1, t1, INSIDE_RUNTIME
    beqz t1, 1f
    li s0, SPIN_RESIDENT_ADDR
    li t1, SPIN_HPU_ADDR
    lw t2, HANDLER_SIZE(t1)
    srli t2, t2, SPIN_RESIDENT_ID_SHIFT
    find_entry s1, t2
    li t2, SPIN_RESIDENT_FAILED
    sw t2, SPIN_RESIDENT_PROGRAM_STATE(s1)
1:  jr a5

    /* The task of a program that is not there, or whose init_handlers failed. */
not_loaded:
    li t1, SPIN_HPU_ADDR
    li t2, SPIN_RESIDENT_NOT_LOADED
    sw t2, ERROR(t1)
    j task_done
