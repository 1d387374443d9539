/*
 * Support for the stubs of typed services (docs/host/services.md). Handlers call stubs; they use only statuses and
 * tickets of this header.
 *
 * A stub packs its parameters into one packet. Data of at most 48 bytes follow them, as far as there is room; longer
 * data are copied to the port's part of the context's host memory, and back.
 */
#ifndef SPIN_SERVICE_H
#define SPIN_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "handler.h"
#include "spin_rpc.h"

/* Status of a call: SPIN_SERVICE_DONE, or the check that refused it. */
typedef uint32_t spin_status_t;

/* The check (SPIN_SERVICE_FAILED and others), and the number from the host's function, if any. */
static inline uint32_t spin_status_check(spin_status_t status) { return status & 0xff; }
static inline uint32_t spin_status_number(spin_status_t status) { return status >> 8; }

/*
 * A ticket for a pending answer. An HPU has at most as many as ports. If a call needs a port and all have tickets, one
 * answer is dropped, and its ticket returns SPIN_SERVICE_DROPPED. So tickets need not be released.
 */
typedef struct {
    spin_rpc_port_t *port;
    uint32_t number;
    spin_status_t status; /* of a call that was refused before it was sent */
} spin_ticket_t;

/* Whether waiting would return immediately. */
bool spin_ticket_test(const spin_ticket_t *ticket);

/* Gives up an answer. */
void spin_ticket_drop(spin_ticket_t *ticket);

/* Where data are, and how many bytes. */
struct spin_slice {
    uint32_t at; /* in the port's part of host memory, or SPIN_SLICE_INLINE */
    uint32_t bytes;
};

/* A call that is being put together. */
struct spin_service {
    spin_rpc_port_t *port;
    uint8_t *packet;
    uint32_t request; /* bytes of the request so far */
    uint32_t answer;  /* bytes of the answer without data */
    uint32_t returns; /* bytes of the answer with data */
    uint64_t bulk_at; /* the port's part of host memory, if it is used */
    uint32_t bulk;    /* bytes of it in use */
    spin_cmd_t copy;  /* of the last data that go there */
    bool is_copying;
    spin_status_t status;
};

/* Notes in the program which version of a function a stub is for; nothing is loaded for it. */
#define SPIN_SERVICE_USES(opcode, version, name)                                                                        \
    asm volatile(".pushsection .spin_services,\"\",@progbits\n\t.4byte " #opcode "\n\t.8byte " #version                 \
                 "\n\t.asciz \"" name "\"\n\t.popsection")

/* The compiler puts things where the host looks for them. */
#define SPIN_SERVICE_PLACE(packet, member, at) \
    _Static_assert(offsetof(__typeof__(packet), member) == (at), "the host looks for it elsewhere")

/* Returns the product, or UINT32_MAX, a length that never fits, if it overflows. */
static inline uint32_t spin_service_times(uint32_t one, uint32_t other) {
    uint32_t product;
    return __builtin_mul_overflow(one, other, &product) ? UINT32_MAX : product;
}

/* A whole call of one packet that gives nothing but its status. */
spin_status_t spin_service_short(uint32_t opcode, const void *packet, uint32_t bytes);

/* Begins a call. `request` and `answer` are the bytes of each, without data. */
void spin_service_begin(struct spin_service *call, uint32_t opcode, void *packet, uint32_t request, uint32_t answer);

/* Data that go to the host, that come back, and both; a string with its NUL. */
struct spin_slice spin_service_in(struct spin_service *call, const void *data, uint32_t bytes);
struct spin_slice spin_service_out(struct spin_service *call, const void *data, uint32_t bytes);
struct spin_slice spin_service_inout(struct spin_service *call, const void *data, uint32_t bytes);
struct spin_slice spin_service_text(struct spin_service *call, const char *text, uint32_t cap);

/* Sends the request, and waits for the answer, which is in the packet then. */
spin_status_t spin_service_end(struct spin_service *call);

/* Takes data that have come back, in the order in which their slices were made. */
void spin_service_take(struct spin_service *call, struct spin_slice slice, void *data);

/* Sends only. */
spin_ticket_t spin_service_start(struct spin_service *call);

/* Waits for the answer of a ticket, which has `bytes` bytes. */
spin_status_t spin_service_wait(spin_ticket_t *ticket, void *packet, uint32_t bytes);

#endif
