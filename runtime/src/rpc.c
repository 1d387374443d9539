/* Client of the host's services: opens ports, sends and receives packets. */
#include "rpc_client.h"

/* Begins a call. The state of this HPU may be of an old session, which the first send detects. */
static inline void begin(spin_rpc_port_t *port, uint32_t opcode) {
    uint32_t state = (port->state & (SPIN_RPC_OWNS | SPIN_RPC_NEW_HEADER)) | SPIN_RPC_OPEN;
    if (port->header[OPCODE] != opcode) {
        port->header[OPCODE] = opcode;
        state |= SPIN_RPC_NEW_HEADER;
    }
    port->state = state;
    spin_rpc_client.next = port->next;
}

/*
 * The slow path of opening a port. Skips ports with tickets; if there is no other, drops the answer of one. If a port was left in
 * the middle of a call, or belongs to another context, reads all state again.
 */
__attribute__((cold, noinline)) static spin_rpc_port_t *open_otherwise(uint32_t opcode, uint32_t other) {
    spin_rpc_port_t *port = spin_rpc_client.next;
    if (other == 0 && (port->state & SPIN_RPC_OPEN) == 0) {
        do {
            port = port->next;
        } while ((port->state & SPIN_RPC_TICKET) != 0 && port != spin_rpc_client.next);
    }
    if (other != 0 || (port->state & SPIN_RPC_OPEN) != 0) {
        if (!spin_rpc_attach()) {
            return NULL;
        }
        port = spin_rpc_client.port;
    }
    begin(port, opcode);
    return port;
}

spin_rpc_port_t *spin_rpc_open(uint32_t opcode) {
    /* The state must belong to the current context, and no handler may have ended in the middle of a call. */
    uint32_t other = (MMIO_READ(HWSCHED_HOST_MEM_ADDR_LOW) ^ ~spin_rpc_client.not_low) |
                     (MMIO_READ(HWSCHED_HOST_MEM_ADDR_HIGH) ^ ~spin_rpc_client.not_high);
    spin_rpc_port_t *port = spin_rpc_client.next;
    if (other != 0 || (port->state & (SPIN_RPC_OPEN | SPIN_RPC_TICKET)) != 0) {
        return open_otherwise(opcode, other);
    }
    begin(port, opcode);
    return port;
}

/* The host has opened a new session, so the state of this HPU is stale: restarts the call, if possible. */
__attribute__((cold, noinline)) static bool reattach(spin_rpc_port_t *port) {
    uint32_t opcode = port->header[OPCODE];
    if ((port->state & SPIN_RPC_BEGUN) != 0 || !spin_rpc_attach()) {
        return false;
    }
    begin(port, opcode);
    return true;
}

/* The slow path: waits for the port, and writes the header as well. */
__attribute__((noinline)) static bool send_more(spin_rpc_port_t *port, const void *data, uint32_t bytes) {
    spin_cmd_t header;
    do {
        if (!own(port) && !reattach(port)) {
            return false;
        }
        spin_cmd_t sent = begin_write(port, data, bytes);
        if ((port->state & SPIN_RPC_NEW_HEADER) != 0) {
            write_host(port->header_at, port->header, SPIN_RPC_HEADER_BYTES, &header);
            port->state &= ~SPIN_RPC_NEW_HEADER;
            spin_cmd_wait(header);
        }
        end_write(bytes, sent);
        if (is_same_session()) {
            give_away(port, port->state | SPIN_RPC_BEGUN);
            return true;
        }
    } while (reattach(port));
    return false;
}

static inline __attribute__((always_inline)) bool send(spin_rpc_port_t *port, const void *data, uint32_t bytes,
                                                       const spin_cmd_t *copy) {
    uint32_t state = port->state;
    bool is_same = true;
    spin_cmd_t sent = 0;
    bool is_usual = (state & (SPIN_RPC_OWNS | SPIN_RPC_NEW_HEADER)) == SPIN_RPC_OWNS;
    if (is_usual) {
        sent = begin_write(port, data, bytes);
        /* The packet is in flight meanwhile, so this check is free. */
        is_same = is_same_session();
        end_write(bytes, sent);
    }
    if (copy != NULL) {
        spin_cmd_wait(*copy);
    }
    if (!is_usual) {
        return send_more(port, data, bytes);
    }
    if (!is_same) {
        return reattach(port) && send_more(port, data, bytes);
    }
    give_away(port, state | SPIN_RPC_BEGUN);
    return true;
}

bool spin_rpc_send(spin_rpc_port_t *port, const void *data, uint32_t bytes) { return send(port, data, bytes, NULL); }

bool spin_rpc_send_behind(spin_rpc_port_t *port, const void *data, uint32_t bytes, spin_cmd_t copy) {
    return send(port, data, bytes, &copy);
}

/* The port is ours with a new packet in it. */
static inline bool receive(spin_rpc_port_t *port) {
    uint32_t state = port->state;
    if ((state & SPIN_RPC_RECEIVED) != 0) {
        give_away(port, state);
    }
    if (!own(port)) {
        return false;
    }
    port->state |= SPIN_RPC_RECEIVED;
    return true;
}

bool spin_rpc_receive(spin_rpc_port_t *port) { return receive(port); }

__attribute__((noinline)) bool spin_rpc_recv(spin_rpc_port_t *port, void *data, uint32_t bytes) {
    if (!receive(port)) {
        return false;
    }
    read_host(port->packet_at, data, bytes);
    return true;
}

bool spin_rpc_recv_word(spin_rpc_port_t *port, int64_t *word) {
    if (!receive(port)) {
        return false;
    }
    if (spin_rpc_has_value(port)) {
        *word = (int32_t)port->seen >> SPIN_RPC_COPY_SHIFT;
        return true;
    }
    read_host(port->packet_at, spin_rpc_packet.words, sizeof(*word));
    *word = (int64_t)spin_rpc_packet.words[0];
    return true;
}

bool spin_rpc_wait(spin_rpc_port_t *port) { return own(port); }

bool spin_rpc_test(spin_rpc_port_t *port) {
    if (port->inbox != NULL) {
        spin_rpc_packet.halves[0] = *port->inbox;
    } else {
        read_host(port->inbox_at, spin_rpc_packet.halves, SPIN_RPC_MAILBOX_BYTES);
    }
    return is_answered(port, spin_rpc_packet.halves[0]) || (port->state & SPIN_RPC_OWNS) != 0 || !is_same_session();
}
