/*
 * The message that an HPU of spinneret's own worked on last, which it remembers in a thread-local variable, and the short way of
 * a segment of that message, which takes half the instructions.
 *
 * A segment goes the short way if all of its headers are as before, except for the IP identification and checksum, the UDP
 * checksum and the offset. So its lengths and addresses have been checked, and the acknowledgement of the segment before is its
 * own with another offset. Everything else goes the long way, which begins from the start:
 *
 *   headers as before? -> offset -> enter the place: the same message? -> claim -> copy, acknowledge meanwhile -> count
 *          | no             | no           | no: leave again               | another HPU has it: leave
 *          +----------------+--------------+-------------------------------+--> the long way
 *
 * A place keeps its generation while its state is open and an HPU works on it, and what is remembered belongs to the
 * generation. The state is read first. If it is that of a later message, the record's generation was written before. Whether the
 * end is known is in L1, too. An HPU that sees it too late may accept a segment behind the end, as one that comes at the same time.
 *
 * A segment that is lost is claimed again the long way, which answers duplicates.
 */
#ifndef KNOWN_H
#define KNOWN_H

#include "position.h"

/* Words of the headers, from the start of the frame to the payload. */
#define HEADER_WORDS (sizeof(frame_t) / sizeof(uint32_t))
static_assert(sizeof(frame_t) % sizeof(uint32_t) == 0, "headers are whole words");

typedef union {
    frame_t frame;
    uint32_t word[HEADER_WORDS];
} headers_t;

typedef struct known {
    uint32_t seen;    /* id of the message of the last segment that was accepted the long way */
    memory_t *memory; /* the context's handler memory; NULL: nothing is known */
    uint32_t frame_bytes;
    headers_t request; /* of an earlier segment */
    headers_t answer;  /* the acknowledgement of any, once its offset is set */
    place_t *place;
    uint32_t generation;
    uint32_t identified; /* sum of IP identification and checksum: the same in all */
    uint32_t unit;
    uint32_t reciprocal;
    uint32_t last; /* greatest offset that there can be */
    uint32_t region;
    record_t *own; /* the record in this cluster */
    volatile uint32_t *counter; /* which only this HPU changes */
    uint32_t counted;           /* its value */
} known_t;

static __thread known_t known;

/* The address of `known`. The compiler takes it for a number, which it keeps; it would compute the address again for each part. */
static inline known_t *recall(void) {
    known_t *message = &known;
    asm("" : "+r"(message));
    return message;
}

/* Sum of the fields that differ in right IP headers, of which one follows from the other. */
static inline uint32_t identify(const frame_t *frame) {
    uint32_t sum = (uint32_t)frame->identification + frame->ip_checksum;
    return (sum + (sum >> 16)) & 0xffff;
}

/*
 * Whether three numbers are those of before. All are read first, as an HPU would wait for each of them before it compares it. The
 * compiler must not move the loads, and takes the empty instruction to change what they give.
 */
static inline bool are_same(uint32_t first, uint32_t first_before, uint32_t second, uint32_t second_before,
                            uint32_t third, uint32_t third_before) {
    asm("" : "+r"(first), "+r"(first_before), "+r"(second), "+r"(second_before), "+r"(third), "+r"(third_before));
    return likely(first == first_before) && likely(second == second_before) && likely(third == third_before);
}

/* Whether the UDP checksum is right, by the NIC's sum of the payload. If it has none, the segment goes the long way. */
static inline bool has_known_udp_checksum(const known_t *message, const frame_t *frame, uint32_t bytes) {
    uint32_t told = spin_packet_sum(), sum = told >> SPIN_PACKET_SIZE_BITS;
    uint32_t pseudo = sum_of(htons(PROTOCOL_UDP) + frame->udp_bytes, frame->source, 4);
    return sum != 0 && (told & ((1u << SPIN_PACKET_SIZE_BITS) - 1)) == bytes &&
           bytes == sizeof(frame_t) + message->unit && ip_checksum_finish(pseudo + sum) == 0;
}

