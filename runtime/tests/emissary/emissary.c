/*
 * Every form of an argument of an Emissary API: one kind for each packet, whose payload is a kind, two numbers and words. It
 * comes back with results in place of them. The test that answers is sim/nic/tests/nic/services/emissary.rs.
 */
#include <emissary.h>
#include <handler.h>
#include <packets.h>
#include <spin_host.h>

#include "../typed/sample.h"

struct request {
    uint32_t kind;
    uint32_t count;
    uint32_t number;
    uint32_t rest[13];
};

enum kind { VALUES, SUM, TURN, TEXT, MOST, WRONG, CLOCKS };

/* Functions of the test. */
enum { CHECK_VALUES = 1, ADD, REVERSE, LENGTH, COUNT, TOUCH };
#define IDS(...) _PACK_EMIS_IDS(EMIS_ID_RESERVE, __VA_ARGS__)

#define BYTES 300
/* One packet is handled at a time, and stacks are small. */
static char area[2 * BYTES];
static const char constant[] = "a text in the memory of the program, longer than a packet: sixty-four bytes";

static __attribute__((noinline)) void values(struct request *request) {
    bool yes = true;
    int8_t small = -5;
    uint16_t half = 65535;
    char none = 'c';
    const char *text = "text";
    uint64_t result = _emissary_exec(IDS(CHECK_VALUES), yes, small, half, none, -7, 4000000000u, -(1ll << 40), 1.5f, -2.25,
                                     &request->kind, text, (char *)NULL, (long)-8);
    request->rest[0] = (uint32_t)result;
    request->rest[1] = (uint32_t)(result >> 32);
}

static __attribute__((noinline)) void turn(struct request *request) {
    uint32_t bytes = MIN(request->count, BYTES);
    char *in = area, *out = area + BYTES;
    for (uint32_t byte = 0; byte < bytes; ++byte) {
        in[byte] = (char)(byte + request->number);
        out[byte] = 0;
    }
    request->rest[0] = (uint32_t)_emissary_exec(IDS(REVERSE, 1, 1), in, bytes, out, bytes, (void *)in, (void *)out);
    request->rest[1] = 1;
    for (uint32_t byte = 0; byte < bytes; ++byte) {
        request->rest[1] &= out[byte] == in[bytes - 1 - byte];
    }
}

static __attribute__((noinline)) void text(struct request *request) {
    char *own = area;
    uint32_t length = MIN(request->count, BYTES - 1);
    for (uint32_t byte = 0; byte < length; ++byte) {
        own[byte] = 'x';
    }
    own[length] = 0;
    request->rest[0] = (uint32_t)_emissary_exec(IDS(LENGTH), own);
    request->rest[1] = (uint32_t)_emissary_exec(IDS(LENGTH), constant) - (sizeof(constant) - 1);
    request->rest[2] = (uint32_t)_emissary_exec(IDS(LENGTH), own, constant, own);
}

static __attribute__((noinline)) void most(struct request *request) {
    request->rest[0] = (uint32_t)_emissary_exec(IDS(COUNT), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                                                20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
    request->rest[1] = (uint32_t)_emissary_exec(IDS(COUNT));
    static struct emissary_argument more[EMIS_MOST_ARGUMENTS + 2];
    more[0].value = IDS(COUNT);
    request->rest[2] = emissary_call(more, EMIS_MOST_ARGUMENTS + 2) == EMIS_FAILED;
}

static __attribute__((noinline)) void wrong(struct request *request) {
    uint32_t word = 1;
    request->rest[0] = _emissary_exec(_PACK_EMIS_IDS(EMIS_ID_HDF5, 1), 1) == EMIS_FAILED;
    request->rest[1] = _emissary_exec(IDS(99), 1) == EMIS_FAILED;
    request->rest[2] = _emissary_exec(IDS(ADD), 1.0, 2) == EMIS_FAILED;
    /* Areas that are not among the arguments are not sent at all. */
    request->rest[3] = _emissary_exec(IDS(REVERSE, 1, 1), &word, 4) == EMIS_FAILED;
    request->rest[4] = _emissary_exec(IDS(REVERSE, 1, 1), &word, 4, &word, 4, (void *)&word, (void *)4) == EMIS_FAILED && word == 1;
}

/* Clocks of the same function, typed and as an Emissary API. The first round finds the program in memory. */
static __attribute__((noinline)) void clocks(struct request *request) {
    for (uint32_t round = 0; round < 2; ++round) {
        uint32_t start = cycles(), failed = 0;
        for (uint32_t call = 0; call < request->count; ++call) {
            failed |= sample_touch(100 + call);
        }
        request->rest[0] = cycles() - start;
        start = cycles();
        for (uint32_t call = 0; call < request->count; ++call) {
            failed |= (uint32_t)_emissary_exec(IDS(TOUCH), 100 + call);
        }
        request->rest[1] = cycles() - start;
        request->rest[2] = failed;
    }
}

__handler__ void emissary_ph(handler_args_t *args) {
    task_t *task = args->task;
    uint8_t *payload = (uint8_t *)task->pkt_mem + sizeof(pkt_hdr_t);
    struct request request;
    memcpy(&request, payload, sizeof(request));
    double sum;
    switch ((enum kind)request.kind) {
    case VALUES: values(&request); break;
    case SUM:
        sum = emissary_as_double(_emissary_exec(IDS(ADD), -1.25, 0.5f));
        request.rest[0] = sum == -0.75;
        break;
    case TURN: turn(&request); break;
    case TEXT: text(&request); break;
    case MOST: most(&request); break;
    case WRONG: wrong(&request); break;
    case CLOCKS: clocks(&request); break;
    }
    request.kind = HPU_ID(args);
    memcpy(payload, &request, sizeof(request));
    spin_send_packet(task->pkt_mem, task->pkt_mem_size, NULL);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = emissary_ph;
    *th = NULL;
    *handler_mem = NULL;
}
