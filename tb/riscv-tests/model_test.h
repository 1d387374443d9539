/* The macros of a target for riscv-arch-test: where a test begins, where it ends, and what is compared. */
#define RVMODEL_BOOT .global _start; _start:
#define RVMODEL_HALT    \
    li t0, 1;           \
    la t1, tohost;      \
    sw t0, 0(t1);       \
1:  j 1b;

#define RVMODEL_DATA_BEGIN                          \
    .pushsection .tohost, "aw", @progbits;          \
    .balign 4; .global tohost; tohost: .word 0;     \
    .popsection;                                    \
    .balign 16; .global begin_signature; begin_signature:
#define RVMODEL_DATA_END .balign 16; .global end_signature; end_signature:

#define RVMODEL_IO_INIT
#define RVMODEL_IO_CHECK()
#define RVMODEL_IO_WRITE_STR(scratch, text)
#define RVMODEL_IO_ASSERT_GPR_EQ(scratch, found, wanted)
#define RVMODEL_SET_MSW_INT
#define RVMODEL_CLEAR_MSW_INT
#define RVMODEL_CLEAR_MTIMER_INT
#define RVMODEL_CLEAR_MEXT_INT
