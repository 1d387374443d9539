/*
 * SLMP, the sPIN Lightweight Message Protocol, and the memory that its receiver on the NIC shares with the host.
 *
 * Generated from the tables of the crate spinneret-slmp: change those, then run its tests with SPINNERET_UPDATE_DOCS=1.
 * docs/host/slmp.md describes the protocol.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef SLMP_H
#define SLMP_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define SLMP_PORT 9330 /* UDP port of receivers */
#define SLMP_HEADER_BYTES 10
#define SLMP_MAX_PAYLOAD 1462 /* of a segment */

/* Flags, in host order. */
#define SLMP_FLAG_EOM 0x8000 /* end of message */
#define SLMP_FLAG_SYN 0x4000 /* the receiver must acknowledge */
#define SLMP_FLAG_ACK 0x2000 /* an acknowledgement */

/* Numbers of the memory below. */
#define SLMP_MAGIC 0x504d4c53
#define SLMP_VERSION 5
#define SLMP_PLACES 8
#define SLMP_MAX_SEGMENTS 32256
#define SLMP_BITMAP_WORDS 1008
#define SLMP_LOCAL_BYTES 4160
#define SLMP_COUNTERS 16
#define SLMP_HPUS 64
#define SLMP_DONE_END 0x80000000
#define SLMP_END_TAKEN 1
#define SLMP_END_COMPLETING 2

/*
 * Host memory of the context: the completion of place p is the 64-bit word at p * SLMP_COMPLETION_STRIDE. Its low half
 * is the message id, its high half SLMP_COMPLETION_VALID and the length; it is 0 while there is none.
 */
#define SLMP_COMPLETION_STRIDE 64
#define SLMP_COMPLETION_VALID 0x80000000
#define SLMP_REGIONS 4096

/* States of a place. */
enum slmp_state {
    SLMP_FREE = 0, /* no message */
    SLMP_OPEN = 1, /* segments are missing */
    SLMP_COMPLETE = 2, /* the host has to take the message */
    SLMP_RELEASED = 3, /* the host is done with it: may be used again, duplicates are acknowledged until then */
    SLMP_CLOSED = 4, /* the host is taking it away */
};

/* Outcomes of a segment, and the numbers of the counters. */
enum slmp_cause {
    SLMP_ACCEPTED = 0, /* data was new and was taken */
    SLMP_DUPLICATE = 1, /* was there already, or its message is complete */
    SLMP_MALFORMED = 2, /* the frame or its lengths do not agree */
    SLMP_IP_CHECKSUM = 3, /* IP header checksum wrong */
    SLMP_UDP_CHECKSUM = 4, /* UDP checksum present and wrong */
    SLMP_NOT_A_SEGMENT = 5, /* an acknowledgement */
    SLMP_MISPLACED = 6, /* length or offset do not fit the message's segments */
    SLMP_TOO_LONG = 7, /* beyond the memory of the message */
    SLMP_BEYOND_END = 8, /* behind the end of the message, or another end */
    SLMP_NO_ROOM = 9, /* a new message and no free place for it */
    SLMP_GIVEN_UP = 10, /* its message was just given up by the host */
    SLMP_ACKS_SENT = 11, /* not a cause: acknowledgements that were sent */
    SLMP_COMPLETED = 12, /* not a cause: messages that were completed */
    SLMP_ACCEPTED_AND_ACKED = 13, /* not a cause: segments that were accepted and acknowledged, which count here alone */
};

