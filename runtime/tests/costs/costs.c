/*
 * Measures what instructions and accesses cost: a packet names an operation and how often a block of sixteen of it is run;
 * the clocks that the blocks took come back in the packet. Many packets at once show what HPUs cost each other.
 *
 * Payload of the UDP packet, words in network order: +0 operation, +4 blocks, +8 clocks (set here), +12 HPU (set here).
 */
#include <handler.h>
#include <packets.h>

/* Operations, by their numbers in packets; sim/interop/src/probes.rs has the same list. */
enum {
    NOTHING,        /* the loop around each block, and nothing in it */
    ALU,            /* 32-bit additions */
    ALU_COMPRESSED, /* 16-bit additions */
    BRANCH_TAKEN,
    BRANCH_NOT_TAKEN,
    JUMP,
    MULTIPLY,
    MULTIPLY_HIGH,
    DIVIDE, /* by 3 */
    L1_LOAD,
    L1_LOAD_USE,
    L1_STORE,
    L1_AMO,
    L1_MISALIGNED_LOAD,
    L1_REMOTE_LOAD,
    L1_REMOTE_STORE,
    L2_LOAD,
    L2_STORE,
    L2_AMO,        /* of a word of its own */
    L2_AMO_SHARED, /* of one word for all */
    L2_PACKET_LOAD,
    REGISTER_READ,
    REGISTER_WRITE,
    CYCLES, /* environment calls */
    OPERATIONS
};

typedef struct {
    uint32_t operation, blocks, clocks, hpu;
} request_t;

/* A cache line for each HPU, and one for all. */
typedef struct {
    volatile uint32_t word[16];
} __attribute__((aligned(64))) line_t;

__attribute__((section(".l2_handler_data"))) static line_t own[CORE_COUNT];
__attribute__((section(".l2_handler_data"))) static line_t shared;

/* Sixteen times an instruction on the register `on`, in a loop of `blocks`. */
#define MEASURE(on, instruction)                                                                         \
    asm volatile(".option push\n\t.option norelax\n\tj 1f\n\t.balign 16\n\t.option norvc\n"              \
                 "1:\n\t.rept 16\n\t" instruction "\n\t.endr\n\t"                                       \
                 "addi %0, %0, -1\n\tbnez %0, 1b\n\t.option pop"                                        \
                 : "+r"(blocks)                                                                          \
                 : "r"(on)                                                                               \
                 : "t0", "t1", "t2", "memory")

static void run(uint32_t operation, uint32_t blocks, const handler_args_t *args) {
    task_t *task = args->task;
    /* A line of L1 for each HPU, in this cluster and in the next one. */
    volatile uint32_t *near = ((line_t *)task->scratchpad[args->cluster_id])[args->hpu_id].word;
    volatile uint32_t *far = ((line_t *)task->scratchpad[(args->cluster_id + 1) % NB_CLUSTERS])[args->hpu_id].word;
    volatile uint32_t *mine = own[args->hpu_gid].word;
    asm volatile("li t1, 300\n\tli t2, 3" ::: "t1", "t2");
    switch (operation) {
    case ALU: MEASURE(near, "addi t0, t0, 1"); break;
    case ALU_COMPRESSED: MEASURE(near, ".option rvc\n\tc.addi t0, 1\n\t.option norvc"); break;
    case BRANCH_TAKEN: MEASURE(near, "beqz zero, .+4"); break;
    case BRANCH_NOT_TAKEN: MEASURE(near, "bnez zero, 1b"); break;
    case JUMP: MEASURE(near, "jal zero, .+4"); break;
    case MULTIPLY: MEASURE(near, "mul t0, t1, t2"); break;
    case MULTIPLY_HIGH: MEASURE(near, "mulhu t0, t1, t2"); break;
    case DIVIDE: MEASURE(near, "divu t0, t1, t2"); break;
    case L1_LOAD: MEASURE(near, "lw t0, 0(%1)"); break;
    case L1_LOAD_USE: MEASURE(near, "lw t0, 0(%1)\n\taddi t0, t0, 1"); break;
    case L1_STORE: MEASURE(near, "sw t1, 0(%1)"); break;
    case L1_AMO: MEASURE(near, "amoadd.w t0, t1, (%1)"); break;
    case L1_MISALIGNED_LOAD: MEASURE(near, "lw t0, 1(%1)"); break;
    case L1_REMOTE_LOAD: MEASURE(far, "lw t0, 0(%1)"); break;
    case L1_REMOTE_STORE: MEASURE(far, "sw t1, 0(%1)"); break;
    case L2_LOAD: MEASURE(mine, "lw t0, 0(%1)"); break;
    case L2_STORE: MEASURE(mine, "sw t1, 0(%1)"); break;
    case L2_AMO: MEASURE(mine, "amoadd.w t0, t1, (%1)"); break;
    case L2_AMO_SHARED: MEASURE(shared.word, "amoadd.w t0, t1, (%1)"); break;
    case L2_PACKET_LOAD: MEASURE(task->l2_pkt_mem, "lw t0, 0(%1)"); break;
    case REGISTER_READ: MEASURE(task, "lw t0, 8(%1)"); break;
    case REGISTER_WRITE: MEASURE(CMD_WORD0, "sw t1, 0(%1)"); break;
    case CYCLES:
        do {
            cycles();
        } while (--blocks != 0);
        break;
    default: MEASURE(near, ""); break;
    }
}

__handler__ void costs_ph(handler_args_t *args) {
    task_t *task = args->task;
    pkt_hdr_t *packet = task->pkt_mem;
    request_t *request = (request_t *)(void *)(packet + 1);
    if (task->pkt_mem_size < sizeof(*packet) + sizeof(*request)) {
        return;
    }
    request_t asked;
    __builtin_memcpy(&asked, request, sizeof(asked));
    uint32_t operation = ntohl(asked.operation), blocks = ntohl(asked.blocks);
    if (operation >= OPERATIONS || blocks == 0) {
        return;
    }
    /* The first block brings the program into the instruction cache. */
    run(operation, 1, args);
    uint32_t start = cycles();
    run(operation, blocks, args);
    asked.clocks = htonl(cycles() - start);
    asked.hpu = htonl(args->hpu_gid);
    __builtin_memcpy(request, &asked, sizeof(asked));
    spin_send_packet(packet, task->pkt_mem_size, NULL);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = costs_ph;
    *th = NULL;
    *handler_mem = NULL;
}
