/*
 * Where the bytes of MPI's datatypes belong, as handlers read it, and the memory that they share with the host.
 *
 * Generated from the tables of the crate spinneret-mpi: change those, then run its tests with SPINNERET_UPDATE_DOCS=1.
 * docs/host/mpi.md describes it.
 *
 * Host memory of the context: the completion of slot s is the 64-bit word at s * MPI_TYPES_COMPLETION_STRIDE. Its low half is
 * the message id, its high half MPI_TYPES_COMPLETION_VALID and the length.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef MPI_TYPES_H
#define MPI_TYPES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define MPI_TYPES_MAGIC 0x5449504d
#define MPI_TYPES_VERSION 4
#define MPI_TYPES_SLOTS 16
#define MPI_TYPES_SLOT_SHIFT 24
#define MPI_TYPES_MAX_SEGMENTS 32256
#define MPI_TYPES_BITMAP_WORDS 1008
#define MPI_TYPES_LOCAL_BYTES 4368
#define MPI_TYPES_COUNTERS 16
#define MPI_TYPES_HPUS 64
#define MPI_TYPES_LEVELS 4
#define MPI_TYPES_TABLE 5
#define MPI_TYPES_COMPLETION_STRIDE 64
#define MPI_TYPES_COMPLETION_VALID 0x80000000

/* The counters of each HPU. */
enum mpi_types_counter {
    MPI_TYPES_ACCEPTED = 0, /* segments of messages that are complete, each once */
    MPI_TYPES_DUPLICATE = 1, /* segments that were there already, or whose message is complete */
    MPI_TYPES_MALFORMED = 2, /* frames whose parts or lengths do not agree */
    MPI_TYPES_IP_CHECKSUM = 3, /* frames with a wrong IP header checksum */
    MPI_TYPES_UDP_CHECKSUM = 4, /* frames with a wrong UDP checksum */
    MPI_TYPES_NOT_A_SEGMENT = 5, /* acknowledgements, which are no segments */
    MPI_TYPES_MISPLACED = 6, /* segments whose length or offset does not fit the message's segments */
    MPI_TYPES_TOO_LONG = 7, /* segments that reach behind the end of the message */
    MPI_TYPES_FOREIGN = 8, /* segments of a message that is awaited, from another source */
    MPI_TYPES_UNKNOWN = 9, /* segments of no message that is awaited */
    MPI_TYPES_STUCK = 10, /* segments that had to wait for a handler that makes no progress */
    MPI_TYPES_ACKS_SENT = 11, /* acknowledgements of whole messages, and of what came twice */
    MPI_TYPES_COMPLETED = 12, /* messages that were completed */
};

/* n / d is the upper half of (n << 6) * reciprocal, shifted right by shift, for all n below 2^26. */

/* Repetition with a stride. */
struct mpi_types_level {
    uint32_t count;
    uint32_t stride; /* modulo 2^32 */
    uint32_t reciprocal;
    uint32_t shift;
    uint32_t step; /* from the last run of all levels below to the first one of the next, modulo 2^32 */
};

/* A run of a table. */
struct mpi_types_run {
    uint32_t before; /* bytes of the element before it */
    uint32_t start;  /* where its first byte belongs, modulo 2^32 */
};

