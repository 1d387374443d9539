/*
 * A message's data in L1, on HPUs of the PULP cluster: each cluster has a record, with a bit for each segment.
 *
 * HPUs of one cluster lock their record for the few clocks of a change. The lock needs no atomic operation: those with a
 * result take long. Each cluster claims segments in its own record, and reads the records of the others. To claim a
 * segment, an HPU takes these steps:
 *
 *  1. It writes the segment's number to its own word of `deciding`, and sets the segment's bit in its cluster's record.
 *     If the bit was set, another HPU of the cluster was first: this HPU has a duplicate once that one has decided.
 *  2. It reads the bit in the records of all other clusters. If the bit is set in one with a lower number, the HPU
 *     withdraws: it clears its own bit again, and has a duplicate. If the bit is set in one with a higher number, the
 *     HPU waits until that cluster has decided: either it has withdrawn, or it has the segment and this HPU withdraws.
 *  3. Otherwise it has the segment. In all cases it clears `deciding` at the end.
 *
 * Exactly one HPU gets a segment. Two of one cluster cannot: the one that has it never clears the bit, and the other
 * one finds the bit set. Two of two clusters cannot: an HPU's accesses are answered one after the other, and both wrote
 * before they read, so at least one saw the other's bit. If the one in the higher cluster did, it withdrew. If only the
 * lower one did, the higher one had set its bit before and keeps it, so the lower one waits until the higher one has
 * decided, and withdraws. And at least one gets it: clusters wait for higher ones only, so one that waits can always go
 * on. Of several at the same time, the lowest one withdraws only for a cluster that has the segment, not for a claim.
 *
 * A bit that is set is decided if no HPU of its cluster is deciding about it. Checking that takes several reads.
 * Meanwhile one HPU may withdraw and another one come, which has to withdraw as well. So each HPU that withdraws adds 1
 * to `withdrawn` before it clears `deciding`, and the reads are valid only if `withdrawn` has not changed.
 *
 * The content of L1 before the host opens its receiver is unknown, and the host cannot clear it. So a record holds the
 * `generation` of its place that it is for: a number that begins at random, and grows with each message. The first HPU
 * of a cluster prepares the record for a generation. It clears the bits, then informs all other clusters that the
 * record can be read (`ready`), and then lets other HPUs of its cluster in. An HPU that finds a cluster not ready has
 * set its own bit before, and an HPU of that cluster reads this bit after it has set `ready`. So the argument is true
 * for these two as well.
 *
 * Other clusters write `ready` and `ended`, possibly before the record belongs to the message, and never clear them:
 * values of an earlier generation mean nothing.
 */
#ifndef LOCAL_H
#define LOCAL_H

#include "segment.h"

/* Maximum number of clusters: more than those whose scratchpads a task names. */
#define CLUSTERS 8

/* A message's record in one cluster. */
typedef volatile struct {
    uint32_t generation; /* the message that the bits are for */
    uint32_t lock;       /* the last generation for which an HPU has begun to clear them */
    uint32_t start;      /* since when `used` and `clean` can be believed: the place's `start` */
    uint32_t used;       /* words that may hold bits */
    uint32_t clean;      /* words that hold nothing else than bits and 0 */
    uint32_t ended;      /* generation of the message whose end is known */
    uint32_t message_id; /* of the last message that the cluster has worked on; only a hint */
    uint32_t withdrawn;  /* claims that were taken away again */
    uint32_t wants[2];   /* a byte of each HPU: whether it wants to change words of the record, or just does */
    uint32_t reserved[6];
    uint32_t ready[CLUSTERS]; /* for each cluster, the generation that its record is for */
    uint32_t deciding[8];     /* for each HPU, 1 + the index of the segment that it has not decided about, or 0 */
    uint32_t claimed[SLMP_BITMAP_WORDS];
} record_t;
static_assert(sizeof(record_t) == SLMP_LOCAL_BYTES, "the host asks for so much");
static_assert(NB_CORES <= 8, "an HPU has a byte and a word in the record");

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
 * Polls of another HPU before this one gives up: 10000 clocks and more, enough for the few steps that it waits for.
 * Only an HPU whose task was ended in the middle of these steps takes longer. Its message is not completed: the segment
 * that it has claimed does not arrive, whatever a sender that repeats it gets as an answer.
 */
