/*
 * Claims of segments on HPUs of spinneret's own. A place in L2 has a bit for each segment, and an HPU claims a segment by an atomic
 * operation that sets its bit. Exactly one finds it clear. The HPU that opens a message clears the bits that the message may use,
 * before others see its place as open.
 *
 * Words that HPUs look up for each segment are in L1, in a record of each cluster: the message that the cluster has worked on last,
 * the `generation` of the place's message, and that of the message whose end is known. The HPU that opens the message, or gets the
 * end, writes them to all clusters. The content of L1 before the host opens its receiver is unknown, and means nothing.
 *
 * At the beginning of a message all HPUs look for it. One of each cluster does so in L2, and the others wait for it in L1, since
 * the one that opens the message would be slow otherwise.
 */
#ifndef CLAIMS_H
#define CLAIMS_H

#include "segment.h"

/* Maximum number of clusters. */
#define CLUSTERS 8

/* Polls for a message that another HPU opens before this one looks for itself: some 8000 clocks. */
#define LOOKS 512

/* A place's record in one cluster. */
typedef volatile struct {
    uint32_t generation; /* of the place's message, since before the place was open */
    uint32_t ended;      /* generation of the message whose end is known */
    uint32_t message_id; /* of the last message that the cluster has worked on; only a hint */
    uint32_t sought;     /* the message that an HPU of the cluster is looking for, or opens */
} record_t;
static_assert(sizeof(record_t) <= SLMP_LOCAL_BYTES, "the host asks for so much");

/* A message's place and records, as an HPU sees them. */
typedef struct {
    const task_t *task;
    volatile struct slmp_place *place;
    record_t *own;  /* this cluster's */
    uint32_t offset; /* of the record in each cluster's scratchpad */
    uint32_t generation;
} local_t;

/* The record in a cluster. */
static inline record_t *record_of(const local_t *local, uint32_t cluster) {
    return (record_t *)((uintptr_t)spin_scratchpad(local->task, cluster) + local->offset);
}

/* The records of a place, whose message is not known yet. */
static inline local_t records_of_place(const task_t *task, volatile struct slmp_memory *memory, uint32_t place) {
    local_t local = {.task = task, .place = &memory->place[place], .offset = place * sizeof(record_t)};
    local.own = record_of(&local, rt_cluster_id());
    return local;
}

/* Returns whether all clusters have memory for `count` records. */
static inline bool has_records(const task_t *task, uint32_t count) {
    uint32_t clusters = rt_cluster_count();
    bool has = clusters <= CLUSTERS;
    for (uint32_t cluster = 0; cluster < MIN(clusters, SPIN_TASK_CLUSTERS); ++cluster) {
        has = has && spin_scratchpad_size(task, cluster) >= count * sizeof(record_t);
    }
    return likely(has);
}

/* Sets which message the place has. */
static inline void set_message(local_t *local, uint32_t generation, uint32_t start) {
    (void)start;
    local->generation = generation;
}

/* Tells all clusters that the message's end is known. */
static inline void tell_end(const local_t *local) {
    for (uint32_t cluster = 0, clusters = rt_cluster_count(); cluster < clusters; ++cluster) {
        record_of(local, cluster)->ended = local->generation;
    }
}

/* Tells all clusters that the message's place is open. */
static inline void tell_open(const local_t *local, uint32_t message_id) {
    for (uint32_t cluster = 0, clusters = rt_cluster_count(); cluster < clusters; ++cluster) {
        record_of(local, cluster)->message_id = message_id;
    }
}

/* Words with the bits of a message whose segments have `unit` bytes. */
static inline uint32_t words_of(const local_t *local, uint32_t unit) {
    uint32_t segments = unit == 0 ? SLMP_MAX_SEGMENTS : local->place->capacity / unit;
    return MIN((segments + 31) / 32, SLMP_BITMAP_WORDS);
}

/*
 * Prepares place and records for a message whose segments have `unit` bytes, or 0 if that is unknown. The place is not open, so no
 * other HPU uses them. A copy of a line is quicker than stores to L2.
 */
static inline void prepare_message(const local_t *local, uint32_t unit) {
    for (uint32_t cluster = 0, clusters = rt_cluster_count(); cluster < clusters; ++cluster) {
        record_of(local, cluster)->generation = local->generation;
    }
    uint32_t words = words_of(local, unit), zeros[16] = {0};
    spin_dma_t cleared = 0;
    for (uint32_t word = 0; word < words; word += 16) {
        spin_dma(zeros, (void *)(uintptr_t)&local->place->claimed[word], sizeof(zeros), SPIN_DMA_LOC2EXT, 0, &cleared);
        spin_dma_wait(cleared);
    }
}

/* Waits until the message is open or is not sought any more, but not for ever, since the task of who seeks it may end. */
static inline void wait_for_open(record_t *own, uint32_t message_id) {
    for (uint32_t look = 0; look < LOOKS && own->sought == message_id && own->message_id != message_id; ++look) {
    }
}

/* Begins to look for a message, or waits for another HPU of the cluster that does. */
static inline void begin_search(record_t *own, uint32_t message_id) {
    if (amo_swap(&own->sought, message_id) == message_id) {
        wait_for_open(own, message_id);
    }
}

/* Ends the search. */
static inline void end_search(record_t *own, uint32_t message_id) { own->sought = ~message_id; }

/* Sets the bit of a segment. Returns whether it was clear. */
static inline bool claim_bit(volatile struct slmp_place *place, uint32_t index) {
    /* amo_or, on an HPU that is known to have the instruction. */
    uint32_t before;
    asm volatile("amoor.w %0, %1, (%2)"
                 : "=r"(before)
                 : "r"(1u << index % 32), "r"(&place->claimed[index / 32])
                 : "memory");
    return likely((before >> index % 32 & 1) == 0);
}

/* Claims a segment. */
static inline claim_t claim_segment(const local_t *local, uint32_t message_id, uint32_t index, uint32_t room, uint32_t unit) {
    (void)room, (void)unit;
    local->own->message_id = message_id;
    return claim_bit(local->place, index) ? WON : LOST;
}

/* Returns whether an HPU has a segment at `index` or after it. */
static __attribute__((noinline, cold)) bool has_segments_from(const local_t *local, uint32_t index) {
    uint32_t unit = local->place->segment_bytes, words = unit == 0 ? 0 : words_of(local, unit);
    uint32_t mask = ~0u << index % 32;
    for (uint32_t word = index / 32; word < words; ++word, mask = ~0u) {
        if ((local->place->claimed[word] & mask) != 0) {
            return true;
        }
    }
    return false;
}

#endif
