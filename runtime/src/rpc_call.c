/*
 * Whole calls: one packet to the host, and one back if the caller wants an answer.
 *
 * The fast path is straight-line code and keeps nothing on the stack, so all other cases come at the end of a function.
 * An instruction takes one clock, a taken branch three.
 */
#include "rpc_client.h"

#define LIKELY(condition) __builtin_expect(condition, 1)

/* Clocks from the mailbox to the first poll of the copy: the host is never faster, and a failed poll costs 28. */
#define FIRST_LOOK 40

/* Polls after the first one before the slow path: as many as an answer takes while all HPUs call. */
#define FIRST_LOOKS 6

/* The next port, if it is idle, of this context, and the host has a header with this opcode. */
static inline spin_rpc_port_t *idle_port(uint32_t opcode) {
    uint32_t other = (MMIO_READ(HWSCHED_HOST_MEM_ADDR_LOW) ^ ~spin_rpc_client.not_low) |
                     (MMIO_READ(HWSCHED_HOST_MEM_ADDR_HIGH) ^ ~spin_rpc_client.not_high);
    spin_rpc_port_t *port = spin_rpc_client.next;
    bool is_idle = LIKELY(other == 0) && LIKELY(port->header[OPCODE] == opcode) && LIKELY(port->state <= SPIN_RPC_OWNS);
    return is_idle ? port : NULL;
}

/* Begins to send the packet of a port that is ours. */
static inline spin_cmd_t begin_packet(spin_rpc_port_t *port, const void *data, uint32_t bytes) {
    port->state = SPIN_RPC_OPEN;
    return begin_write(port, data, bytes);
}

/* Gives the port away when the packet is there. The command is written while that is on its way. */
static inline void end_packet(spin_rpc_port_t *port, uint32_t bytes, spin_cmd_t sent) {
    port->out ^= 1;
    port->told ^= port->bit;
    spin_rpc_client.next = port->next;
    MMIO_WRITE(CMD_WORD0, port->outbox_at);
    MMIO_WRITE(CMD_WORD1, port->outbox_at >> 32);
    MMIO_WRITE(CMD_WORD2, (uintptr_t)&port->out);
    MMIO_WRITE(CMD_WORD3, SPIN_RPC_MAILBOX_BYTES);
    MMIO_WRITE(CMD_WORD4, true);
    end_write(bytes, sent);
    spin_cmd_issue(CMD_INFO_HOST_COPY | 1, NULL);
}

/* Calls that cannot go the usual way. A port that was left open makes them look where everything is. */
__attribute__((noinline)) static bool call_slowly(uint32_t opcode, const void *data, uint32_t bytes, int64_t *answer) {
    spin_rpc_port_t *port = spin_rpc_open(opcode);
    if (port == NULL) {
        return false;
    }
    bool is_done = spin_rpc_send(port, data, bytes) &&
                   (answer != NULL ? spin_rpc_recv_word(port, answer) : spin_rpc_wait(port));
    spin_rpc_close(port);
    return is_done;
}

__attribute__((noinline)) static bool post_slowly(uint32_t opcode, const void *data, uint32_t bytes) {
    spin_rpc_port_t *port = spin_rpc_open(opcode);
    bool is_sent = port != NULL && spin_rpc_send(port, data, bytes);
    if (port != NULL) {
        spin_rpc_close(port);
    }
    return is_sent;
}

/* The answer of a call that has ended, from host memory, if it is wanted. */
static inline bool take_answer(spin_rpc_port_t *port, int64_t *answer) {
    if (answer != NULL) {
        read_host(port->packet_at, spin_rpc_packet.words, sizeof(*answer));
        *answer = (int64_t)spin_rpc_packet.words[0];
    }
    port->state = SPIN_RPC_OWNS;
    return true;
}

/*
 * Waits for an answer that takes longer, or is in host memory. If the session was over, the call starts again: in the
 * next session its packet had an empty header, so no service received it.
 */
