/*
 * MPI from handlers, a message for each packet: one rank puts -i into its first, its middle and its last word, and the
 * other checks them. The payload is the request; it comes back with a status and whether all was right.
 */
#include <handler.h>
#include <packets.h>
#include <spin_dma.h>
#include <spin_host.h>
#include <spin_mpi.h>

#include "named.h"

struct request {
    uint32_t kind; /* and above it the message's number for the NIC */
    int32_t i;     /* number of the message, and its tag */
    uint32_t words;
    int32_t peer;
    uint32_t status;
    uint32_t right;
    uint32_t clocks; /* of the call that sends or receives, alone */
    uint32_t copy;   /* clocks of a copy of the same data */
    uint32_t rest[8];
};

enum kind { SEND, SSEND, RECV, WRONG, FAULT, REQUESTS, TOGETHER, TIMED, NAMED, NAMED_REQUESTS, NAMED_ERRORS, NAMED_TOGETHER };

/* Sends of TIMED. */
#define ROUNDS 8

/* Of one word, or as long as there is room: with one cluster 64 KiB for each HPU. */
#define WORDS (NB_CLUSTERS == 1 ? 16384 : 16)
static int32_t area[CORE_COUNT][WORDS];

static void put(int32_t *data, uint32_t words, int32_t value) { data[0] = data[words / 2] = data[words - 1] = value; }

static bool has(const int32_t *data, uint32_t words, int32_t value) {
    return data[0] == value && data[words / 2] == value && data[words - 1] == value;
}

/* Messages by requests, to itself. */
static void requests(struct request *request, int32_t *data) {
    spin_mpi_request_t in = 0, out = 0;
    bool is_in = false, is_out = false;
    uint32_t bytes = 0;
    int32_t from = -2, with = -2;
    put(data, request->words, request->i);
    request->status = spin_mpi_irecv(4 * request->words, -1, request->i, SPIN_MPI_COMM_SELF, &in);
    request->status |= spin_mpi_isend(request->words, SPIN_MPI_DATATYPE_INT32, data, 0, request->i, SPIN_MPI_COMM_SELF, &out);
    put(data, request->words, 0);
    while (request->status == SPIN_SERVICE_DONE && !is_in) {
        request->status = spin_mpi_test(in, 4 * request->words, data, &bytes, &from, &with, &is_in);
    }
    uint32_t ignored;
    int32_t nobody;
    while (request->status == SPIN_SERVICE_DONE && !is_out) {
        request->status = spin_mpi_test(out, 0, data, &ignored, &nobody, &nobody, &is_out);
    }
    /* The handle of a request that has ended is invalid. */
    bool is_gone = spin_mpi_test(in, 0, data, &ignored, &nobody, &nobody, &is_in) == SPIN_SERVICE_HANDLE;
    bool is_whole = bytes == 4 * request->words && from == 0 && with == request->i;
    request->right = is_gone && is_whole && has(data, request->words, request->i);
}

/* Runs the collective calls, which all ranks make together. */
static void together(struct request *request, int32_t *data) {
    uint32_t rank = 9, size = 0;
    request->status = spin_mpi_comm_rank(SPIN_MPI_COMM_WORLD, &rank);
    request->status |= spin_mpi_comm_size(SPIN_MPI_COMM_WORLD, &size);
    request->status |= spin_mpi_barrier(SPIN_MPI_COMM_WORLD);
    put(data, request->words, rank == 1 ? 77 : 0);
    request->status |= spin_mpi_bcast(request->words, SPIN_MPI_DATATYPE_INT32, data, 1, SPIN_MPI_COMM_WORLD);
    bool is_right = has(data, request->words, 77);
    put(data, request->words, (int32_t)rank + 1);
    request->status |= spin_mpi_allreduce(request->words, SPIN_MPI_DATATYPE_INT32, data, SPIN_MPI_OPERATION_SUM,
                                          SPIN_MPI_COMM_WORLD);
    request->right = is_right && has(data, request->words, (int32_t)(size * (size + 1) / 2));
}

