/*
 * What each cluster keeps of a message for itself: a record in its L1, with a bit for each segment.
 *
 * Atomic operations with a result are quick and right in an HPU's own L1 alone, so each cluster claims segments in its
 * own record, and looks into those of the others. A segment has two bits there: `claimed` says that somebody of the
 * cluster wants it, `taken` that he has it. Who wants a segment
 *
 *  1. sets `claimed` in his own record. If it was set, somebody of his cluster was first.
 *  2. looks at `claimed` in the records of all other clusters. If it is set in one with a lower number, he takes his
 *     own away again, and has a duplicate. If it is set in one with a higher number he waits until it is clear again,
 *     or `taken` is set as well: then, too, he has a duplicate.
 *  3. has the segment, and sets `taken`.
 *
 * Exactly one gets it. Not two of one cluster, since who has it never clears its bit, and the other finds it set. Not
 * two of two clusters: an HPU's accesses are answered one after the other, and both have written before they looked,
 * so at least one saw the other's bit. If the higher one did, it went away. If only the lower one did, the higher one
 * had set its bit before and keeps it, so the lower one waits until `taken` is set, and goes away. And not nobody:
 * clusters wait for higher ones only, so one of those who wait can always go on, and of those who are there at the
 * same time the lowest one does not go away for another's claim, only for another's segment.
 *
 * What lies in L1 before the host opens its receiver is unknown, and the host cannot clear it. So a record says for
 * which `generation` of its place it is: a number that begins at random, and grows with each message. Whoever comes
 * first makes the record that generation's. He clears the bits, then tells all other clusters that there is something
 * to look at (`ready`), and then lets others of his cluster in. Who finds that a cluster is not ready has set his own
 * bit before, and somebody of that cluster looks for it after he has said that he is ready. So the argument holds for
 * them as well.
 *
 * `ready` and `ended` are written by others, possibly before the record belongs to the message, and are never cleared:
 * what they say of an earlier generation says nothing.
 */
#ifndef LOCAL_H
#define LOCAL_H

#include "segment.h"

/* The two bits of 32 segments each. */
typedef volatile struct {
    uint32_t claimed;
    uint32_t taken;
} bits_t;

/* A message's record in one cluster. */
typedef volatile struct {
    uint32_t generation; /* the message that the bits are for */
    uint32_t lock;       /* the last generation for which somebody has begun to clear them */
    uint32_t start;      /* since when `used` and `clean` can be believed: the place's `start` */
    uint32_t used;       /* pairs of words that may hold bits */
    uint32_t clean;      /* pairs of words that hold nothing else than bits and 0 */
    uint32_t ended;      /* generation of the message whose end is known */
    uint32_t message_id; /* of the last message that the cluster has worked on; only a hint */
    uint32_t reserved[5];
    uint32_t ready[SPIN_TASK_CLUSTERS]; /* for each cluster, the generation that its record is for */
    bits_t bits[SLMP_BITMAP_WORDS];
} record_t;
static_assert(sizeof(record_t) == SLMP_LOCAL_BYTES, "the host asks for so much");

/* A message's records, as an HPU sees them. */
typedef struct {
    const task_t *task;
    record_t *own;    /* this cluster's */
    uint32_t cluster; /* its number */
    uint32_t offset;  /* of the record in each cluster's scratchpad */
    uint32_t generation;
    uint32_t start;
} local_t;

/*
 * How often somebody else is looked at before he is given up: some 50000 clocks, in which everybody does the few
 * things that are waited for. Only who was ended in the middle of them takes longer.
 */
#define LOOKS 1024

/* The cluster's record, which has to be there. */
static inline record_t *record_of(const local_t *local, uint32_t cluster) {
    return (record_t *)((uintptr_t)local->task->scratchpad[cluster] + local->offset);
}

/* The records of a place, whose message is not known yet. */
static inline local_t records_of_place(const task_t *task, uint32_t cluster, uint32_t place) {
    local_t local = {.task = task, .cluster = cluster, .offset = place * sizeof(record_t)};
    local.own = record_of(&local, cluster);
    return local;
}

/* Whether a cluster has memory for so many records. */
static inline bool has_records(const task_t *task, uint32_t cluster, uint32_t count) {
    return likely(cluster < SPIN_TASK_CLUSTERS) && likely(task->scratchpad_size[cluster] >= count * sizeof(record_t));
}

/* Atomic operations in the own L1, of which it is known that they are not in L2. */
static inline uint32_t set_bits(volatile uint32_t *word, uint32_t bits) {
    uint32_t before;
    asm volatile("amoor.w %0, %1, (%2)" : "=r"(before) : "r"(bits), "r"(word) : "memory");
    return before;
}

static inline void clear_bits(volatile uint32_t *word, uint32_t bits) {
    asm volatile("amoand.w zero, %0, (%1)" : : "r"(~bits), "r"(word) : "memory");
}

static inline void raise(volatile uint32_t *word, uint32_t value) {
    asm volatile("amomaxu.w zero, %0, (%1)" : : "r"(value), "r"(word) : "memory");
}

/* Clusters that may have records; what a task says of the scratchpads of others means nothing. */
static inline uint32_t count_clusters(void) { return MIN(rt_cluster_count(), SPIN_TASK_CLUSTERS); }

/* Tells all clusters that the message's end is known. */
static inline void tell_end(const local_t *local) {
    for (uint32_t cluster = 0, clusters = count_clusters(); cluster < clusters; ++cluster) {
        if (local->task->scratchpad_size[cluster] >= local->offset + sizeof(record_t)) {
            record_of(local, cluster)->ended = local->generation;
        }
    }
}

