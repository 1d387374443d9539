/* The client of the host's services: spin_rpc.h says what it is for. */
#include "spin_rpc.h"

#include "context.h"
#include "handler.h"
#include "spin_dma.h"
#include "spin_host.h"

/* The host finds it by this name. It is there only if a handler calls. */
__attribute__((section(".l2_rpc"))) volatile struct spin_rpc_place __spin_rpc[SPIN_RPC_CONTEXTS];

/* What an HPU knows: of the services of one context, that of its last call. It is lost when another context calls. */
static __thread struct client {
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
} client;

/* Where one packet is put together and taken apart: the host reads and writes it there. */
static __thread union {
    uint64_t words[SPIN_RPC_WORDS];
    uint32_t halves[2 * SPIN_RPC_WORDS];
    uint8_t bytes[SPIN_RPC_PACKET_BYTES];
} packet;

/* Words of a header. */
#define OPCODE 2
#define GENERATION 3

/* Looks at an inbox in host memory between two looks at the session. */
#define LOOKS 256

static inline void write_host(uint64_t address, const volatile void *data, uint32_t bytes, spin_cmd_t *command) {
    spin_dma_to_host(address, (uint32_t)(uintptr_t)data, bytes, true, command);
}

static inline void read_host(uint64_t address, volatile void *data, uint32_t bytes) {
    spin_cmd_t command;
    spin_dma_from_host(address, (uint32_t)(uintptr_t)data, bytes, true, &command);
    spin_cmd_wait(command);
}

/* Begins to write the packet of a port. One without bytes is what stands there already. */
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

static inline bool is_same_session(void) { return client.place->session == client.session; }

/* A copy without a value is of this session, or tells that it is over. One with a value is an answer to this HPU, so it is. */
static inline bool is_of_session(const spin_rpc_port_t *port, uint32_t seen) {
    return (seen & port->value) != 0 || ((seen ^ port->told) & port->session) == 0;
}

/* Whether the host has answered, if this is a copy of the session. */
static inline bool is_answered(const spin_rpc_port_t *port, uint32_t seen) {
    return ((seen ^ port->told) & port->bit) == 0;
}

/* Waits at host memory. Whether there are services yet is looked at now and then. */
__attribute__((cold, noinline)) static bool wait_at_host(spin_rpc_port_t *port) {
    for (uint32_t looks = 1;; ++looks) {
        read_host(port->inbox_at, &port->seen, SPIN_RPC_MAILBOX_BYTES);
        if (port->seen == port->out) {
            port->seen = 0;
            port->state |= SPIN_RPC_OWNS;
            return true;
        }
        if (looks % LOOKS == 0 && !is_same_session()) {
            return false;
        }
    }
}