#define LOOKS 1024

/* The cluster's record, which has to be there. */
static inline record_t *record_of(const local_t *local, uint32_t cluster) {
    const task_t *task = local->task;
    void *scratchpad = likely(cluster < SPIN_TASK_CLUSTERS) ? task->scratchpad[cluster] : spin_scratchpad(task, cluster);
    return (record_t *)((uintptr_t)scratchpad + local->offset);
}

/* The records of a place, whose message is not known yet. */
static inline local_t records_of_place(const task_t *task, volatile struct slmp_memory *memory, uint32_t place) {
    (void)memory;
    local_t local = {.task = task, .cluster = rt_cluster_id(), .offset = place * sizeof(record_t)};
    local.own = record_of(&local, local.cluster);
    return local;
}

/* Sets which message the records are for. */
static inline void set_message(local_t *local, uint32_t generation, uint32_t start) {
    local->generation = generation;
    local->start = start;
}

/* HPUs that look for the same message do not wait for each other. */
static inline void begin_search(record_t *own, uint32_t message_id) { (void)own, (void)message_id; }
static inline void wait_for_open(record_t *own, uint32_t message_id) { (void)own, (void)message_id; }
static inline void end_search(record_t *own, uint32_t message_id) { (void)own, (void)message_id; }

/* Returns whether this cluster has memory for `count` records. */
static inline bool has_records(const task_t *task, uint32_t count) {
    return likely(rt_cluster_count() <= CLUSTERS) &&
           likely(spin_scratchpad_size(task, rt_cluster_id()) >= count * sizeof(record_t));
}

/* The flag of an HPU. */
static inline volatile uint8_t *flag_of(record_t *record, uint32_t hpu) {
    return (volatile uint8_t *)record->wants + hpu;
}

/* Waits while flags are up under these masks. A flag that is up in all `looks` polls is that of an ended task. */
static inline void wait_for_flags(record_t *record, uint32_t low_mask, uint32_t high_mask, uint32_t looks) {
    for (;;) {
        uint32_t low_stuck = low_mask, high_stuck = high_mask;
        for (uint32_t look = 0; look < looks; ++look) {
            uint32_t low = record->wants[0] & low_mask, high = record->wants[1] & high_mask;
            if ((low | high) == 0) {
                return;
            }
            low_stuck &= low;
            high_stuck &= high;
        }
        for (uint32_t hpu = 0; hpu < NB_CORES; ++hpu) {
            if (((hpu < 4 ? low_stuck : high_stuck) >> hpu * 8 % 32 & 1) != 0) {
                *flag_of(record, hpu) = 0;
            }
        }
    }
}

/*
 * Waits for other HPUs that want the record: with its own flag down for HPUs with lower numbers, and with the flag up
 * for those with higher ones. So of two that see each other one waits. An HPU that waits with its flag up finishes
 * before those that wait for it treat its task as ended.
 */
static inline void wait_for_record(record_t *record, uint32_t hpu, uint32_t own) {
    uint32_t low_before = hpu < 4 ? own - 1 : ~0u, high_before = hpu < 4 ? 0 : own - 1, behind = ~(2 * own - 1);
    while (((record->wants[0] & low_before) | (record->wants[1] & high_before)) != 0) {
        *flag_of(record, hpu) = 0;
        wait_for_flags(record, low_before, high_before, 4 * LOOKS);
        *flag_of(record, hpu) = 1;
    }
    wait_for_flags(record, hpu < 4 ? behind : 0, hpu < 4 ? ~0u : behind, LOOKS);
}

