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
    uint32_t session; /* 0: none */
    uint32_t host_low;
    uint32_t host_high;
    uint64_t base; /* the buffer */
    uint32_t ports; /* of this HPU */
    uint32_t next;
    spin_rpc_port_t port[SPIN_RPC_PORTS_PER_HPU];
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

/* Looks at the copy between two looks at the session, and clocks between two looks. */
#define LOOKS 256
#define PAUSE 8

static inline void write_host(uint32_t offset, const volatile void *data, uint32_t bytes, spin_cmd_t *command) {
    spin_dma_to_host(client.base + offset, (uint32_t)(uintptr_t)data, bytes, true, command);
}

static inline void read_host(uint32_t offset, volatile void *data, uint32_t bytes) {
    spin_cmd_t command;
    spin_dma_from_host(client.base + offset, (uint32_t)(uintptr_t)data, bytes, true, &command);
    spin_cmd_wait(command);
}

static inline bool is_same_session(void) { return client.place->session == client.session; }

/* What the inbox holds, in bit 0. */
static uint32_t inbox_of(spin_rpc_port_t *port) {
    if (port->inbox != NULL) {
        return *port->inbox;
    }
    read_host(port->inbox_at, &port->seen, SPIN_RPC_MAILBOX_BYTES);
    return port->seen & SPIN_RPC_COPY_INBOX;
}

/* Waits until the port is ours. */
__attribute__((noinline)) static bool wait_for(spin_rpc_port_t *port) {
    for (uint32_t looks = 1; !port->owns; ++looks) {
        uint32_t seen = inbox_of(port);
        if (((seen ^ port->out) & SPIN_RPC_COPY_INBOX) == 0) {
            port->seen = seen;
            port->owns = true;
        } else if (looks % LOOKS == 0 && !is_same_session()) {
            return false;
        } else {
            rt_time_wait_cycles(PAUSE);
        }
    }
    asm_mem_fence();
    return true;
}

static inline bool own(spin_rpc_port_t *port) { return port->owns || wait_for(port); }

/* Gives the port to the host, which has everything else by now. */
static inline void give_away(spin_rpc_port_t *port) {
    port->out ^= 1;
    port->owns = false;
    write_host(port->outbox_at, &port->out, SPIN_RPC_MAILBOX_BYTES, NULL);
}

/* A port as the host's memory has it, wherever a handler or another session has left it. */
__attribute__((cold, noinline)) static bool attach_port(spin_rpc_port_t *port) {
    read_host(port->outbox_at, &port->out, SPIN_RPC_MAILBOX_BYTES);
    read_host(port->header_at, port->header, SPIN_RPC_HEADER_BYTES);
    port->owns = port->receive = false;
    if (port->out > 1) {
        /* Somebody else has written there. The server passes over such a port, so it is ours. */
        spin_cmd_t command;
        port->out = inbox_of(port) & SPIN_RPC_COPY_INBOX;
        write_host(port->outbox_at, &port->out, SPIN_RPC_MAILBOX_BYTES, &command);
        spin_cmd_wait(command);
    }
    port->header[0] = 1;
    port->header[1] = 0;
    ++port->header[GENERATION];
    port->has_new_header = true;
    return own(port);
}

/* The places of this context, if the host offers any. */
static volatile struct spin_rpc_place *find(void) {
    for (uint32_t context = 0; context < SPIN_RPC_CONTEXTS; ++context) {
        volatile struct spin_rpc_place *place = &__spin_rpc[context];
        if (place->session != 0 && place->host_low == client.host_low && place->host_high == client.host_high) {
            return place;
        }
    }
    return NULL;
}

/* Finds out where the ports of this HPU are, and how they were left. */
__attribute__((cold, noinline)) static bool attach(void) {
    client.session = 0;
    client.host_low = MMIO_READ(HWSCHED_HOST_MEM_ADDR_LOW);
    client.host_high = MMIO_READ(HWSCHED_HOST_MEM_ADDR_HIGH);
    volatile struct spin_rpc_place *place = find();
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
    client.base = ((uint64_t)client.host_high << 32 | client.host_low) + place->offset;
    uint32_t primary = version == SPIN_RPC_VERSION_22 ? 0 : SPIN_RPC_DOORBELL_BYTES;
    uint32_t secondary = primary + SPIN_RPC_MAILBOX_BYTES * ports;
    uint32_t headers = ALIGN_UP(secondary + SPIN_RPC_MAILBOX_BYTES * ports, 8);
    uint32_t packets = headers + SPIN_RPC_HEADER_BYTES * ports;
    bool has_copy = place->has_copy && ports <= SPIN_RPC_PORTS;
    client.next = client.ports = 0;
    for (uint32_t index = first; index < ports && client.ports < SPIN_RPC_PORTS_PER_HPU; index += hpus) {
        spin_rpc_port_t *port = &client.port[client.ports++];
        port->inbox_at = primary + SPIN_RPC_MAILBOX_BYTES * index;
        port->outbox_at = secondary + SPIN_RPC_MAILBOX_BYTES * index;
        port->header_at = headers + SPIN_RPC_HEADER_BYTES * index;
        port->packet_at = packets + SPIN_RPC_PACKET_BYTES * index;
        port->inbox = has_copy ? &place->inbox[index] : NULL;
        /* Of two ports of an HPU the one that no handler has left open may be used as it is, but nobody saves much by that. */
        if (!attach_port(port)) {
            client.session = 0;
            return false;
        }
        port->is_open = false;
    }
    return true;
}