/* Waits until the port is ours; false if the session is over. */
static inline bool wait_for(spin_rpc_port_t *port) {
    volatile uint32_t *inbox = port->inbox;
    if (inbox == NULL) {
        return wait_at_host(port);
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

/* A port as the host's memory has it, wherever a handler or another session has left it. */
__attribute__((cold, noinline)) static bool attach_port(spin_rpc_port_t *port) {
    read_host(port->outbox_at, &port->out, SPIN_RPC_MAILBOX_BYTES);
    read_host(port->header_at, port->header, SPIN_RPC_HEADER_BYTES);
    if (port->out > 1) {
        /* Somebody else has written there. The server passes over such a port, so it is ours. */
        spin_cmd_t command;
        read_host(port->inbox_at, &port->out, SPIN_RPC_MAILBOX_BYTES);
        write_host(port->outbox_at, &port->out, SPIN_RPC_MAILBOX_BYTES, &command);
        spin_cmd_wait(command);
    }
    port->told |= port->out != 0 ? port->bit : 0;
    port->header[0] = 1;
    port->header[1] = 0;
    ++port->header[GENERATION];
    port->state = SPIN_RPC_NEW_HEADER;
    return wait_for(port);
}

/* Where a port's answers are told, and how. */
static void attach_inbox(spin_rpc_port_t *port, uint32_t index) {
    volatile struct spin_rpc_place *place = client.place;
    uint32_t copies = place->copies, hpus = place->hpus, hpu = index % hpus;
    port->value = 0;
    if (copies == SPIN_RPC_BITS_COPIED) {
        port->inbox = &place->inbox[hpu / SPIN_RPC_BITS_HPUS];
        port->bit = 1u << (hpu % SPIN_RPC_BITS_HPUS + index / hpus * SPIN_RPC_BITS_HPUS);
        port->session = -(1u << SPIN_RPC_BITS_SHIFT);
        port->told = client.session << SPIN_RPC_BITS_SHIFT;
        return;
    }
    bool has_word = copies == SPIN_RPC_WORDS_COPIED && index < SPIN_RPC_PORTS;
    port->inbox = has_word ? &place->inbox[index] : NULL;
    port->value = has_word ? SPIN_RPC_COPY_HAS_VALUE : 0;
    port->bit = SPIN_RPC_COPY_INBOX;
    port->session = ~SPIN_RPC_COPY_INBOX;
    port->told = client.session << SPIN_RPC_COPY_SHIFT;
}

/* The services of a context by its host memory, if the host offers any. */
static volatile struct spin_rpc_place *find(uint32_t low, uint32_t high) {
    for (uint32_t context = 0; context < SPIN_RPC_CONTEXTS; ++context) {
        volatile struct spin_rpc_place *place = &__spin_rpc[context];
        if (place->session != 0 && place->host_low == low && place->host_high == high) {
            return place;
        }
    }
    return NULL;
}

/* Finds out where the ports of this HPU are, and how they were left. */
__attribute__((cold, noinline)) static bool attach(void) {
    uint32_t low = MMIO_READ(HWSCHED_HOST_MEM_ADDR_LOW), high = MMIO_READ(HWSCHED_HOST_MEM_ADDR_HIGH);
    client.not_low = client.not_high = 0;
    volatile struct spin_rpc_place *place = find(low, high);
    if (place == NULL) {
        return false;
    }
    uint32_t session = place->session, version = place->version, ports = place->ports, hpus = place->hpus;
    uint32_t first = rt_cluster_id() * NB_CORES + rt_core_id();
    bool is_known = version == SPIN_RPC_VERSION_22 || version == SPIN_RPC_VERSION_23;
    if (session == 0 || !is_known || place->lanes != 1 || first >= hpus || first >= ports) {
        return false;
    }
    client.place = place;
    client.session = session;
    client.bulk_bytes = 0;
    uint64_t primary = ((uint64_t)high << 32 | low) + place->offset;
    primary += version == SPIN_RPC_VERSION_22 ? 0 : SPIN_RPC_DOORBELL_BYTES;
    uint64_t secondary = primary + SPIN_RPC_MAILBOX_BYTES * ports;
    /* All begins at a multiple of 64. */
    uint64_t headers = (secondary + SPIN_RPC_MAILBOX_BYTES * ports + 7) & ~(uint64_t)7;
    uint64_t packets = headers + SPIN_RPC_HEADER_BYTES * ports;
    spin_rpc_port_t *port = client.port, *last = port;
    for (uint32_t index = first; index < ports && port < client.port + SPIN_RPC_PORTS_PER_HPU; index += hpus, ++port) {
        port->inbox_at = primary + SPIN_RPC_MAILBOX_BYTES * index;
        port->outbox_at = secondary + SPIN_RPC_MAILBOX_BYTES * index;
        port->header_at = headers + SPIN_RPC_HEADER_BYTES * index;
        port->packet_at = packets + SPIN_RPC_PACKET_BYTES * index;
        attach_inbox(port, index);
        last->next = port;
        last = port;
        if (!attach_port(port)) {
            return false;
        }
    }
    last->next = client.next = client.port;
    client.not_low = ~low;
    client.not_high = ~high;
    return true;
}

/* Begins a call. What this HPU knows may be of another session, which the first send finds out. */
static inline void begin(spin_rpc_port_t *port, uint32_t opcode) {
    uint32_t state = (port->state & (SPIN_RPC_OWNS | SPIN_RPC_NEW_HEADER)) | SPIN_RPC_OPEN;
    if (port->header[OPCODE] != opcode) {
        port->header[OPCODE] = opcode;
        state |= SPIN_RPC_NEW_HEADER;
    }
    port->state = state;
    client.next = port->next;
}

/*
 * Opens another port than the next one, or the next one otherwise. Ports whose answers somebody will ask for are passed over; if there
 * is no other, the answer is lost. If a port was left in the middle of a call, or is of another context, everything is looked at anew.
 */
__attribute__((cold, noinline)) static spin_rpc_port_t *open_otherwise(uint32_t opcode, uint32_t other) {
    spin_rpc_port_t *port = client.next;
    if (other == 0 && (port->state & SPIN_RPC_OPEN) == 0) {
        do {
            port = port->next;
        } while ((port->state & SPIN_RPC_TICKET) != 0 && port != client.next);
    }
    if (other != 0 || (port->state & SPIN_RPC_OPEN) != 0) {
        if (!attach()) {
            return NULL;
        }
        port = client.port;
    }
    begin(port, opcode);
    return port;
}

spin_rpc_port_t *spin_rpc_open(uint32_t opcode) {
    /* What this HPU knows has to be of the context at hand, and no handler may have ended in the middle of a call. */
    uint32_t other = (MMIO_READ(HWSCHED_HOST_MEM_ADDR_LOW) ^ ~client.not_low) |
                     (MMIO_READ(HWSCHED_HOST_MEM_ADDR_HIGH) ^ ~client.not_high);
    spin_rpc_port_t *port = client.next;
    if (other != 0 || (port->state & (SPIN_RPC_OPEN | SPIN_RPC_TICKET)) != 0) {
        return open_otherwise(opcode, other);
    }
    begin(port, opcode);
    return port;
}

/* The host has closed and opened again, so what this HPU knew is not so any more: the call begins anew, if it can. */
__attribute__((cold, noinline)) static bool reattach(spin_rpc_port_t *port) {
    uint32_t opcode = port->header[OPCODE];
    if ((port->state & SPIN_RPC_BEGUN) != 0 || !attach()) {
        return false;
    }
    begin(port, opcode);
    return true;
}

/* Waits for the port, if need be, and writes the header, too. */
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
        /* The packet is on its way meanwhile, so this look costs nothing. */
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
    read_host(port->packet_at, packet.words, sizeof(*word));
    *word = (int64_t)packet.words[0];
    return true;
}

bool spin_rpc_wait(spin_rpc_port_t *port) { return own(port); }

bool spin_rpc_test(spin_rpc_port_t *port) {
    if (port->inbox != NULL) {
        packet.halves[0] = *port->inbox;
    } else {
        read_host(port->inbox_at, packet.halves, SPIN_RPC_MAILBOX_BYTES);
    }
    return is_answered(port, packet.halves[0]) || (port->state & SPIN_RPC_OWNS) != 0 || !is_same_session();
}

/* Loads from L2 take their time, so an HPU asks once in a session. */
uint64_t spin_rpc_bulk(const spin_rpc_port_t *port, uint32_t *bytes) {
    if (client.bulk_bytes == 0) {
        volatile struct spin_rpc_place *place = client.place;
        uint32_t first = rt_cluster_id() * NB_CORES + rt_core_id();
        client.bulk_bytes = place->bulk_bytes;
        client.bulk_step = client.bulk_bytes * place->hpus;
        client.bulk_at = ((uint64_t)place->host_high << 32 | place->host_low) + place->bulk + client.bulk_bytes * first;
    }
    *bytes = client.bulk_bytes;
    return client.bulk_at + (port != client.port ? client.bulk_step : 0);
}

/*
 * ---- Whole calls ----
 *
 * The usual way is straight and keeps nothing on the stack, so whatever else may be is the end of a function. An instruction is one
 * clock, a branch that is taken three.
 */

#define LIKELY(condition) __builtin_expect(condition, 1)

/* Clocks from the mailbox to the first look at the copy: the host is never quicker, and a look in vain costs 28. */
#define FIRST_LOOK 40

/* Looks after the first one before everything else is thought of that may be: as many as answers take while all HPUs call. */
#define FIRST_LOOKS 6

/* The next port, if it is idle, of this context, and the host has a header with this opcode. */
static inline spin_rpc_port_t *idle_port(uint32_t opcode) {
    uint32_t other = (MMIO_READ(HWSCHED_HOST_MEM_ADDR_LOW) ^ ~client.not_low) |
                     (MMIO_READ(HWSCHED_HOST_MEM_ADDR_HIGH) ^ ~client.not_high);
    spin_rpc_port_t *port = client.next;
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
    client.next = port->next;
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
        read_host(port->packet_at, packet.words, sizeof(*answer));
        *answer = (int64_t)packet.words[0];
    }
    port->state = SPIN_RPC_OWNS;
    return true;
}