/* A message that is to come, and where its bytes belong. */
struct mpi_types_request {
    uint32_t id; /* +0x000 message id in host order, 0 if no message is to come */
    uint32_t reserved0[1];
    uint32_t source; /* +0x008 source address as loaded from the packet */
    uint32_t port; /* +0x00c source port as loaded from the packet */
    uint32_t length; /* +0x010 bytes of the message */
    uint32_t unit; /* +0x014 payload of all segments but the last */
    uint32_t unit_reciprocal; /* +0x018 to divide by it */
    uint32_t unit_shift; /* +0x01c to divide by it */
    uint32_t last; /* +0x020 index of the last segment */
    uint32_t base; /* +0x024 offset of the buffer's address in the context's host memory, modulo 2^32 */
    uint32_t kind; /* +0x028 number of levels, 0 to 4, or TABLE */
    uint32_t run; /* +0x02c bytes of a run; of an element if there is a table */
    uint32_t run_reciprocal; /* +0x030 to divide by it */
    uint32_t run_shift; /* +0x034 to divide by it */
    uint32_t table; /* +0x038 offset of the table of runs in handler memory */
    uint32_t runs; /* +0x03c runs of an element; the table has one more, that begins where the element ends */
    uint32_t index; /* +0x040 offset of the index in handler memory: for each part of an element, its first run */
    uint32_t index_shift; /* +0x044 a part has 2^this bytes */
    uint32_t extent; /* +0x048 bytes from one element to the next, modulo 2^32 */
    uint32_t reserved1[5];
    struct mpi_types_level level[MPI_TYPES_LEVELS]; /* +0x060 for each level from the inside: count, stride, reciprocal and shift of the count, step */
    uint32_t reserved2[4];
};
static_assert(offsetof(struct mpi_types_request, id) == 0x000, "mpi_types_request.id");
static_assert(offsetof(struct mpi_types_request, source) == 0x008, "mpi_types_request.source");
static_assert(offsetof(struct mpi_types_request, port) == 0x00c, "mpi_types_request.port");
static_assert(offsetof(struct mpi_types_request, length) == 0x010, "mpi_types_request.length");
static_assert(offsetof(struct mpi_types_request, unit) == 0x014, "mpi_types_request.unit");
static_assert(offsetof(struct mpi_types_request, unit_reciprocal) == 0x018, "mpi_types_request.unit_reciprocal");
static_assert(offsetof(struct mpi_types_request, unit_shift) == 0x01c, "mpi_types_request.unit_shift");
static_assert(offsetof(struct mpi_types_request, last) == 0x020, "mpi_types_request.last");
static_assert(offsetof(struct mpi_types_request, base) == 0x024, "mpi_types_request.base");
static_assert(offsetof(struct mpi_types_request, kind) == 0x028, "mpi_types_request.kind");
static_assert(offsetof(struct mpi_types_request, run) == 0x02c, "mpi_types_request.run");
static_assert(offsetof(struct mpi_types_request, run_reciprocal) == 0x030, "mpi_types_request.run_reciprocal");
static_assert(offsetof(struct mpi_types_request, run_shift) == 0x034, "mpi_types_request.run_shift");
static_assert(offsetof(struct mpi_types_request, table) == 0x038, "mpi_types_request.table");
static_assert(offsetof(struct mpi_types_request, runs) == 0x03c, "mpi_types_request.runs");
static_assert(offsetof(struct mpi_types_request, index) == 0x040, "mpi_types_request.index");
static_assert(offsetof(struct mpi_types_request, index_shift) == 0x044, "mpi_types_request.index_shift");
static_assert(offsetof(struct mpi_types_request, extent) == 0x048, "mpi_types_request.extent");
static_assert(offsetof(struct mpi_types_request, level) == 0x060, "mpi_types_request.level");
static_assert(sizeof(struct mpi_types_request) == 0xc0, "mpi_types_request");

/* The context's handler memory from its start. */
struct mpi_types_memory {
    uint32_t magic; /* +0x000 magic number */
    uint32_t version; /* +0x004 version of this layout */
    uint32_t slots; /* +0x008 number of slots, 1 to 16 */
    uint32_t reserved0[13];
    uint32_t counters[1024]; /* +0x040 16 counters of each HPU: segments by cause, and more */
    struct mpi_types_request request[MPI_TYPES_SLOTS]; /* +0x1040 */
};
static_assert(offsetof(struct mpi_types_memory, magic) == 0x000, "mpi_types_memory.magic");
static_assert(offsetof(struct mpi_types_memory, version) == 0x004, "mpi_types_memory.version");
static_assert(offsetof(struct mpi_types_memory, slots) == 0x008, "mpi_types_memory.slots");
static_assert(offsetof(struct mpi_types_memory, counters) == 0x040, "mpi_types_memory.counters");

#endif