__attribute__((noinline)) static bool finish_slowly(spin_rpc_port_t *port, const void *data, uint32_t bytes, int64_t *answer) {
    uint32_t opcode = port->header[OPCODE];
    if (port->inbox != NULL && is_of_session(port, port->seen) && is_answered(port, port->seen)) {
        return take_answer(port, answer);
    }
    bool is_done = is_same_session() && (answer != NULL ? spin_rpc_recv_word(port, answer) : own(port));
    spin_rpc_close(port);
    if (is_done || is_same_session()) {
        return is_done;
    }
    spin_rpc_client.not_low = 0;
    return call_slowly(opcode, data, bytes, answer);
}

/* The same where there is no copy, for which the first looks are worth less code in between. */
__attribute__((noinline)) static bool finish_at_host(spin_rpc_port_t *port, const void *data, uint32_t bytes,
                                                     int64_t *answer) {
    bool is_same = true;
    for (uint32_t looks = LOOKS; looks != 0 && is_same; --looks) {
        spin_cmd_t looked;
        spin_dma_from_host(port->inbox_at, (uint32_t)(uintptr_t)&port->seen, SPIN_RPC_MAILBOX_BYTES, true, &looked);
        /* The mailbox of another session may hold what this call waits for. This load takes no longer than that read. */
        is_same = is_same_session();
        spin_cmd_wait(looked);
        if (LIKELY(port->seen == port->out) && LIKELY(is_same)) {
            return take_answer(port, answer);
        }
    }
    return finish_slowly(port, data, bytes, answer);
}

/* The fast path of a call. It is inlined where it is known whether there are bytes, so that no code tests it here. */
static inline __attribute__((always_inline)) bool call(uint32_t opcode, const void *data, uint32_t bytes,
                                                       int64_t *answer) {
    spin_rpc_port_t *port = idle_port(opcode);
    if (!LIKELY(port != NULL && port->state == SPIN_RPC_OWNS)) {
        return call_slowly(opcode, data, bytes, answer);
    }
    spin_cmd_t sent = begin_packet(port, data, bytes);
    end_packet(port, bytes, sent);
    volatile uint32_t *inbox = port->inbox;
    if (!LIKELY(inbox != NULL)) {
        return finish_at_host(port, data, bytes, answer);
    }
    rt_time_wait_cycles(FIRST_LOOK);
    uint32_t told = port->told, bit = port->bit, seen;
    for (uint32_t looks = FIRST_LOOKS;; --looks) {
        seen = *inbox;
        if (LIKELY(((seen ^ told) & bit) == 0) || looks == 0) {
            break;
        }
    }
    port->seen = seen;
    if (LIKELY(answer == NULL) && LIKELY(((seen ^ told) & (port->session | bit)) == 0)) {
        port->state = SPIN_RPC_OWNS;
        return true;
    }
    if (LIKELY(answer != NULL) && LIKELY(((seen ^ told) & bit) == 0) && LIKELY((seen & port->value) != 0)) {
        *answer = (int32_t)seen >> SPIN_RPC_COPY_SHIFT;
        port->state = SPIN_RPC_OWNS;
        return true;
    }
    return finish_slowly(port, data, bytes, answer);
}

bool spin_rpc_call(uint32_t opcode, const void *data, uint32_t bytes, int64_t *answer) {
    if (!LIKELY(bytes != 0)) {
        return call_slowly(opcode, data, bytes, answer);
    }
    return call(opcode, data, bytes, answer);
}

bool spin_rpc_call_empty(uint32_t opcode, int64_t *answer) { return call(opcode, NULL, 0, answer); }

/* Polls a port. Returns whether the session continues. */
static inline bool look_at(spin_rpc_port_t *port) {
    if (port->state != 0) {
        return is_same_session();
    }
    uint32_t seen = *port->inbox;
    if (is_answered(port, seen)) {
        port->seen = seen;
        port->state = SPIN_RPC_OWNS;
    }
    return LIKELY(((seen ^ port->told) & port->session) == 0) || is_same_session();
}