/* Makes this HPU the only one of its cluster that changes bits of the record, until it gives it back. */
static inline uint32_t lock_record(record_t *record) {
    uint32_t hpu = rt_core_id(), own = 1u << hpu * 8 % 32;
    *flag_of(record, hpu) = 1;
    /* It is the only flag, or the sum is another one. */
    if (!likely(record->wants[0] + record->wants[1] == own)) {
        wait_for_record(record, hpu, own);
    }
    return hpu;
}

static inline void unlock_record(record_t *record, uint32_t hpu) { *flag_of(record, hpu) = 0; }

/* Sets a segment's bit, and returns its word as it was before. */
static inline uint32_t set_bit(record_t *record, uint32_t word, uint32_t bit) {
    uint32_t hpu = lock_record(record);
    uint32_t before = record->claimed[word];
    record->claimed[word] = before | bit;
    unlock_record(record, hpu);
    return before;
}

/* Takes it away again. */
static inline void withdraw(record_t *record, uint32_t word, uint32_t bit) {
    uint32_t hpu = lock_record(record);
    record->claimed[word] = record->claimed[word] & ~bit;
    record->withdrawn = record->withdrawn + 1;
    unlock_record(record, hpu);
}

/* Records that there may be bits in the first `words` words. */
static inline void note_used(record_t *record, uint32_t words) {
    uint32_t hpu = lock_record(record);
    record->used = MAX(record->used, words);
    unlock_record(record, hpu);
}

/* Clusters that may have records; a task's values for the scratchpads of others mean nothing. */
static inline uint32_t count_clusters(void) { return MIN(rt_cluster_count(), CLUSTERS); }

/* Tells all clusters that the message's end is known. */
static inline void tell_end(const local_t *local) {
    for (uint32_t cluster = 0, clusters = count_clusters(); cluster < clusters; ++cluster) {
        if (spin_scratchpad_size(local->task, cluster) >= local->offset + sizeof(record_t)) {
            record_of(local, cluster)->ended = local->generation;
        }
    }
}

/* Tells all other clusters that the own record is this message's. */
static inline void tell_ready(const local_t *local) {
    for (uint32_t cluster = 0, clusters = count_clusters(); cluster < clusters; ++cluster) {
        if (cluster != local->cluster &&
            spin_scratchpad_size(local->task, cluster) >= local->offset + sizeof(record_t)) {
            record_of(local, cluster)->ready[local->cluster] = local->generation;
        }
    }
}

static inline void clear_words(record_t *record, uint32_t from, uint32_t to) {
    for (uint32_t word = from; word < to; ++word) {
        record->claimed[word] = 0;
    }
}

/* A place is opened: nothing to do, because each cluster prepares its own record. */
static inline void prepare_message(const local_t *local, uint32_t unit) { (void)local, (void)unit; }
static inline void tell_open(const local_t *local, uint32_t message_id) { (void)local, (void)message_id; }

/*
 * Prepares this cluster's record for the message, of at most `segments` segments, or waits until another HPU has done
 * that. Returns whether the record is ready. No other HPU changes the record meanwhile, because all that worked on the
 * place's earlier message have left.
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
    record->wants[0] = 0;
    record->wants[1] = 0;
    for (uint32_t hpu = 0; hpu < NB_CORES; ++hpu) {
        record->deciding[hpu] = 0;
    }
    record->used = 0;
    record->clean = MAX(clean, words);
    record->start = local->start;
    record->message_id = message_id;
    tell_ready(local);
    record->generation = local->generation;
    return true;
}

/* Returns whether an HPU of the record's cluster is deciding about a segment. */
static inline bool is_deciding(record_t *record, uint32_t index) {
    for (uint32_t hpu = 0; hpu < NB_CORES; ++hpu) {
        if (record->deciding[hpu] == index + 1) {
            return true;
        }
    }
    return false;
}

/* Waits until a record's cluster has decided about a segment: LOST if it has it, WON if it does not want it. */
static claim_t wait_for(record_t *record, uint32_t index) {
    for (uint32_t look = 0; look < LOOKS; ++look) {
        uint32_t withdrawn = record->withdrawn;
        if ((record->claimed[index / 32] & 1u << index % 32) == 0) {
            return WON;
        }
        if (!is_deciding(record, index) && record->withdrawn == withdrawn) {
            return LOST;
        }
    }
    return UNKNOWN;
}

