/*
 * Adds up the 32-bit numbers in the payload of a message, on as many HPUs as there are packets, and answers the sender
 * with the sum (modulo 2^32) when the message ends.
 */
#include <handler.h>
#include <packets.h>
#include <spin_reply.h>

/* Messages of one queue come one after the other, so as many as there are queues are open at once. */
#define QUEUES 16

/* The state of a message in handler memory: the sum so far, and room for the answer. */
typedef struct {
    volatile int32_t sum;
    struct {
        slmp_pkt_hdr_t headers;
        uint32_t sum;
    } __attribute__((packed)) answer;
} __attribute__((aligned(64))) aggregate_t;

static aggregate_t *aggregate(const task_t *task) {
    return (aggregate_t *)task->handler_mem + FAST_MOD(task->flow_id, QUEUES);
}

__handler__ void aggregate_hh(handler_args_t *args) { aggregate(args->task)->sum = 0; }

__handler__ void aggregate_ph(handler_args_t *args) {
    task_t *task = args->task;
    slmp_pkt_hdr_t *packet = task->pkt_mem;

    /* Never more than there is, whatever the UDP header says; bytes behind the last whole number do not count. */
    size_t there = task->pkt_mem_size > sizeof(*packet) ? task->pkt_mem_size - sizeof(*packet) : 0;
    size_t said = ntohs(packet->udp_hdr.length);
    said = said > sizeof(udp_hdr_t) + sizeof(slmp_hdr_t) ? SLMP_PAYLOAD_LEN(packet) : 0;
    size_t numbers = MIN(there, said) / sizeof(uint32_t);

    /* The headers have 52 bytes, so the numbers are aligned. */
    const uint32_t *number = (const uint32_t *)(const void *)(packet + 1);
    uint32_t sum = 0;
    for (size_t i = 0; i < numbers; ++i) {
        sum += ntohl(number[i]);
    }
    /* One atomic for a packet, not for a number: L2 is far away, and all HPUs want the same word. */
    amo_send_add(&aggregate(task)->sum, (int32_t)sum);
}

__handler__ void aggregate_th(handler_args_t *args) {
    task_t *task = args->task;
    aggregate_t *mine = aggregate(task);

    /* The last packet may have no room for the answer, so that is built in handler memory. */
    mine->answer.headers = *(slmp_pkt_hdr_t *)task->pkt_mem;
    mine->answer.sum = htonl(mine->sum);
    spin_slmp_reply(&mine->answer.headers, MKACK | MKEOM, sizeof(mine->answer.sum));

    spin_cmd_t send;
    spin_send_packet(&mine->answer, sizeof(mine->answer), &send);
    /* The next message of this queue will build its answer here. */
    spin_cmd_wait(send);
}

static_assert(sizeof(slmp_pkt_hdr_t) % sizeof(uint32_t) == 0, "aggregate_ph reads whole words");

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = aggregate_hh;
    *ph = aggregate_ph;
    *th = aggregate_th;
    *handler_mem = NULL;
}