/* Begins to receive a message that no rank sends, and ends before an answer comes. */
static void receive_in_vain(void) {
    uint32_t words[] = {SPIN_SERVICE_NOBODY, 1, SPIN_MPI_DATATYPE_INT32, SPIN_SLICE_INLINE, 4, -1u, 1000000, SPIN_MPI_COMM_WORLD};
    spin_rpc_port_t *port = spin_rpc_open(0x73020003);
    spin_rpc_send(port, words, sizeof(words));
}

/* Fewest clocks of MPI_Send, and of a copy of the same data alone: the later rounds find the program in the cache. */
static void timed(struct request *request, int32_t *data) {
    put(data, request->words, -request->i);
    request->right = 1;
    request->clocks = request->copy = UINT32_MAX;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        uint32_t room, start = cycles();
        request->status = spin_mpi_send(request->words, SPIN_MPI_DATATYPE_INT32, data, request->peer, request->i,
                                        SPIN_MPI_COMM_WORLD);
        request->clocks = MIN(request->clocks, cycles() - start);
        request->right &= request->status == SPIN_SERVICE_DONE;
        spin_rpc_port_t *port = spin_rpc_open(0x73020001); /* the same call, so that its header stays */
        spin_cmd_t command;
        start = cycles();
        spin_dma_to_host(spin_rpc_bulk(port, &room), (uint32_t)(uintptr_t)data, 4 * request->words, true, &command);
        spin_cmd_wait(command);
        request->copy = MIN(request->copy, cycles() - start);
        spin_rpc_close(port);
    }
}

/* MPI under its own names: the status is 0, or the line that found something wrong. */
static void named(struct request *request) {
    int i = request->i;
    switch ((enum kind)request->kind) {
    case NAMED: request->status = (uint32_t)named_message(1 - (int)request->peer, i); break;
    case NAMED_REQUESTS: request->status = (uint32_t)named_requests(i); break;
    case NAMED_ERRORS: request->status = (uint32_t)named_errors(i); break;
    default: request->status = (uint32_t)named_together(i); break;
    }
    request->right = request->status == 0;
}

__handler__ void mpi_calls_ph(handler_args_t *args) {
    task_t *task = args->task;
    uint8_t *payload = (uint8_t *)task->pkt_mem + sizeof(pkt_hdr_t);
    struct request request;
    memcpy(&request, payload, sizeof(request));
    request.kind &= 0xffff;
    int32_t word = 0, *data = request.words == 1 ? &word : area[HPU_ID(args)];
    uint32_t bytes = 0;
    int32_t from = -2, with = -2;
    spin_mpi_comm_t world = SPIN_MPI_COMM_WORLD;
    uint32_t start;
    switch ((enum kind)request.kind) {
    case SEND:
    case SSEND:
        put(data, request.words, -request.i);
        start = cycles();
        request.status = (request.kind == SEND ? spin_mpi_send : spin_mpi_ssend)(
            request.words, SPIN_MPI_DATATYPE_INT32, data, request.peer, request.i, world);
        request.clocks = cycles() - start;
        request.right = request.status == SPIN_SERVICE_DONE;
        break;
    case RECV:
        put(data, request.words, 1);
        start = cycles();
        request.status = spin_mpi_recv(request.words, SPIN_MPI_DATATYPE_INT32, data, request.peer, request.i, world, &bytes,
                                       &from, &with);
        request.clocks = cycles() - start;
        request.right = request.status == SPIN_SERVICE_DONE && has(data, request.words, -request.i) &&
                        bytes == 4 * request.words && from == request.peer && with == request.i;
        break;
    case WRONG:
        request.status = spin_mpi_send(1, SPIN_MPI_COMM_WORLD, &word, request.peer, request.i, world);
        request.right = request.status == SPIN_SERVICE_HANDLE &&
                        spin_mpi_send(1, SPIN_MPI_DATATYPE_INT32, &word, 99, request.i, world) == SPIN_SERVICE_VALUE;
        break;
    case FAULT: receive_in_vain(); asm volatile("ebreak"); break;
    case REQUESTS: requests(&request, data); break;
    case TOGETHER: together(&request, data); break;
    case TIMED: timed(&request, data); break;
    default: named(&request); break;
    }
    memcpy(payload, &request, sizeof(request));
    spin_send_packet(task->pkt_mem, task->pkt_mem_size, NULL);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = mpi_calls_ph;
    *th = NULL;
    *handler_mem = NULL;
}
