# Calls run(a0, a1, a2) and stops; the test sets the arguments and the stack pointer.
    .section .text.start
    .globl _start
_start:
    .option push
    .option norelax
    la gp, __global_pointer$ # The linker shortens accesses to variables with it.
    .option pop
    call run
    ebreak