/* Whether what this HPU knows is of the context at hand, and no handler has ended in the middle of a call. */
static inline bool is_attached(const spin_rpc_port_t *port) {
    return client.session != 0 && !port->is_open && client.host_low == MMIO_READ(HWSCHED_HOST_MEM_ADDR_LOW) &&
           client.host_high == MMIO_READ(HWSCHED_HOST_MEM_ADDR_HIGH);
}

static inline void begin(spin_rpc_port_t *port, uint32_t opcode) {
    port->is_open = true;
    port->is_checked = port->receive = false;
    if (port->header[OPCODE] != opcode) {
        port->header[OPCODE] = opcode;
        port->has_new_header = true;
    }
}

spin_rpc_port_t *spin_rpc_open(uint32_t opcode) {
    spin_rpc_port_t *port = &client.port[client.next];
    if (!is_attached(port)) {
        if (!attach()) {
            return NULL;
        }
        port = &client.port[0];
    }
    if (client.ports > 1) {
        client.next = client.next + 1 == client.ports ? 0 : client.next + 1;
    }
    begin(port, opcode);
    return port;
}

/* The host has closed and opened again, so what this HPU knew is not so any more: the call begins anew. */
__attribute__((cold, noinline)) static bool reattach(spin_rpc_port_t *port) {
    uint32_t opcode = port->header[OPCODE];
    if (!attach()) {
        port->is_open = true;
        return false;
    }
    begin(port, opcode);
    port->is_checked = true;
    return true;
}

__attribute__((noinline)) bool spin_rpc_send(spin_rpc_port_t *port, const void *data, uint32_t bytes) {
    if (!own(port) && (port->is_checked || !reattach(port))) {
        return false;
    }
    for (;;) {
        spin_cmd_t header, sent;
        write_host(port->packet_at, data, bytes, &sent);
        bool has_new_header = port->has_new_header;
        if (has_new_header) {
            write_host(port->header_at, port->header, SPIN_RPC_HEADER_BYTES, &header);
            port->has_new_header = false;
        }
        /* The packet is on its way meanwhile, so this look costs nothing. */
        bool is_same = port->is_checked || is_same_session();
        if (has_new_header) {
            spin_cmd_wait(header);
        }
        spin_cmd_wait(sent);
        if (is_same) {
            break;
        }
        if (!reattach(port)) {
            return false;
        }
    }
    port->is_checked = true;
    port->receive = false;
    give_away(port);
    return true;
}

/* The port is ours with a new packet in it. */
static bool receive(spin_rpc_port_t *port) {
    if (port->receive) {
        give_away(port);
    }
    port->receive = true;
    return own(port);
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
    if (port->seen & SPIN_RPC_COPY_HAS_VALUE) {
        *word = (int32_t)port->seen >> SPIN_RPC_COPY_SHIFT;
        return true;
    }
    read_host(port->packet_at, packet.words, sizeof(*word));
    *word = (int64_t)packet.words[0];
    return true;
}

bool spin_rpc_wait(spin_rpc_port_t *port) { return own(port); }

/* ---- Streams ---- */

extern const uint8_t __spin_l2[], __spin_handler_mem[];

/* Whether a packet's bytes can be copied from there by the copy engine, though not all of them may belong to a string. */
static bool is_in_program_data(const void *from) {
    uintptr_t address = (uintptr_t)from;
    return address >= (uintptr_t)__spin_l2 && address + SPIN_RPC_PACKET_BYTES <= (uintptr_t)__spin_handler_mem;
}

__attribute__((noinline)) void spin_rpc_copy(void *to, const void *from, uint32_t bytes) {
    if (spin_is_in_l2(from) && bytes > 4) {
        spin__memcpy((void *)(uintptr_t)from, to, bytes);
        return;
    }
    for (uint32_t byte = 0; byte < bytes; ++byte) {
        ((uint8_t *)to)[byte] = ((const uint8_t *)from)[byte];
    }
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