/* Waits for an HPU of the same cluster that wants the segment, too. If that one withdraws, it is another cluster's. */
static __attribute__((noinline, cold)) claim_t wait_for_own(record_t *own, uint32_t index) {
    own->deciding[rt_core_id()] = 0;
    return wait_for(own, index) == UNKNOWN ? UNKNOWN : LOST;
}

/* Decides a claim that an HPU of another cluster has made as well. */
static __attribute__((noinline, cold)) claim_t contend(const local_t *local, uint32_t index) {
    record_t *own = local->own;
    uint32_t word = index / 32, bit = 1u << index % 32;
    claim_t claim = WON;
    for (uint32_t cluster = 0; cluster < CLUSTERS && claim == WON; ++cluster) {
        if (own->ready[cluster] != local->generation) {
            continue;
        }
        record_t *other = record_of(local, cluster);
        if ((other->claimed[word] & bit) != 0) {
            claim = cluster < local->cluster ? LOST : wait_for(other, index);
        }
    }
    if (claim != WON) {
        withdraw(own, word, bit);
    }
    own->deciding[rt_core_id()] = 0;
    return claim;
}

/* Bits of a word of the records in clusters that a task does not name, if they are this message's. */
static __attribute__((noinline, cold)) uint32_t claimed_beyond(const local_t *local, uint32_t word) {
    uint32_t claimed = 0;
    for (uint32_t cluster = SPIN_TASK_CLUSTERS; cluster < CLUSTERS; ++cluster) {
        if (local->own->ready[cluster] == local->generation) {
            claimed |= record_of(local, cluster)->claimed[word];
        }
    }
    return claimed;
}

/* Claims a segment of a message of at most `room` bytes for the own cluster. */
static inline claim_t claim_segment(const local_t *local, uint32_t message_id, uint32_t index, uint32_t room, uint32_t unit) {
    record_t *own = local->own;
    if (!likely(own->generation == local->generation)) {
        local_t copy = *local;
        if (!prepare_record(&copy, message_id, room / unit)) {
            return UNKNOWN;
        }
    }
    uint32_t word = index / 32, bit = 1u << index % 32, hpu = rt_core_id();
    own->deciding[hpu] = index + 1;
    uint32_t before = set_bit(own, word, bit);
    if (!likely((before & bit) == 0)) {
        return wait_for_own(own, index);
    }
    if (!likely(before != 0)) {
        note_used(own, word + 1);
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
            others |= record_of(local, cluster)->claimed[word];
        }
    }
    if (!likely(rt_cluster_count() <= SPIN_TASK_CLUSTERS)) {
        local_t copy = *local;
        others |= claimed_beyond(&copy, word);
    }
    if (!likely((others & bit) == 0)) {
        local_t copy = *local;
        return contend(&copy, index);
    }
    own->deciding[hpu] = 0;
    return WON;
}

/* Whether there is a bit for a segment at `index` or behind it in a record. */
static inline bool has_bits_from(record_t *record, uint32_t index) {
    uint32_t words = record->used;
    uint32_t mask = ~0u << index % 32;
    for (uint32_t word = index / 32; word < words; ++word, mask = ~0u) {
        if ((record->claimed[word] & mask) != 0) {
            return true;
        }
    }
    return false;
}

/* Returns whether an HPU has, or wants, a segment at `index` or after it. */
static __attribute__((noinline, cold)) bool has_segments_from(const local_t *local, uint32_t index) {
    record_t *own = local->own;
    if (own->generation == local->generation && has_bits_from(own, index)) {
        return true;
    }
    for (uint32_t cluster = 0; cluster < CLUSTERS; ++cluster) {
        if (own->ready[cluster] == local->generation && has_bits_from(record_of(local, cluster), index)) {
            return true;
        }
    }
    return false;
}

#endif