/* Gives the port to the host, and does not wait for it. */
static inline bool end_post(spin_rpc_port_t *port, uint32_t bytes, spin_cmd_t sent) {
    end_packet(port, bytes, sent);
    port->state = 0;
    return true;
}

/* The same where there is no copy: a read of the next port's inbox is under way together with the spin_rpc_packet. */
__attribute__((noinline)) static bool post_at_host(spin_rpc_port_t *port, uint32_t opcode, const void *data,
                                                   uint32_t bytes) {
    spin_rpc_port_t *next = port->next;
    spin_cmd_t sent = begin_packet(port, data, bytes), looked;
    bool looks = next->state == 0;
    if (looks) {
        spin_dma_from_host(next->inbox_at, (uint32_t)(uintptr_t)&next->seen, SPIN_RPC_MAILBOX_BYTES, true, &looked);
    }
    bool is_same = is_same_session();
    if (looks) {
        spin_cmd_wait(looked);
        next->state = next->seen == next->out ? SPIN_RPC_OWNS : 0;
    }
    if (!LIKELY(is_same)) {
        spin_cmd_wait(sent);
        port->state = SPIN_RPC_OWNS;
        return post_slowly(opcode, data, bytes);
    }
    return end_post(port, bytes, sent);
}

/*
 * Without a packet there is nothing to do meanwhile, so this polls the port itself, whose last call is mostly done
 * by now.
 */
__attribute__((noinline)) static bool post_at_host_empty(spin_rpc_port_t *port, uint32_t opcode) {
    spin_cmd_t looked;
    bool looks = port->state == 0;
    if (looks) {
        spin_dma_from_host(port->inbox_at, (uint32_t)(uintptr_t)&port->seen, SPIN_RPC_MAILBOX_BYTES, true, &looked);
    }
    bool is_same = is_same_session();
    if (looks) {
        spin_cmd_wait(looked);
        port->state = port->seen == port->out ? SPIN_RPC_OWNS : 0;
    }
    if (!LIKELY(is_same && port->state == SPIN_RPC_OWNS)) {
        return post_slowly(opcode, NULL, 0);
    }
    begin_packet(port, NULL, 0);
    return end_post(port, 0, 0);
}

bool spin_rpc_post(uint32_t opcode, const void *data, uint32_t bytes) {
    spin_rpc_port_t *port = bytes != 0 ? idle_port(opcode) : NULL;
    if (port != NULL && port->inbox == NULL && (port->state == SPIN_RPC_OWNS || spin_rpc_wait_at_host(port))) {
        return post_at_host(port, opcode, data, bytes);
    }
    bool is_usual = LIKELY(port != NULL) && LIKELY(port->inbox != NULL) &&
                    (LIKELY(port->state == SPIN_RPC_OWNS) || (look_at(port) && port->state == SPIN_RPC_OWNS));
    if (!is_usual) {
        return post_slowly(opcode, data, bytes);
    }
    spin_cmd_t sent = begin_packet(port, data, bytes);
    /* A poll of the next port also shows whether the session is over. Meanwhile the packet is in flight. */
    if (!LIKELY(look_at(port->next))) {
        end_write(bytes, sent);
        port->state = SPIN_RPC_OWNS;
        return post_slowly(opcode, data, bytes);
    }
    return end_post(port, bytes, sent);
}

/* Without a packet nothing is on its way, so the look is at the port itself, which has had the most time to be answered. */
bool spin_rpc_post_empty(uint32_t opcode) {
    spin_rpc_port_t *port = idle_port(opcode);
    if (!LIKELY(port != NULL)) {
        return post_slowly(opcode, NULL, 0);
    }
    if (!LIKELY(port->inbox != NULL)) {
        return post_at_host_empty(port, opcode);
    }
    if (!LIKELY(look_at(port)) || !LIKELY(port->state == SPIN_RPC_OWNS)) {
        return post_slowly(opcode, NULL, 0);
    }
    begin_packet(port, NULL, 0);
    return end_post(port, 0, 0);
}