/*
 * Waits for an answer that takes longer, or is at the host. If the session was over, the call begins anew: in the next session its
 * packet had an empty header, so no service got it.
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
    client.not_low = 0;
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

/* The usual way of a call. Whether there are bytes is known where it is made, so that nobody has to look. */
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

/* Looks at a port, and says whether the session goes on. */
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

/* The same where there is no copy: a read of the next port's inbox is under way together with the packet. */
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
 * Without a packet there is nothing to do meanwhile, so the look is at the port itself, whose last call is mostly done by
 * now.
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
    if (port != NULL && port->inbox == NULL && (port->state == SPIN_RPC_OWNS || wait_at_host(port))) {
        return post_at_host(port, opcode, data, bytes);
    }
    bool is_usual = LIKELY(port != NULL) && LIKELY(port->inbox != NULL) &&
                    (LIKELY(port->state == SPIN_RPC_OWNS) || (look_at(port) && port->state == SPIN_RPC_OWNS));
    if (!is_usual) {
        return post_slowly(opcode, data, bytes);
    }
    spin_cmd_t sent = begin_packet(port, data, bytes);
    /* A look at the next port tells of the session as well, and the packet is on its way meanwhile. */
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

/* ---- Streams ---- */

extern const uint8_t __spin_l2[], __spin_handler_mem[];

