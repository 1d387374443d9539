/* Functions that stubs of typed services share; spin_service.h documents them. */
#include "spin_service.h"

#include <string.h>

#include "handler.h"

/* Alignment of copies in host memory, in bytes. */
#define LINE 64

/* Of an answer: its status and its result, which every answer has room for. */
#define ANSWER_BYTES 16

static inline uint32_t align(uint32_t bytes, uint32_t to) { return (bytes + to - 1) & -to; }

spin_status_t spin_service_short(uint32_t opcode, const void *packet, uint32_t bytes) {
    int64_t answer;
    return spin_rpc_call(opcode, packet, bytes, &answer) ? (spin_status_t)answer : SPIN_SERVICE_GONE;
}

void spin_service_begin(struct spin_service *call, uint32_t opcode, void *packet, uint32_t request, uint32_t answer) {
    call->packet = packet;
    call->request = request;
    call->answer = call->returns = answer;
    call->bulk = 0;
    call->is_copying = false;
    call->port = spin_rpc_open(opcode);
    call->status = call->port != NULL ? SPIN_SERVICE_DONE : SPIN_SERVICE_GONE;
}

/* Returns whether `bytes` fit into a packet after the first `used` bytes. */
static inline bool fits(uint32_t used, uint32_t bytes) {
    return bytes <= SPIN_SLICE_INLINE_BYTES && align(used, sizeof(uint32_t)) + bytes <= SPIN_RPC_PACKET_BYTES;
}

/* Room in host memory; the call of this port that used it before has ended. */
static uint32_t take_bulk(struct spin_service *call, uint32_t bytes) {
    uint32_t at = call->bulk, room;
    call->bulk_at = spin_rpc_bulk(call->port, &room);
    if (bytes > room || at > room - bytes) {
        call->status = SPIN_SERVICE_ROOM;
    } else if (!spin_rpc_wait(call->port)) {
        call->status = SPIN_SERVICE_GONE;
    }
    call->bulk = align(at + bytes, LINE);
    return at;
}

/* The copy before it has ended, and this one goes on until the call is sent. */
static void end_copy(struct spin_service *call) {
    if (call->is_copying) {
        spin_cmd_wait(call->copy);
        call->is_copying = false;
    }
}

static void copy_to_host(struct spin_service *call, uint32_t at, const void *data, uint32_t bytes) {
    end_copy(call);
    spin_dma_to_host(call->bulk_at + at, (uint32_t)(uintptr_t)data, bytes, true, &call->copy);
    call->is_copying = true;
}

/* Appends data to the packet. */
static void append(struct spin_service *call, const void *data, uint32_t bytes) {
    uint32_t at = align(call->request, sizeof(uint32_t));
    spin_rpc_copy(call->packet + at, data, bytes);
    call->request = at + bytes;
}

struct spin_slice spin_service_in(struct spin_service *call, const void *data, uint32_t bytes) {
    struct spin_slice slice = {SPIN_SLICE_INLINE, bytes};
    if (fits(call->request, bytes)) {
        append(call, data, bytes);
    } else if (call->status == SPIN_SERVICE_DONE) {
        slice.at = take_bulk(call, bytes);
        if (call->status == SPIN_SERVICE_DONE) {
            copy_to_host(call, slice.at, data, bytes);
        }
    }
    return slice;
}

struct spin_slice spin_service_out(struct spin_service *call, const void *data, uint32_t bytes) {
    (void)data;
    struct spin_slice slice = {SPIN_SLICE_INLINE, bytes};
    if (fits(call->returns, bytes)) {
        call->returns = align(call->returns, sizeof(uint32_t)) + bytes;
    } else if (call->status == SPIN_SERVICE_DONE) {
        slice.at = take_bulk(call, bytes);
    }
    return slice;
}

struct spin_slice spin_service_inout(struct spin_service *call, const void *data, uint32_t bytes) {
    struct spin_slice slice;
    if (fits(call->request, bytes) && fits(call->returns, bytes)) {
        slice = spin_service_out(call, data, bytes);
        append(call, data, bytes);
        return slice;
    }
    slice.at = SPIN_SLICE_INLINE;
    slice.bytes = bytes;
    if (call->status == SPIN_SERVICE_DONE) {
        slice.at = take_bulk(call, bytes);
        if (call->status == SPIN_SERVICE_DONE) {
            copy_to_host(call, slice.at, data, bytes);
        }
    }
    return slice;
}

