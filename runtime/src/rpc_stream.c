/* Streams: data of any length, in as many packets as they take. */
#include "rpc_client.h"

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
        uint32_t found = zeros(spin_rpc_packet.halves[half]);
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
        spin__memcpy((void *)(uintptr_t)(text + length), spin_rpc_packet.bytes, SPIN_RPC_PACKET_BYTES);
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

/* The first packet of a stream: its length, and the data after it in `packet`. */
static bool send_first(spin_rpc_port_t *port, uint32_t bytes) {
    spin_rpc_packet.halves[0] = bytes;
    spin_rpc_packet.halves[1] = 0;
    return spin_rpc_send(port, spin_rpc_packet.bytes, sizeof(uint64_t) + MIN(bytes, SPIN_RPC_FIRST_BYTES));
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
    spin_rpc_copy(spin_rpc_packet.bytes + sizeof(uint64_t), data, MIN(bytes, SPIN_RPC_FIRST_BYTES));
    return send_first(port, bytes) && send_rest(port, data, bytes);
}

bool spin_rpc_send_string(spin_rpc_port_t *port, const char *text, bool with_nul) {
    return spin_rpc_send_n(port, text, spin_rpc_length(text, UINT32_MAX) + (with_nul ? 1 : 0));
}

bool spin_rpc_recv_n(spin_rpc_port_t *port, void *data, uint32_t room, uint32_t *bytes) {
    if (!spin_rpc_recv(port, spin_rpc_packet.bytes, sizeof(spin_rpc_packet))) {
        return false;
    }
    uint32_t length = spin_rpc_packet.halves[1] == 0 ? spin_rpc_packet.halves[0] : UINT32_MAX;
    *bytes = length;
    spin_rpc_copy(data, spin_rpc_packet.bytes + sizeof(uint64_t), MIN(MIN(length, SPIN_RPC_FIRST_BYTES), room));
    for (uint32_t at = SPIN_RPC_FIRST_BYTES; at < length; at += SPIN_RPC_PACKET_BYTES) {
        uint32_t fits = at < room ? MIN(MIN(length, room) - at, SPIN_RPC_PACKET_BYTES) : 0;
        if (!spin_rpc_receive(port)) {
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
