/*
 * Emissary APIs: functions of the host that take any arguments (docs/host/rpc.md#emissary-apis). A stub has the
 * parameters of the host's function, and gives them to one call:
 *
 *     int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
 *         return (int)_emissary_exec(_PACK_EMIS_IDS(EMIS_ID_MPI, _MPI_Send_idx), buf, count, datatype, dest, tag, comm);
 *     }
 *
 * The host sees no memory of handlers. Memory that a function reads or writes moves with the call: the ids say how many areas go to
 * the host and how many come back, and the arguments begin with an address and a length for each of them:
 *
 *     _emissary_exec(_PACK_EMIS_IDS(EMIS_ID_RESERVE, 7, 1, 1), in, sizeof(in), out, sizeof(out), in, out)
 *
 * The host finds other pointers in these areas. A pointer to characters is a string, and is sent with its NUL, or as NULL.
 * Integers of at most 32 bits are one type, `float` is sent as `double`; the compiler refuses a struct.
 */
#ifndef EMISSARY_H
#define EMISSARY_H

#include <stdint.h>

#include "spin_rpc.h"

/* The result of a call that was not done: -1 as an integer, NaN as the bits of a double. */
#define EMIS_FAILED UINT64_MAX

/* An argument with its type. */
struct emissary_argument {
    uint64_t value;
    uint32_t key;   /* EMIS_KEY_... */
    uint32_t bytes; /* of a string with its NUL; emissary_call finds them */
};

static inline struct emissary_argument emissary_int(uint32_t value) {
    return (struct emissary_argument){value, EMIS_KEY_INTEGER_32, 0};
}

static inline struct emissary_argument emissary_long(uint64_t value) {
    return (struct emissary_argument){value, EMIS_KEY_INTEGER_64, 0};
}

static inline struct emissary_argument emissary_double(double value) {
    union {
        double number;
        uint64_t bits;
    } both = {value};
    return (struct emissary_argument){both.bits, EMIS_KEY_DOUBLE, 0};
}

static inline struct emissary_argument emissary_pointer(const volatile void *value) {
    return (struct emissary_argument){(uint32_t)(uintptr_t)value, EMIS_KEY_POINTER, 0};
}

static inline struct emissary_argument emissary_string(const char *value) {
    return (struct emissary_argument){(uint32_t)(uintptr_t)value, EMIS_KEY_STRING, 0};
}

/* The result of a function that returns a double. */
static inline double emissary_as_double(uint64_t result) {
    union {
        uint64_t bits;
        double number;
    } both = {result};
    return both.number;
}

/*
 * Calls the function of the ids, the first argument, and returns its result, or EMIS_FAILED. The host may take its time.
 * Changes the arguments.
 */
uint64_t emissary_call(struct emissary_argument *arguments, uint32_t count);

/*
 * One packet with a call, if the compiler finds that it has no strings and no areas, and fits: an HPU writes it in a few clocks.
 * Returns the words of the packet, and 0 if it is none.
 */
#define EMIS_SHORT_ARGUMENTS 5
static inline __attribute__((always_inline)) uint32_t emissary_pack(uint32_t *packet, const struct emissary_argument *arguments,
                                                                    uint32_t count) {
    uint32_t at = 4 + count;
    if (count > EMIS_SHORT_ARGUMENTS || (uint32_t)arguments[0].value != 0) {
        return 0;
    }
    for (uint32_t index = 0; index < EMIS_SHORT_ARGUMENTS && index < count; ++index) {
        uint32_t key = arguments[index].key;
        bool has_two_words = key != EMIS_KEY_INTEGER_32;
        if (key == EMIS_KEY_STRING || at + 3 > SPIN_RPC_PACKET_BYTES / sizeof(uint32_t)) {
            return 0;
        }
        packet[4 + index] = key;
        if (has_two_words && at % 2 != 0) {
            packet[at++] = 0;
        }
        packet[at++] = (uint32_t)arguments[index].value;
        if (has_two_words) {
            packet[at++] = (uint32_t)(arguments[index].value >> 32);
        }
    }
    packet[0] = packet[2] = 4 * (at - 2);
    packet[1] = 0;
    packet[3] = count;
    return at;
}

static inline __attribute__((always_inline)) uint64_t emissary_exec(struct emissary_argument *arguments, uint32_t count) {
    uint32_t packet[SPIN_RPC_PACKET_BYTES / sizeof(uint32_t)];
    uint32_t words = emissary_pack(packet, arguments, count);
    if (__builtin_constant_p(words) && words != 0) {
        int64_t result;
        bool is_done = spin_rpc_call(SPIN_RPC_EMISSARY_CALL, packet, words * sizeof(uint32_t), &result);
        return is_done ? (uint64_t)result : EMIS_FAILED;
    }
    return emissary_call(arguments, count);
}

/* The ids of a function: its API and number, and how many areas of memory go to the host and come back. */
#define _PACK_EMIS_IDS(...) EMIS_IDS(__VA_ARGS__, 0, 0, 0)
#define EMIS_IDS(api, function, sends, receives, ...) \
    ((uint64_t)(uint16_t)(api) << 48 | (uint64_t)(uint16_t)(function) << 32 | (uint32_t)(uint16_t)(sends) << 16 | (uint16_t)(receives))

/* Calls a function of the host with its ids and at most 32 arguments. */
#define _emissary_exec(...) \
    emissary_exec(EMIS_LIST(__VA_ARGS__), sizeof(EMIS_LIST(__VA_ARGS__)) / sizeof(struct emissary_argument))

#define EMIS_LIST(...) ((struct emissary_argument[]){EMIS_REPEAT(EMIS_EACH(__VA_ARGS__))})
#define EMIS_EACH(argument, ...) EMIS_ARGUMENT(argument), __VA_OPT__(EMIS_NEXT EMIS_PARENTHESES (__VA_ARGS__))
#define EMIS_NEXT() EMIS_EACH
#define EMIS_PARENTHESES ()
#define EMIS_REPEAT(...) EMIS_REPEAT_12(EMIS_REPEAT_12(EMIS_REPEAT_12(__VA_ARGS__)))
#define EMIS_REPEAT_12(...) EMIS_REPEAT_4(EMIS_REPEAT_4(EMIS_REPEAT_4(__VA_ARGS__)))
#define EMIS_REPEAT_4(...) EMIS_ONCE(EMIS_ONCE(EMIS_ONCE(EMIS_ONCE(__VA_ARGS__))))
#define EMIS_ONCE(...) __VA_ARGS__
#define EMIS_ARGUMENT(argument) \
    _Generic((argument), \
        float: emissary_double, double: emissary_double, \
        long long: emissary_long, unsigned long long: emissary_long, \
        char *: emissary_string, const char *: emissary_string, \
        _Bool: emissary_int, char: emissary_int, signed char: emissary_int, unsigned char: emissary_int, \
        short: emissary_int, unsigned short: emissary_int, int: emissary_int, unsigned int: emissary_int, \
        long: emissary_int, unsigned long: emissary_int, \
        default: emissary_pointer)(argument)

#endif
