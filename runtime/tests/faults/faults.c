/*
 * All faults that a handler can cause, chosen by the first byte of the packet. For tests of the cluster: each fault
 * must end this task alone, with the cause in the comment next to it.
 */
#include <handler.h>

#define IN_NO_MEMORY ((volatile uint32_t *)(uintptr_t)0x40000000)
#define OF_THE_RUNTIME ((volatile uint32_t *)(uintptr_t)(SPIN_L1_ADDR + SPIN_CONTEXT_OFFSET))
#define PROGRAM ((volatile uint32_t *)(uintptr_t)0x1d000100)

/* In L2 handler memory, but where there is none. */
#define BEHIND_HANDLER_MEMORY ((volatile int32_t *)(uintptr_t)0x1cf00000)

static __thread uint32_t tasks_here;
static volatile int32_t tasks;

static uint32_t __attribute__((noinline)) dive(uint32_t depth) {
    volatile uint32_t room[64];
    room[depth % 64] = depth;
    if (depth == UINT32_MAX) {
        return 0;
    }
    return dive(depth + 1) + room[0];
}

__handler__ void faults_ph(handler_args_t *args) {
    const volatile uint8_t *packet = args->task->pkt_mem;
    uint32_t value = 0;
    ++tasks_here;
    switch (packet[0]) {
    case 0: /* no HPU stays in the guard */
        amo_add(&tasks, 1);
        printf("no fault %u\n", (unsigned)tasks_here);
        return;
    case 1: asm volatile(".word 0"); break;                                         /* 2: illegal instruction */
    case 2: asm volatile("csrr %0, mhartid" : "=r"(value)); break;                  /* 2: machine mode only */
    case 3: value = *(const volatile uint32_t *)(packet + 1); break;                /* none: the core makes two accesses of it */
    case 4: value = *IN_NO_MEMORY; break;                                           /* 5: load access fault */
    case 5: *IN_NO_MEMORY = 1; break;                                               /* 7: store access fault */
    case 6: value = *OF_THE_RUNTIME; break;                                         /* 5: not ours */
    case 7: *PROGRAM = 0; break;                                                    /* 7: not writable */
    case 8: ((void (*)(void))(uintptr_t)IN_NO_MEMORY)(); break;                     /* 1: fetch access fault */
    case 9: for (;;) {} break;                                                      /* 24: watchdog */
    case 10: value = dive(0); break;                                                /* 7 or 5: end of the stack */
    case 11: abort(); break;                                                        /* 3: breakpoint */
    case 12: ecall_0(99, value); break;                                             /* 8: unknown call */
    case 13: spin_cmd_wait(3); break;                                               /* none: no such command is open */
    case 14: asm volatile("li gp, 1\n\tli tp, 1\n\tli ra, 1\n\tret"); break;        /* 0 or 1: lost its way */
    case 15: value = *(const volatile uint32_t *)(packet + 4096); break;            /* 5: behind the packet */
    case 16: value = (uint32_t)packet[1] / packet[2] + packet[1] % packet[2]; break; /* none: RISC-V defines it */
    case 17: value = (uint32_t)amo_add(BEHIND_HANDLER_MEMORY, 1); break;            /* 5: load access fault, in the guard */
    case 18: spin_guard_enter(); spin_guard_enter(); break;                         /* 8: in the guard already */
    case 19: spin_guard_leave(); break;                                             /* 8: not in the guard */
    case 20: spin_guard_enter(); for (;;) {} break;                                 /* 24: watchdog, in the guard */
    case 21: spin_guard_enter(); break;                                             /* none: it is let out */
    /* Atomic instructions where the PULP cluster has none that are right: 7, 7, 5. */
    case 22: asm volatile("amoadd.w %0, %1, (%2)" : "=r"(value) : "r"(1), "r"(args->task->pkt_mem) : "memory"); break;
    case 23: asm volatile("amoswap.w zero, %0, (%1)" : : "r"(1), "r"(args->task->pkt_mem) : "memory"); break;
    case 24: value = load_reserved(args->task->pkt_mem); break;
    default: break;
    }
    printf("value %u\n", (unsigned)value);
}
