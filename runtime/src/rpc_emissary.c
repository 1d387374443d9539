/* Calls of Emissary APIs: the arguments are one stream, and each area of memory another one. */
#include "rpc_client.h"

#include "emissary.h"

/* Numbers of areas of memory in the ids. */
static inline uint32_t sends_of(uint64_t ids) { return (uint32_t)ids >> 16; }
static inline uint32_t receives_of(uint64_t ids) { return (uint32_t)ids & 0xffff; }

static inline bool has_two_words(const struct emissary_argument *argument) {
    return argument->key != EMIS_KEY_INTEGER_32 && argument->key != EMIS_KEY_STRING;
}

/* Puts a stream together in packets, and sends each when it is full. */
typedef struct {
    spin_rpc_port_t *port;
    uint32_t at;    /* in the packet */
    uint32_t words; /* of the stream so far */
    bool is_sent;
} packer_t;

static void flush(packer_t *to) {
    to->is_sent = to->is_sent && spin_rpc_send(to->port, spin_rpc_packet.bytes, to->at);
    to->at = 0;
}

static void put_word(packer_t *to, uint32_t word) {
    if (to->at == SPIN_RPC_PACKET_BYTES) {
        flush(to);
    }
    spin_rpc_packet.halves[to->at / sizeof(word)] = word;
    to->at += sizeof(word);
    ++to->words;
}

static void put_bytes(packer_t *to, const uint8_t *from, uint32_t bytes) {
    while (bytes != 0) {
        if (to->at == SPIN_RPC_PACKET_BYTES) {
            flush(to);
        }
        uint32_t part = MIN(bytes, SPIN_RPC_PACKET_BYTES - to->at);
        spin_rpc_copy(spin_rpc_packet.bytes + to->at, from, part);
        to->at += part, from += part, bytes -= part;
    }
}

/* Words of the stream before its strings; finds their lengths. Areas may be of characters, and are no strings. */
static uint32_t measure(struct emissary_argument *arguments, uint32_t count, uint32_t areas, uint32_t *strings) {
    uint32_t words = 2 + count;
    *strings = 0;
    for (uint32_t index = 0; index < count; ++index) {
        struct emissary_argument *argument = &arguments[index];
        if (argument->key == EMIS_KEY_STRING && index <= 2 * areas) {
            argument->key = EMIS_KEY_POINTER;
        } else if (argument->key == EMIS_KEY_STRING && argument->value != 0) {
            argument->bytes = spin_rpc_length((const char *)(uintptr_t)argument->value, UINT32_MAX - 1) + 1;
            *strings += argument->bytes;
        }
        words = has_two_words(argument) ? (words + 1) / 2 * 2 + 2 : words + 1;
    }
    return words;
}

static bool send_arguments(spin_rpc_port_t *port, struct emissary_argument *arguments, uint32_t count, uint32_t areas) {
    uint32_t strings, words = measure(arguments, count, areas, &strings);
    packer_t to = {port, 0, 0, true};
    put_word(&to, 4 * words + strings);
    put_word(&to, 0);
    to.words = 0;
    put_word(&to, 4 * words);
    put_word(&to, count);
    for (uint32_t index = 0; index < count; ++index) {
        put_word(&to, arguments[index].key);
    }
    for (uint32_t index = 0; index < count; ++index) {
        const struct emissary_argument *argument = &arguments[index];
        if (has_two_words(argument)) {
            if (to.words % 2 != 0) {
                put_word(&to, 0);
            }
            put_word(&to, (uint32_t)argument->value);
            put_word(&to, (uint32_t)(argument->value >> 32));
        } else {
            put_word(&to, argument->key == EMIS_KEY_STRING ? argument->bytes : (uint32_t)argument->value);
        }
    }
    for (uint32_t index = 0; index < count; ++index) {
        if (arguments[index].key == EMIS_KEY_STRING) {
            put_bytes(&to, (const uint8_t *)(uintptr_t)arguments[index].value, arguments[index].bytes);
        }
    }
    flush(&to);
    return to.is_sent;
}

/* Moves the areas after the ids: addresses and lengths in turn, those to the host first. */
static bool move(spin_rpc_port_t *port, const struct emissary_argument *area, uint32_t sends, uint32_t receives) {
    for (uint32_t number = 0; number < sends + receives; ++number, area += 2) {
        uint32_t bytes = (uint32_t)area[1].value;
        void *memory = (void *)(uintptr_t)area->value;
        if (!(number < sends ? spin_rpc_send_n(port, memory, bytes) : spin_rpc_recv_n(port, memory, bytes, &bytes))) {
            return false;
        }
    }
    return true;
}

uint64_t emissary_call(struct emissary_argument *arguments, uint32_t count) {
    uint32_t sends = sends_of(arguments->value), receives = receives_of(arguments->value), areas = sends + receives;
    if (count > EMIS_MOST_ARGUMENTS + 1 || 2 * areas >= count) {
        return EMIS_FAILED;
    }
    spin_rpc_port_t *port = spin_rpc_open(areas == 0 ? SPIN_RPC_EMISSARY_CALL : SPIN_RPC_EMISSARY_CALL_WITH_DATA);
    if (port == NULL) {
        return EMIS_FAILED;
    }
    int64_t result;
    bool is_done = send_arguments(port, arguments, count, areas) && move(port, arguments + 1, sends, receives) &&
                   spin_rpc_recv_word(port, &result);
    spin_rpc_close(port);
    return is_done ? (uint64_t)result : EMIS_FAILED;
}
