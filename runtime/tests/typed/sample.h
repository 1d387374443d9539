/*
 * Every form of a parameter.
 *
 * Made of the trait `Sample` by spinneret_rpc::service: change that. A function gives SPIN_SERVICE_DONE,
 * or which check refused it (spin_service.h); what it gives besides counts only if it is done.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <spin_service.h>

/* Handles: `Unit`. */
typedef uint32_t sample_unit_t;
#define SAMPLE_UNIT_FOUR SPIN_SERVICE_PREDEFINED(1, 0)
#define SAMPLE_UNIT_EIGHT SPIN_SERVICE_PREDEFINED(1, 1)

/* Bytes of the type that it names; 0 for unknown ones, which the host refuses. */
static inline uint32_t sample_unit_size(sample_unit_t handle) {
    switch (handle) {
    case SAMPLE_UNIT_FOUR: return 4;
    case SAMPLE_UNIT_EIGHT: return 8;
    default: return 0;
    }
}

/* Handles: `Other`. */
typedef uint32_t sample_other_t;

/* Values of all types; some come back changed. */
static inline spin_status_t sample_values(uint8_t a, int16_t b, uint32_t c, int64_t d, float e, double f,
        bool g, int16_t *b_out, int64_t *d_out, double *f_out, bool *g_out, int8_t *result) {
    SPIN_SERVICE_USES(0x73410001, 0xd23a46e8ad97b043, "sample_values");
    union {
        struct {
            uint32_t nobody;
            uint8_t a;
            int16_t b;
            uint32_t c;
            int64_t d;
            float e;
            double f;
            bool g;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; int8_t value; } result;
            int16_t b_out;
            int64_t d_out;
            double f_out;
            bool g_out;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.a, 4);
    SPIN_SERVICE_PLACE(packet, in.b, 6);
    SPIN_SERVICE_PLACE(packet, in.c, 8);
    SPIN_SERVICE_PLACE(packet, in.d, 16);
    SPIN_SERVICE_PLACE(packet, in.e, 24);
    SPIN_SERVICE_PLACE(packet, in.f, 32);
    SPIN_SERVICE_PLACE(packet, in.g, 40);
    SPIN_SERVICE_PLACE(packet, out.b_out, 16);
    SPIN_SERVICE_PLACE(packet, out.d_out, 24);
    SPIN_SERVICE_PLACE(packet, out.f_out, 32);
    SPIN_SERVICE_PLACE(packet, out.g_out, 40);
    struct spin_service call;
    spin_service_begin(&call, 0x73410001, &packet, 44, 44);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.a = a;
    packet.in.b = b;
    packet.in.c = c;
    packet.in.d = d;
    packet.in.e = e;
    packet.in.f = f;
    packet.in.g = g;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        *b_out = packet.out.b_out;
        *d_out = packet.out.d_out;
        *f_out = packet.out.f_out;
        *g_out = packet.out.g_out;
        *result = packet.out.result.value;
    }
    return status;
}

