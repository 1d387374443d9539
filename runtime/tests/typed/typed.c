/*
 * Every form of a typed call: one kind for each packet, whose payload is a kind, two numbers and words. It comes back
 * with results in place of them. Constants are those of the test that answers (sim/nic/tests/services/typed.rs).
 */
#include <handler.h>
#include <packets.h>
#include <spin_dma.h>
#include <spin_host.h>

#include "sample.h"

struct request {
    uint32_t kind;
    uint32_t count;
    uint32_t number;
    uint32_t rest[13];
};

enum kind { VALUES, NOTE, SUM, FILL, REVERSE, HANDLES, TICKETS, SECRET, MIX, RAW, TOUCH, FAULT_LATER, TOUCHES, LATER, COPY };

/* More than a packet takes, for one HPU at a time. */
static union {
    uint8_t bytes[65536 + 8];
    uint16_t halves[32768];
    uint32_t words[16384];
    char text[1200];
} data;

static void values(struct request *request) {
    int16_t b = 0;
    int64_t d = 0;
    double f = 0;
    bool g = true;
    int8_t result = 0;
    request->rest[0] = sample_values(200, -300, 4000000000u, -5000000000000, 1.5f, -2.25, true, &b, &d, &f, &g, &result);
    request->rest[1] = b == -299 && d == -4999999999999 && f == -4.5 && !g && result == -56;
}

static void note(struct request *request) {
    for (uint32_t byte = 0; byte < request->count; ++byte) {
        data.text[byte] = (char)('a' + byte % 26);
    }
    data.text[request->count] = 0;
    request->rest[0] = sample_note(data.text);
}

/* Stores to L2 are slow, so long data is assembled from blocks in L1. */
#define BLOCK 128

static void sum(struct request *request) {
    uint16_t block[BLOCK];
    for (uint32_t number = 0; number < BLOCK; ++number) {
        block[number] = (uint16_t)(number + request->number);
    }
    for (uint32_t first = 0; first < MIN(request->count, sizeof(data.halves) / sizeof(*block)); first += BLOCK) {
        uint32_t count = MIN(MIN(request->count, sizeof(data.halves) / sizeof(*block)) - first, BLOCK);
        spin__memcpy(block, &data.halves[first], count * sizeof(*block));
    }
    uint64_t result = 0;
    request->rest[0] = sample_sum(request->count, data.halves, &result);
    memcpy(&request->rest[1], &result, sizeof(result));
}

/* Bytes after a buffer, which the call must not write. */
#define BEHIND 8

static void fill(struct request *request) {
    sample_unit_t unit = request->number;
    uint32_t bytes = request->count * sample_unit_size(unit), wrong = 0;
    memset(data.bytes + bytes, 0, BEHIND);
    request->rest[0] = sample_fill(request->count, unit, 7, data.bytes);
    uint8_t block[BLOCK];
    uint32_t step = bytes > 4096 ? 7 : 1; /* of many bytes some are enough */
    for (uint32_t first = 0; first < bytes + BEHIND; first += BLOCK) {
        uint32_t count = MIN(bytes + BEHIND - first, BLOCK);
        spin__memcpy(data.bytes + first, block, count);
        for (uint32_t byte = 0; byte < count; byte += step) {
            wrong += block[byte] != (first + byte < bytes ? (uint8_t)(first + byte + 7) : 0);
        }
    }
    request->rest[1] = wrong;
}

static void reverse(struct request *request) {
    for (uint32_t word = 0; word < request->count; ++word) {
        data.words[word] = word * 3;
    }
    uint32_t result = 0, wrong = 0;
    request->rest[0] = sample_reverse(request->count, data.words, &result);
    for (uint32_t word = 0; word < request->count; ++word) {
        wrong += data.words[word] != (request->count - 1 - word) * 3;
    }
    request->rest[1] = wrong;
    request->rest[2] = result;
}

static void handles(struct request *request) {
    sample_other_t first = 0, second = 0;
    request->rest[0] = sample_make(&first);
    request->rest[1] = sample_end(first);
    request->rest[2] = sample_end(first);
    request->rest[3] = sample_make(&second);
    request->rest[4] = sample_end(first);
    request->rest[5] = sample_end(second);
    request->rest[6] = sample_end(SAMPLE_UNIT_FOUR);
    request->rest[7] = first != second;
}

