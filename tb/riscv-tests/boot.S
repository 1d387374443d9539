/* Where all threads begin: each goes to its program, whose address the memory has at the place of its hart id. */
    .section .text.init
    .global _start, idle
_start:
    csrr t0, mhartid
    slli t0, t0, 2
    lui  t1, 0x10000
    add  t0, t0, t1
    lw   t0, 0(t0)
    jr   t0
idle:
    j    idle