/* Keeps a text. */
static inline spin_status_t sample_note(const char *text) {
    SPIN_SERVICE_USES(0x73410002, 0x373e3c1e0b7f18ba, "sample_note");
    union {
        struct {
            uint32_t nobody;
            struct spin_slice text;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            uint64_t nothing;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.text, 4);
    struct spin_service call;
    spin_service_begin(&call, 0x73410002, &packet, 12, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.text = spin_service_text(&call, text, 1000);
    spin_status_t status = spin_service_end(&call);
    return status;
}

/* Adds numbers. */
static inline spin_status_t sample_sum(uint32_t count, const uint16_t *numbers, uint64_t *result) {
    SPIN_SERVICE_USES(0x73410003, 0x68473b407833dc2a, "sample_sum");
    union {
        struct {
            uint32_t nobody;
            uint32_t count;
            struct spin_slice numbers;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; uint64_t value; } result;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.count, 4);
    SPIN_SERVICE_PLACE(packet, in.numbers, 8);
    struct spin_service call;
    spin_service_begin(&call, 0x73410003, &packet, 16, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.count = count;
    packet.in.numbers = spin_service_in(&call, numbers, spin_service_times((uint32_t)count, 2u));
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        *result = packet.out.result.value;
    }
    return status;
}

/* Gives bytes that count up. */
static inline spin_status_t sample_fill(uint32_t rows, sample_unit_t unit, uint8_t first, void *data) {
    SPIN_SERVICE_USES(0x73410004, 0x596c6f29415418d9, "sample_fill");
    union {
        struct {
            uint32_t nobody;
            uint32_t rows;
            sample_unit_t unit;
            uint8_t first;
            struct spin_slice data;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            uint64_t nothing;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.rows, 4);
    SPIN_SERVICE_PLACE(packet, in.unit, 8);
    SPIN_SERVICE_PLACE(packet, in.first, 12);
    SPIN_SERVICE_PLACE(packet, in.data, 16);
    struct spin_service call;
    spin_service_begin(&call, 0x73410004, &packet, 24, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.rows = rows;
    packet.in.unit = unit;
    packet.in.first = first;
    struct spin_slice slice_of_data = spin_service_out(&call, data, spin_service_times((uint32_t)rows, sample_unit_size(unit)));
    packet.in.data = slice_of_data;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        spin_service_take(&call, slice_of_data, data);
    }
    return status;
}

/* Turns the order around, and gives how many there are. */
static inline spin_status_t sample_reverse(uint32_t count, uint32_t *numbers, uint32_t *result) {
    SPIN_SERVICE_USES(0x73410005, 0x0f6442987503e11c, "sample_reverse");
    union {
        struct {
            uint32_t nobody;
            uint32_t count;
            struct spin_slice numbers;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; uint32_t value; } result;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.count, 4);
    SPIN_SERVICE_PLACE(packet, in.numbers, 8);
    struct spin_service call;
    spin_service_begin(&call, 0x73410005, &packet, 16, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.count = count;
    struct spin_slice slice_of_numbers = spin_service_inout(&call, numbers, spin_service_times((uint32_t)count, 4u));
    packet.in.numbers = slice_of_numbers;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        spin_service_take(&call, slice_of_numbers, numbers);
        *result = packet.out.result.value;
    }
    return status;
}

/* Makes something that is named by a handle. */
static inline spin_status_t sample_make(sample_other_t *result) {
    SPIN_SERVICE_USES(0x73410006, 0x65f24bf1641248ba, "sample_make");
    union {
        struct {
            uint32_t nobody;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; sample_other_t value; } result;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    struct spin_service call;
    spin_service_begin(&call, 0x73410006, &packet, 4, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        *result = packet.out.result.value;
    }
    return status;
}

/* Ends it. */
static inline spin_status_t sample_end(sample_other_t other) {
    SPIN_SERVICE_USES(0x73410007, 0xc3b9ab2b7862480b, "sample_end");
    struct {
        uint32_t nobody;
        sample_other_t other;
    } packet;
    SPIN_SERVICE_PLACE(packet, other, 4);
    packet.nobody = SPIN_SERVICE_NOBODY;
    packet.other = other;
    return spin_service_short(0x73410007, &packet, 8);
}

/* Gives a number and twice of it when it is let.
 * The host may take its time. */
static inline spin_status_t sample_later(uint32_t number, uint32_t *twice, uint32_t *result) {
    SPIN_SERVICE_USES(0x73410008, 0x3c04fd8b2e088007, "sample_later");
    union {
        struct {
            uint32_t nobody;
            uint32_t number;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; uint32_t value; } result;
            uint32_t twice;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.number, 4);
    SPIN_SERVICE_PLACE(packet, out.twice, 16);
    struct spin_service call;
    spin_service_begin(&call, 0x73410008, &packet, 8, 20);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.number = number;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        *twice = packet.out.twice;
        *result = packet.out.result.value;
    }
    return status;
}

/* The same without waiting: the ticket is for the answer. */
static inline spin_ticket_t sample_later_start(uint32_t number) {
    SPIN_SERVICE_USES(0x73410008, 0x3c04fd8b2e088007, "sample_later");
    union {
        struct {
            uint32_t nobody;
            uint32_t number;
        } in;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.number, 4);
    struct spin_service call;
    spin_service_begin(&call, 0x73410008, &packet, 8, 20);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.number = number;
    return spin_service_start(&call);
}

/* Waits for the answer of a ticket, which is used up then. */
static inline spin_status_t sample_later_wait(spin_ticket_t *ticket, uint32_t *twice, uint32_t *result) {
    union {
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; uint32_t value; } result;
            uint32_t twice;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, out.twice, 16);
    spin_status_t status = spin_service_wait(ticket, &packet, 20);
    if (status == SPIN_SERVICE_DONE) {
        *twice = packet.out.twice;
        *result = packet.out.result.value;
    }
    return status;
}

/* A secret.
 * It is off until the application allows it. */
static inline spin_status_t sample_secret(uint32_t *result) {
    SPIN_SERVICE_USES(0x73410009, 0xc9c5f7fc855ed7d7, "sample_secret");
    union {
        struct {
            uint32_t nobody;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; uint32_t value; } result;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    struct spin_service call;
    spin_service_begin(&call, 0x73410009, &packet, 4, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        *result = packet.out.result.value;
    }
    return status;
}

/* Keeps a number, and refuses 13. */
static inline spin_status_t sample_touch(uint32_t number) {
    SPIN_SERVICE_USES(0x7341000a, 0xe32e4bc7ba121518, "sample_touch");
    struct {
        uint32_t nobody;
        uint32_t number;
    } packet;
    SPIN_SERVICE_PLACE(packet, number, 4);
    packet.nobody = SPIN_SERVICE_NOBODY;
    packet.number = number;
    return spin_service_short(0x7341000a, &packet, 8);
}

/* Puts one behind the other. */
static inline spin_status_t sample_mix(uint32_t left_bytes, const void *left, uint32_t right_bytes,
        const void *right, uint32_t room, void *joined, uint32_t *result) {
    SPIN_SERVICE_USES(0x7341000b, 0x1a9228f51a446be1, "sample_mix");
    union {
        struct {
            uint32_t nobody;
            uint32_t left_bytes;
            struct spin_slice left;
            uint32_t right_bytes;
            struct spin_slice right;
            uint32_t room;
            struct spin_slice joined;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; uint32_t value; } result;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.left_bytes, 4);
    SPIN_SERVICE_PLACE(packet, in.left, 8);
    SPIN_SERVICE_PLACE(packet, in.right_bytes, 16);
    SPIN_SERVICE_PLACE(packet, in.right, 20);
    SPIN_SERVICE_PLACE(packet, in.room, 28);
    SPIN_SERVICE_PLACE(packet, in.joined, 32);
    struct spin_service call;
    spin_service_begin(&call, 0x7341000b, &packet, 40, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.left_bytes = left_bytes;
    packet.in.left = spin_service_in(&call, left, (uint32_t)left_bytes);
    packet.in.right_bytes = right_bytes;
    packet.in.right = spin_service_in(&call, right, (uint32_t)right_bytes);
    packet.in.room = room;
    struct spin_slice slice_of_joined = spin_service_out(&call, joined, (uint32_t)room);
    packet.in.joined = slice_of_joined;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        spin_service_take(&call, slice_of_joined, joined);
        *result = packet.out.result.value;
    }
    return status;
}

/* Takes bytes and gives nothing, as MPI_Send does. */
static inline spin_status_t sample_pour(uint32_t count, const void *data) {
    SPIN_SERVICE_USES(0x7341000c, 0xc71af0d108bbea98, "sample_pour");
    union {
        struct {
            uint32_t nobody;
            uint32_t count;
            struct spin_slice data;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            uint64_t nothing;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.count, 4);
    SPIN_SERVICE_PLACE(packet, in.data, 8);
    struct spin_service call;
    spin_service_begin(&call, 0x7341000c, &packet, 16, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.count = count;
    packet.in.data = spin_service_in(&call, data, (uint32_t)count);
    spin_status_t status = spin_service_end(&call);
    return status;
}

#endif