struct spin_slice spin_service_text(struct spin_service *call, const char *text, uint32_t cap) {
    uint32_t length = spin_rpc_length(text, cap);
    if (length == cap && call->status == SPIN_SERVICE_DONE) {
        call->status = SPIN_SERVICE_TEXT; /* there is no NUL where there has to be one */
    }
    return spin_service_in(call, text, call->status == SPIN_SERVICE_DONE ? length + 1 : 0);
}

/* Sends the request if nothing was refused so far. The packet goes in parallel with the last copy. */
static bool send(struct spin_service *call) {
    if (call->status == SPIN_SERVICE_DONE) {
        bool is_sent = call->is_copying
                           ? spin_rpc_send_behind(call->port, call->packet, call->request, call->copy)
                           : spin_rpc_send(call->port, call->packet, call->request);
        call->status = is_sent ? SPIN_SERVICE_DONE : SPIN_SERVICE_GONE;
    } else {
        end_copy(call);
    }
    if (call->status != SPIN_SERVICE_DONE && call->port != NULL) {
        spin_rpc_close(call->port);
    }
    return call->status == SPIN_SERVICE_DONE;
}

/* Waits for the answer and brings it into the packet. An answer without anything but its status need not be fetched. */
static spin_status_t receive(spin_rpc_port_t *port, void *packet, uint32_t bytes) {
    spin_status_t status = SPIN_SERVICE_GONE;
    if (spin_rpc_wait(port)) {
        uint32_t *words = packet;
        if (spin_rpc_has_value(port)) {
            words[1] = words[2] = words[3] = 0;
            /* Most answers end here, and a call of memset takes longer than all of this. */
            if (bytes > ANSWER_BYTES) {
                memset(words + 4, 0, bytes - ANSWER_BYTES);
            }
            words[0] = port->seen >> SPIN_RPC_COPY_SHIFT;
            status = words[0];
        } else if (spin_rpc_recv(port, packet, bytes)) {
            status = words[0];
        }
    }
    spin_rpc_close(port);
    return status;
}

spin_status_t spin_service_end(struct spin_service *call) {
    if (send(call)) {
        call->status = receive(call->port, call->packet, align(call->returns, sizeof(uint32_t)));
    }
    return call->status;
}

void spin_service_take(struct spin_service *call, struct spin_slice slice, void *data) {
    if (slice.at == SPIN_SLICE_INLINE) {
        uint32_t at = align(call->answer, sizeof(uint32_t));
        spin_rpc_copy(data, call->packet + at, slice.bytes);
        call->answer = at + slice.bytes;
        return;
    }
    spin_cmd_t command;
    spin_dma_from_host(call->bulk_at + slice.at, (uint32_t)(uintptr_t)data, slice.bytes, true, &command);
    spin_cmd_wait(command);
}

/* ---- Tickets ---- */

spin_ticket_t spin_service_start(struct spin_service *call) {
    spin_ticket_t ticket = {call->port, 0, SPIN_SERVICE_DONE};
    if (send(call)) {
        spin_rpc_close(call->port);
        call->port->state |= SPIN_RPC_TICKET;
        ticket.number = ++call->port->ticket;
    }
    ticket.status = call->status;
    return ticket;
}

/* Whether the port has not had another call since. */
static bool is_valid(const spin_ticket_t *ticket) {
    return (ticket->port->state & SPIN_RPC_TICKET) != 0 && ticket->port->ticket == ticket->number;
}

bool spin_ticket_test(const spin_ticket_t *ticket) {
    return ticket->status != SPIN_SERVICE_DONE || !is_valid(ticket) || spin_rpc_test(ticket->port);
}

void spin_ticket_drop(spin_ticket_t *ticket) {
    if (ticket->status == SPIN_SERVICE_DONE && is_valid(ticket)) {
        ticket->port->state &= ~SPIN_RPC_TICKET;
    }
    ticket->status = SPIN_SERVICE_DROPPED;
}

spin_status_t spin_service_wait(spin_ticket_t *ticket, void *packet, uint32_t bytes) {
    spin_status_t status = ticket->status;
    if (status == SPIN_SERVICE_DONE) {
        /* A handler that is ended here leaves the port open, and the next call finds that. */
        status = SPIN_SERVICE_DROPPED;
        if (is_valid(ticket)) {
            ticket->port->state = (ticket->port->state & ~SPIN_RPC_TICKET) | SPIN_RPC_OPEN;
            status = receive(ticket->port, packet, bytes);
        }
    }
    ticket->status = SPIN_SERVICE_DROPPED;
    return status;
}