/* Whether a packet's bytes can be copied from there by the copy engine, though not all of them may belong to a string. */
static bool is_in_program_data(const void *from) {
    uintptr_t address = (uintptr_t)from;
    return address >= (uintptr_t)__spin_l2 && address + SPIN_RPC_PACKET_BYTES <= (uintptr_t)__spin_handler_mem;
}

/* Of a byte that is 0 in a word, its highest bit is set here, and no lower one. */
static inline uint32_t zeros(uint32_t word) { return (word - 0x01010101u) & ~word & 0x80808080u; }

/* The first byte of a packet that is 0, or 64. */
static uint32_t end_in_packet(void) {
    for (uint32_t half = 0; half < 2 * SPIN_RPC_WORDS; ++half) {
        uint32_t found = zeros(packet.halves[half]);
        if (found != 0) {
            uint32_t byte = 4 * half;
            for (; (found & 0xff) == 0; found >>= 8) {
                ++byte;
            }
            return byte;
        }
    }
    return SPIN_RPC_PACKET_BYTES;
}

__attribute__((noinline)) uint32_t spin_rpc_length(const char *text, uint32_t most) {
    uint32_t length = 0;
    while (length < most && is_in_program_data(text + length)) {
        spin__memcpy((void *)(uintptr_t)(text + length), packet.bytes, SPIN_RPC_PACKET_BYTES);
        uint32_t found = end_in_packet();
        length += found;
        if (found < SPIN_RPC_PACKET_BYTES) {
            return MIN(length, most);
        }
    }
    while (length < most && text[length] != 0) {
        ++length;
    }
    return MIN(length, most);
}

/* The first packet of a stream: its length, and what stands behind it in `packet`. */
static bool send_first(spin_rpc_port_t *port, uint32_t bytes) {
    packet.halves[0] = bytes;
    packet.halves[1] = 0;
    return spin_rpc_send(port, packet.bytes, sizeof(uint64_t) + MIN(bytes, SPIN_RPC_FIRST_BYTES));
}

/* The packets behind the first, right from where they are. */
__attribute__((noinline)) static bool send_rest(spin_rpc_port_t *port, const uint8_t *data, uint32_t bytes) {
    bool is_sent = true;
    for (uint32_t at = SPIN_RPC_FIRST_BYTES; is_sent && at < bytes; at += SPIN_RPC_PACKET_BYTES) {
        is_sent = spin_rpc_send(port, data + at, MIN(bytes - at, SPIN_RPC_PACKET_BYTES));
    }
    return is_sent;
}

__attribute__((noinline)) bool spin_rpc_send_n(spin_rpc_port_t *port, const void *data, uint32_t bytes) {
    spin_rpc_copy(packet.bytes + sizeof(uint64_t), data, MIN(bytes, SPIN_RPC_FIRST_BYTES));
    return send_first(port, bytes) && send_rest(port, data, bytes);
}

bool spin_rpc_send_string(spin_rpc_port_t *port, const char *text, bool with_nul) {
    return spin_rpc_send_n(port, text, spin_rpc_length(text, UINT32_MAX) + (with_nul ? 1 : 0));
}

bool spin_rpc_recv_n(spin_rpc_port_t *port, void *data, uint32_t room, uint32_t *bytes) {
    if (!spin_rpc_recv(port, packet.bytes, sizeof(packet))) {
        return false;
    }
    uint32_t length = packet.halves[1] == 0 ? packet.halves[0] : UINT32_MAX;
    *bytes = length;
    spin_rpc_copy(data, packet.bytes + sizeof(uint64_t), MIN(MIN(length, SPIN_RPC_FIRST_BYTES), room));
    for (uint32_t at = SPIN_RPC_FIRST_BYTES; at < length; at += SPIN_RPC_PACKET_BYTES) {
        uint32_t fits = at < room ? MIN(MIN(length, room) - at, SPIN_RPC_PACKET_BYTES) : 0;
        if (!receive(port)) {
            return false;
        }
        if (fits != 0) {
            read_host(port->packet_at, (uint8_t *)data + at, fits);
        }
        if (length - at <= SPIN_RPC_PACKET_BYTES) {
            break; /* `at` must not wrap around */
        }
    }
    return true;
}