/* A ticket is waited for after another call; then there are more tickets than ports. */
static void tickets(struct request *request) {
    uint32_t twice = 0, result = 0;
    spin_ticket_t ticket = sample_later_start(21);
    request->rest[0] = spin_ticket_test(&ticket);
    request->rest[1] = sample_touch(5);
    while (!spin_ticket_test(&ticket)) {
    }
    request->rest[2] = sample_later_wait(&ticket, &twice, &result);
    request->rest[3] = twice;
    request->rest[4] = result;
    request->rest[5] = sample_later_wait(&ticket, &twice, &result);
    spin_ticket_t many[SPIN_RPC_PORTS_PER_HPU + 1];
    for (uint32_t number = 0; number < SPIN_RPC_PORTS_PER_HPU + 1; ++number) {
        many[number] = sample_later_start(number);
    }
    uint32_t lost = 0, right = 0;
    for (uint32_t number = 0; number < SPIN_RPC_PORTS_PER_HPU + 1; ++number) {
        spin_status_t status = sample_later_wait(&many[number], &twice, &result);
        lost += status == SPIN_SERVICE_DROPPED;
        right += status == SPIN_SERVICE_DONE && twice == 2 * number;
    }
    request->rest[6] = lost;
    request->rest[7] = right;
    spin_ticket_t dropped = sample_later_start(1);
    spin_ticket_drop(&dropped);
    request->rest[8] = sample_later_wait(&dropped, &twice, &result);
    request->rest[9] = sample_touch(6);
}

static void mix(struct request *request) {
    static const char left[] = "left", right[] = "and a right side that is longer than what is left of a packet";
    char joined[80] = "";
    uint32_t lefts = sizeof(left) - 1, rights = sizeof(right) - 1, both = 0;
    request->rest[0] = sample_mix(lefts, left, rights, right, sizeof(joined), joined, &both);
    request->rest[1] = both == lefts + rights && memcmp(joined, left, lefts) == 0 && memcmp(joined + lefts, right, rights) == 0;
}

/* A request that no stub would make. */
static void raw(struct request *request) {
    spin_rpc_port_t *port = spin_rpc_open(request->number);
    spin_rpc_send(port, request->rest, sizeof(request->rest));
    spin_rpc_recv(port, request->rest, sizeof(request->rest));
    spin_rpc_close(port);
}

/* Calls that wait: clocks of all of them. */
static void touches(struct request *request) {
    uint32_t refused = 0, start = cycles();
    for (uint32_t call = 0; call < request->count; ++call) {
        refused += sample_touch(call & 7) != SPIN_SERVICE_DONE;
    }
    request->rest[0] = cycles() - start;
    request->rest[1] = refused;
}

/* Long data by a copy alone, and by a call: clocks of both, once the program is in the cache and the HPU knows its port. */
static void copy(struct request *request) {
    for (uint32_t round = 0; round < 8; ++round) {
        uint32_t room, start = cycles();
        request->rest[2] = sample_pour(request->count, data.bytes);
        request->rest[1] = cycles() - start;
        spin_rpc_port_t *port = spin_rpc_open(0x7341000c); /* the same call, so that its header stays */
        spin_cmd_t command;
        start = cycles();
        spin_dma_to_host(spin_rpc_bulk(port, &room), (uint32_t)(uintptr_t)data.bytes, request->count, true, &command);
        spin_cmd_wait(command);
        request->rest[0] = cycles() - start;
        spin_rpc_close(port);
    }
}

__handler__ void typed_ph(handler_args_t *args) {
    task_t *task = args->task;
    uint8_t *payload = (uint8_t *)task->pkt_mem + sizeof(pkt_hdr_t);
    struct request request;
    memcpy(&request, payload, sizeof(request));
    switch ((enum kind)request.kind) {
    case VALUES: values(&request); break;
    case NOTE: note(&request); break;
    case SUM: sum(&request); break;
    case FILL: fill(&request); break;
    case REVERSE: reverse(&request); break;
    case HANDLES: handles(&request); break;
    case TICKETS: tickets(&request); break;
    case SECRET: request.rest[0] = sample_secret(&request.rest[1]); break;
    case MIX: mix(&request); break;
    case RAW: raw(&request); break;
    case TOUCH: request.rest[0] = sample_touch(request.number); break;
    case TOUCHES: touches(&request); break;
    case LATER: request.rest[0] = sample_later(1, &request.rest[1], &request.rest[2]); break;
    case COPY: copy(&request); break;
    case FAULT_LATER: sample_later_start(1); asm volatile("ebreak"); break;
    }
    request.kind = HPU_ID(args);
    memcpy(payload, &request, sizeof(request));
    spin_send_packet(task->pkt_mem, task->pkt_mem_size, NULL);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = typed_ph;
    *th = NULL;
    *handler_mem = NULL;
}