/*
 * Whether headers are as before, except for what may differ, and checksums are right. The sender's port is in word 8 and the
 * message's id in word 11: they differ most often.
 */
static inline bool has_known_headers(const known_t *message, const task_t *task, const headers_t *headers) {
    const frame_t *frame = &headers->frame, *request = &message->request.frame;
    const uint32_t *word = headers->word, *before = message->request.word;
    memory_t *memory = task->handler_mem;
    uint32_t bytes = task->pkt_mem_size;
    /* A frame may be too short to be read. */
    if (!likely(memory == message->memory) || !likely(bytes == message->frame_bytes)) {
        return false;
    }
    return are_same(word[11], before[11], word[8], before[8], word[7], before[7]) &&
           are_same(word[9], before[9], word[5], before[5], word[3], before[3]) &&
           are_same(word[0], before[0], word[1], before[1], word[2], before[2]) &&
           likely(identify(frame) == message->identified) &&
           are_same(frame->ip_bytes, request->ip_bytes, frame->source[0], request->source[0], frame->flags,
                    request->flags) &&
           (likely(frame->udp_checksum == 0) || has_known_udp_checksum(message, frame, bytes));
}

/* Enters the place that is known, if it still has the message that is known. */
static inline bool enter_known(place_t *place, record_t *own, uint32_t generation) {
    add(&place->users, 1);
    return likely(place->state == SLMP_OPEN) && likely(own->generation == generation);
}

/* Takes the headers of a segment as it came from those of its acknowledgement, or of itself. */
static inline void restore_request(frame_t *frame, uint32_t bytes) {
    swap(frame->to, frame->from, 3);
    swap(frame->source, frame->destination, 2);
    swap(&frame->source_port, &frame->destination_port, 1);
    frame->ip_bytes = htons(sizeof(ip_hdr_t) + UDP_AND_SLMP_BYTES + bytes);
    frame->udp_bytes = htons(UDP_AND_SLMP_BYTES + bytes);
    frame->flags &= (uint16_t)~htons(SLMP_FLAG_ACK);
}

/*
 * Remembers the message of an accepted segment, and its acknowledgement if it was asked for.
 */
static __attribute__((noinline)) void remember(const local_t *local, memory_t *memory, place_t *place,
                                               const position_t *at, const segment_t *segment) {
    known.memory = NULL;
    if (segment->is_end || at->reciprocal == 0) {
        return;
    }
    known.frame_bytes = local->task->pkt_mem_size;
    const headers_t *headers = (const headers_t *)segment->frame;
    for (uint32_t i = 0; i < HEADER_WORDS; ++i) {
        known.request.word[i] = known.answer.word[i] = headers->word[i];
    }
    if (segment->is_turned) {
        restore_request(&known.request.frame, at->unit);
    }
    known.place = place;
    known.generation = local->generation;
    known.request.frame.identification = known.request.frame.ip_checksum = 0;
    known.identified = ip_checksum_finish(
        sum_of(0, (const uint16_t *)(const void *)&known.request.frame.version_ihl, sizeof(ip_hdr_t) / sizeof(uint16_t)));
    known.unit = at->unit;
    known.reciprocal = at->reciprocal;
    known.last = MIN(at->room - at->unit, (SLMP_MAX_SEGMENTS - 1) * at->unit);
    known.region = at->region;
    known.own = local->own;
    uint32_t hpu = rt_cluster_id() * NB_CORES + rt_core_id();
    bool is_answered = segment->wants_ack;
    known.counter = &memory->counters[hpu % SLMP_HPUS * SLMP_COUNTERS +
                                      (is_answered ? SLMP_ACCEPTED_AND_ACKED : SLMP_ACCEPTED)];
    known.counted = *known.counter;
    known.memory = memory;
}

#endif
