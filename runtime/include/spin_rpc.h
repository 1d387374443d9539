/*
 * Calls to the host: a small client of LLVM libc's RPC protocol (docs/host/rpc.md).
 *
 *     spin_rpc_port_t *port = spin_rpc_open(opcode);      NULL if the host offers this context nothing
 *     spin_rpc_send(port, words, sizeof(words));          as often as the call says, in its order
 *     spin_rpc_recv(port, words, sizeof(words));
 *     spin_rpc_close(port);
 *
 * Every HPU has its own ports, so there is no locking and no search. A call whose last packet is sent and not received
 * is asynchronous: the next open of the port waits for it. Data to send or receive are in L1 or L2, and can be reused
 * when the function returns. A function returns false if the host has closed its services; then only close is allowed.
 *
 * Waiting counts for the watchdog. A handler that ends in the middle of a call, by the watchdog or by a fault, leaves
 * its port unfinished. The next one on this HPU detects this, waits until the client owns the port, and begins with a
 * new generation, so that the server drops the old call.
 */
#ifndef SPIN_RPC_H
#define SPIN_RPC_H

#include <stdbool.h>
#include <stdint.h>

#include "handler.h"
#include "spin_rpc_abi.h"

extern volatile struct spin_rpc_place __spin_rpc[SPIN_RPC_CONTEXTS];

/* State of a port on its HPU. The host reads `out` and `header`. */
typedef struct spin_rpc_port {
    uint32_t out;       /* what this side's mailbox holds */
    uint32_t header[4]; /* mask of lanes, 0, opcode, generation */
    uint32_t state;     /* SPIN_RPC_OWNS and others */
    volatile uint32_t *inbox; /* the copy, or NULL */
    uint32_t seen;      /* what the copy held when the port was seen to be ours */
    uint32_t told;      /* content of the copy, except for a value, once the host has answered */
    uint32_t bit;       /* of the inbox in it */
    uint32_t session;   /* bits of the session in it */
    uint32_t value;     /* SPIN_RPC_COPY_HAS_VALUE if it may hold one */
    struct spin_rpc_port *next; /* of this HPU, in a ring */
    uint64_t packet_at; /* addresses in host memory */
    uint64_t header_at;
    uint64_t outbox_at;
    uint64_t inbox_at;
    uint32_t ticket; /* the last one that was given out */
} spin_rpc_port_t;

/* Whether the host's answer is in the copy. */
static inline bool spin_rpc_has_value(const spin_rpc_port_t *port) { return (port->seen & port->value) != 0; }

#define SPIN_RPC_OWNS 1u       /* the port is ours, as far as we have looked */
#define SPIN_RPC_NEW_HEADER 2u /* the host does not have the header yet */
#define SPIN_RPC_RECEIVED 4u   /* the last thing was a receive */
#define SPIN_RPC_OPEN 8u       /* a call is under way */
#define SPIN_RPC_BEGUN 16u     /* and its first packet is sent */
#define SPIN_RPC_TICKET 32u    /* the caller will ask for the answer of the last call (spin_service.h) */

/*
 * The fast path for most calls: sends one packet of at most 64 bytes, and receives the first word of the answer. With
 * NULL for the answer it waits for the end of the call only.
 */
bool spin_rpc_call(uint32_t opcode, const void *data, uint32_t bytes, int64_t *answer);

/* An asynchronous call of one packet. */
bool spin_rpc_post(uint32_t opcode, const void *data, uint32_t bytes);

/* An asynchronous call without data: the packet keeps its previous contents. */
bool spin_rpc_call_empty(uint32_t opcode, int64_t *answer);
bool spin_rpc_post_empty(uint32_t opcode);

/* Opens a port for a call. */
spin_rpc_port_t *spin_rpc_open(uint32_t opcode);

/* Sends a packet that begins with these bytes, at most 64. The rest of the packet keeps its contents. */
bool spin_rpc_send(spin_rpc_port_t *port, const void *data, uint32_t bytes);

/* Sends a packet in parallel with a copy to host memory: the host gets the packet after both are complete. */
bool spin_rpc_send_behind(spin_rpc_port_t *port, const void *data, uint32_t bytes, spin_cmd_t copy);

/* Receives the first bytes of a packet, at most 64. */
bool spin_rpc_recv(spin_rpc_port_t *port, void *data, uint32_t bytes);

/* Receives the first word of a packet, which costs less if the rest of it is zero. */
bool spin_rpc_recv_word(spin_rpc_port_t *port, int64_t *word);

/* Sends a stream of bytes. */
bool spin_rpc_send_n(spin_rpc_port_t *port, const void *data, uint32_t bytes);

/* Receives a stream of bytes, and returns its length. Discards what does not fit. */
bool spin_rpc_recv_n(spin_rpc_port_t *port, void *data, uint32_t room, uint32_t *bytes);

/* Sends a string as a stream, with its NUL or without. */
bool spin_rpc_send_string(spin_rpc_port_t *port, const char *text, bool with_nul);

/* Waits until the host returns the port; for a call without an answer, until it is done. */
bool spin_rpc_wait(spin_rpc_port_t *port);

/* Whether spin_rpc_wait would return immediately. */
bool spin_rpc_test(spin_rpc_port_t *port);

/* The port's part of host memory for data that do not fit into packets. */
uint64_t spin_rpc_bulk(const spin_rpc_port_t *port, uint32_t *bytes);

static inline void spin_rpc_close(spin_rpc_port_t *port) {
    port->state &= SPIN_RPC_OWNS | SPIN_RPC_NEW_HEADER;
}

/* strnlen and memcpy for short data, also fast in L2, where each load takes 28 clocks. */
uint32_t spin_rpc_length(const char *text, uint32_t most);
void spin_rpc_copy(void *to, const void *from, uint32_t bytes);

#endif