/* One message. */
struct slmp_place {
    uint32_t state; /* +0x000 one of the states */
    uint32_t source; /* +0x004 source address as loaded from the packet */
    uint32_t port; /* +0x008 source port as loaded from the packet */
    uint32_t message_id; /* +0x00c message id in host order */
    uint32_t region; /* +0x010 offset of the message's memory in the context's host memory */
    uint32_t capacity; /* +0x014 bytes of the message's memory */
    uint32_t users; /* +0x018 handlers that are working on it */
    uint32_t segment_bytes; /* +0x01c payload of all segments but the last, 0 while unknown */
    uint32_t end; /* +0x020 offset of the EOM segment + 1, 0 while unknown */
    uint32_t length; /* +0x024 length of the message, valid with end */
    uint32_t done; /* +0x028 segments whose data is in host memory, and DONE_END */
    uint32_t generation; /* +0x02c number of the message, one more for each; begins with start */
    uint32_t end_syn; /* +0x030 1 if the EOM segment asked for an acknowledgement */
    uint32_t end_taken; /* +0x034 what is known of the EOM segment: END_TAKEN, END_COMPLETING */
    uint32_t start; /* +0x038 random number of this start of the host, another one than before */
    uint32_t reciprocal; /* +0x03c 2^32 / segment_bytes, rounded up; 0 while unknown, or if it does not fit */
    uint32_t claimed[1008]; /* +0x040 a bit for each segment that HPUs of spinneret's own have taken */
};
static_assert(offsetof(struct slmp_place, state) == 0x000, "slmp_place.state");
static_assert(offsetof(struct slmp_place, source) == 0x004, "slmp_place.source");
static_assert(offsetof(struct slmp_place, port) == 0x008, "slmp_place.port");
static_assert(offsetof(struct slmp_place, message_id) == 0x00c, "slmp_place.message_id");
static_assert(offsetof(struct slmp_place, region) == 0x010, "slmp_place.region");
static_assert(offsetof(struct slmp_place, capacity) == 0x014, "slmp_place.capacity");
static_assert(offsetof(struct slmp_place, users) == 0x018, "slmp_place.users");
static_assert(offsetof(struct slmp_place, segment_bytes) == 0x01c, "slmp_place.segment_bytes");
static_assert(offsetof(struct slmp_place, end) == 0x020, "slmp_place.end");
static_assert(offsetof(struct slmp_place, length) == 0x024, "slmp_place.length");
static_assert(offsetof(struct slmp_place, done) == 0x028, "slmp_place.done");
static_assert(offsetof(struct slmp_place, generation) == 0x02c, "slmp_place.generation");
static_assert(offsetof(struct slmp_place, end_syn) == 0x030, "slmp_place.end_syn");
static_assert(offsetof(struct slmp_place, end_taken) == 0x034, "slmp_place.end_taken");
static_assert(offsetof(struct slmp_place, start) == 0x038, "slmp_place.start");
static_assert(offsetof(struct slmp_place, reciprocal) == 0x03c, "slmp_place.reciprocal");
static_assert(offsetof(struct slmp_place, claimed) == 0x040, "slmp_place.claimed");
static_assert(sizeof(struct slmp_place) == 0x1000, "slmp_place");

/* The context's handler memory from its start. The host clears all of it before it begins. */
struct slmp_memory {
    uint32_t magic; /* +0x000 magic number */
    uint32_t version; /* +0x004 version of this layout */
    uint32_t places; /* +0x008 number of places, 1 to 8 */
    uint32_t confirm; /* +0x00c when EOM is acknowledged: 0 in memory, 1 stored by the host */
    uint32_t lock; /* +0x010 spin lock for opening messages */
    uint32_t reserved0[59];
    uint32_t counters[1024]; /* +0x100 16 counters of each HPU: segments by cause, and three more */
    struct slmp_place place[SLMP_PLACES]; /* +0x1100 */
};
static_assert(offsetof(struct slmp_memory, magic) == 0x000, "slmp_memory.magic");
static_assert(offsetof(struct slmp_memory, version) == 0x004, "slmp_memory.version");
static_assert(offsetof(struct slmp_memory, places) == 0x008, "slmp_memory.places");
static_assert(offsetof(struct slmp_memory, confirm) == 0x00c, "slmp_memory.confirm");
static_assert(offsetof(struct slmp_memory, lock) == 0x010, "slmp_memory.lock");
static_assert(offsetof(struct slmp_memory, counters) == 0x100, "slmp_memory.counters");
static_assert(sizeof(struct slmp_memory) == 0x1100 + SLMP_PLACES * sizeof(struct slmp_place), "slmp_memory");

#endif
