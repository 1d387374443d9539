/* Shared by the files of the client of the host's services; spin_rpc.h documents the client. */
#ifndef SPIN_RPC_CLIENT_H
#define SPIN_RPC_CLIENT_H

#include "spin_rpc.h"

#include "handler.h"
#include "spin_dma.h"
#include "spin_host.h"

/* A variable of an HPU whose address the linker knows, so that no file loads it from a table. */
#define OF_HPU(type, name) extern __thread type name __attribute__((tls_model("local-exec")))

/* An HPU's state for the services of one context, that of its last call. A call by another context overwrites it. */
typedef struct {
    volatile struct spin_rpc_place *place;
    uint32_t session;
    /* Complements of the address of the context's host memory, so that zeros are of no context. */
    uint32_t not_low;
    uint32_t not_high;
    spin_rpc_port_t *next;
    spin_rpc_port_t port[SPIN_RPC_PORTS_PER_HPU];
    /* Host memory for long data: where that of the first port is, how far that of the second, and how many bytes; 0 if not known. */
    uint64_t bulk_at;
    uint32_t bulk_step;
    uint32_t bulk_bytes;
} spin_rpc_client_t;
OF_HPU(spin_rpc_client_t, spin_rpc_client);

/* Where one packet is put together and taken apart: the host reads and writes it there. */
typedef union {
    uint64_t words[SPIN_RPC_WORDS];
    uint32_t halves[2 * SPIN_RPC_WORDS];
    uint8_t bytes[SPIN_RPC_PACKET_BYTES];
} spin_rpc_packet_t;
OF_HPU(spin_rpc_packet_t, spin_rpc_packet);

/* Words of a header. */
#define OPCODE 2
#define GENERATION 3

/* Polls of an inbox in host memory between two checks of the session. */
#define LOOKS 256

static inline void write_host(uint64_t address, const volatile void *data, uint32_t bytes, spin_cmd_t *command) {
    spin_dma_to_host(address, (uint32_t)(uintptr_t)data, bytes, true, command);
}

static inline void read_host(uint64_t address, volatile void *data, uint32_t bytes) {
    spin_cmd_t command;
    spin_dma_from_host(address, (uint32_t)(uintptr_t)data, bytes, true, &command);
    spin_cmd_wait(command);
}

/* Begins to write the packet of a port. Without bytes, the port's packet in host memory stays as it is. */
static inline spin_cmd_t begin_write(spin_rpc_port_t *port, const void *data, uint32_t bytes) {
    spin_cmd_t sent = 0;
    if (bytes != 0) {
        write_host(port->packet_at, data, bytes, &sent);
    }
    return sent;
}

static inline void end_write(uint32_t bytes, spin_cmd_t sent) {
    if (bytes != 0) {
        spin_cmd_wait(sent);
    }
}

static inline bool is_same_session(void) { return spin_rpc_client.place->session == spin_rpc_client.session; }

/* A copy without a value is of this session, or tells that it is over. One with a value is an answer to this HPU, so it is. */
static inline bool is_of_session(const spin_rpc_port_t *port, uint32_t seen) {
    return (seen & port->value) != 0 || ((seen ^ port->told) & port->session) == 0;
}

/* Whether the host has answered, if this is a copy of the session. */
static inline bool is_answered(const spin_rpc_port_t *port, uint32_t seen) {
    return ((seen ^ port->told) & port->bit) == 0;
}

/* Waits by polling host memory. Checks now and then whether there are still services. */
bool spin_rpc_wait_at_host(spin_rpc_port_t *port);

/* Finds out where the ports of this HPU are, and how they were left. */
bool spin_rpc_attach(void);

/* Waits until the port is ours; false if the session is over. */
static inline bool wait_for(spin_rpc_port_t *port) {
    volatile uint32_t *inbox = port->inbox;
    if (inbox == NULL) {
        return spin_rpc_wait_at_host(port);
    }
    uint32_t seen;
    do {
        seen = *inbox;
        if (!is_of_session(port, seen)) {
            return false;
        }
    } while (!is_answered(port, seen));
    port->seen = seen;
    port->state |= SPIN_RPC_OWNS;
    return true;
}

static inline bool own(spin_rpc_port_t *port) { return (port->state & SPIN_RPC_OWNS) != 0 || wait_for(port); }

/* Gives the port to the host, which has everything else by now. */
static inline void give_away(spin_rpc_port_t *port, uint32_t state) {
    port->out ^= 1;
    port->told ^= port->bit;
    port->state = state & ~(SPIN_RPC_OWNS | SPIN_RPC_RECEIVED);
    write_host(port->outbox_at, &port->out, SPIN_RPC_MAILBOX_BYTES, NULL);
}

/* Waits until the port is ours with a new packet in it; false if the session is over. */
bool spin_rpc_receive(spin_rpc_port_t *port);

#endif