/* Tells all other clusters that the own record is this message's. */
static inline void tell_ready(const local_t *local) {
    for (uint32_t cluster = 0, clusters = count_clusters(); cluster < clusters; ++cluster) {
        if (cluster != local->cluster && local->task->scratchpad_size[cluster] >= local->offset + sizeof(record_t)) {
            record_of(local, cluster)->ready[local->cluster] = local->generation;
        }
    }
}

static inline void clear_words(record_t *record, uint32_t from, uint32_t to) {
    for (uint32_t word = from; word < to; ++word) {
        record->bits[word].claimed = 0;
        record->bits[word].taken = 0;
    }
}

/*
 * Makes the own record this message's, of at most so many segments, or waits until somebody else has done that:
 * whether it is. Nobody else changes the record meanwhile, since all who have worked on the place's earlier message
 * have left.
 */
static __attribute__((noinline, cold)) bool prepare_record(const local_t *local, uint32_t message_id,
                                                           uint32_t segments) {
    record_t *record = local->own;
    if (amo_swap(&record->lock, local->generation) == local->generation) {
        for (uint32_t look = 0; look < LOOKS; ++look) {
            if (record->generation == local->generation) {
                return true;
            }
            rt_time_wait_cycles(32);
        }
        return false;
    }
    bool is_known = record->start == local->start;
    uint32_t clean = is_known ? record->clean : 0, words = MIN((segments + 31) / 32, SLMP_BITMAP_WORDS);
    clear_words(record, 0, is_known ? record->used : 0);
    clear_words(record, clean, words);
    record->used = 0;
    record->clean = MAX(clean, words);
    record->start = local->start;
    record->message_id = message_id;
    tell_ready(local);
    record->generation = local->generation;
    return true;
}

/* Waits for somebody of the same cluster who wants the segment, too: whether it is known then that somebody has it. */
static __attribute__((noinline, cold)) bool is_settled(bits_t *bits, uint32_t bit) {
    for (uint32_t look = 0; look < LOOKS; ++look) {
        if ((bits->taken & bit) != 0 || (bits->claimed & bit) == 0) {
            return true;
        }
        rt_time_wait_cycles(32);
    }
    return false;
}

/* What came of a claim. */
typedef enum {
    WON,
    LOST,    /* somebody else has the segment */
    UNKNOWN, /* somebody else wants it, and has not got on for too long */
} claim_t;

/* Waits for somebody of a higher cluster who wants the segment, too. */
static claim_t wait_for(bits_t *bits, uint32_t bit) {
    for (uint32_t look = 0; look < LOOKS; ++look) {
        if ((bits->taken & bit) != 0) {
            return LOST;
        }
        if ((bits->claimed & bit) == 0) {
            return WON;
        }
    }
    return UNKNOWN;
}

/* Decides a claim that somebody of another cluster has made as well. */
static __attribute__((noinline, cold)) claim_t contend(const local_t *local, uint32_t word, uint32_t bit) {
    record_t *own = local->own;
    claim_t claim = WON;
    for (uint32_t cluster = 0; cluster < SPIN_TASK_CLUSTERS && claim == WON; ++cluster) {
        if (own->ready[cluster] != local->generation) {
            continue;
        }
        bits_t *bits = &record_of(local, cluster)->bits[word];
        if ((bits->claimed & bit) != 0) {
            claim = cluster < local->cluster ? LOST : wait_for(bits, bit);
        }
    }
    if (claim == WON) {
        set_bits(&own->bits[word].taken, bit);
    } else {
        clear_bits(&own->bits[word].claimed, bit);
    }
    return claim;
}

/* Claims a segment for the own cluster, whose record is this message's. */
static inline claim_t claim_segment(const local_t *local, uint32_t index) {
    record_t *own = local->own;
    uint32_t word = index / 32, bit = 1u << index % 32;
    bits_t *bits = &own->bits[word];
    uint32_t before = set_bits(&bits->claimed, bit);
    if (!likely((before & bit) == 0)) {
        return is_settled(bits, bit) ? LOST : UNKNOWN;
    }
    if (!likely(before != 0)) {
        raise(&own->used, word + 1);
    }
    /* All are read first, as an HPU would wait for each of them before it compares it. */
    uint32_t ready[SPIN_TASK_CLUSTERS], others = 0;
#pragma GCC unroll 4
    for (uint32_t cluster = 0; cluster < SPIN_TASK_CLUSTERS; ++cluster) {
        ready[cluster] = own->ready[cluster];
    }
#pragma GCC unroll 4
    for (uint32_t cluster = 0; cluster < SPIN_TASK_CLUSTERS; ++cluster) {
        if (!likely(ready[cluster] != local->generation)) {
            others |= record_of(local, cluster)->bits[word].claimed;
        }
    }
    if (!likely((others & bit) == 0)) {
        local_t copy = *local;
        return contend(&copy, word, bit);
    }
    set_bits(&bits->taken, bit);
    return WON;
}

/* Whether there is a bit for a segment at `index` or behind it in a record. */
static inline bool has_bits_from(record_t *record, uint32_t index) {
    uint32_t words = record->used;
    uint32_t mask = ~0u << index % 32;
    for (uint32_t word = index / 32; word < words; ++word, mask = ~0u) {
        if ((record->bits[word].claimed & mask) != 0) {
            return true;
        }
    }
    return false;
}

/* Whether somebody has, or wants, a segment at `index` or behind it. */
static __attribute__((noinline, cold)) bool has_segments_from(const local_t *local, uint32_t index) {
    record_t *own = local->own;
    if (own->generation == local->generation && has_bits_from(own, index)) {
        return true;
    }
    for (uint32_t cluster = 0; cluster < SPIN_TASK_CLUSTERS; ++cluster) {
        if (own->ready[cluster] == local->generation && has_bits_from(record_of(local, cluster), index)) {
            return true;
        }
    }
    return false;
}

#endif
