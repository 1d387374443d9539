/*
 * Each cluster's data about a message in its L1: a copy of the host's request, and a bit for each segment that its own
 * HPUs have placed. So a segment touches no word of L2.
 *
 * HPUs do not claim segments: if two HPUs get the same one, both write the same bytes to the same place. So a message
 * is complete when each bit is set in one cluster or the other, and *no HPU is still writing*. For that, each HPU shows
 * in `active` its current message:
 *
 *  1. An HPU writes the message's id to its own word of `active`, and then checks whether the message is closed. If it
 *     is, the HPU writes nothing to the host.
 *  2. When its copies are done it sets the segment's bit, counts it if it was not set, and clears `active`.
 *  3. The HPU that has placed the last segment of the message (by its index) notes that in the records of all clusters.
 *     From then on each HPU that has counted checks whether all segments are there: first the counts, then the bits.
 *  4. Of the HPUs that find all segments, one claims the message. It closes it in the records of all clusters, waits
 *     until no HPU is active for it, and then informs the host.
 *
 * An HPU's accesses are answered one after the other. So an HPU that found the message open had set `active` before the
 * message was closed, and the closing HPU waits for it. And of the HPU that notes the last segment, and another one
 * that counts, at least one sees the other's write. Ids are never used twice while the host is there (28 bits that
 * count from a random number). So words that hold an id are never cleared, and mean nothing for other messages. An id
 * that an earlier host left in L1 is treated as one of this host's with a probability of some 2^-28 for each message.
 */
#ifndef RECORD_H
#define RECORD_H

#include <handler.h>
#include <mpi_types.h>

/* Messages of a slot whose late segments are still acknowledged, in addition to the one in the record. */
#define PAST_MESSAGES 5

/* A message that is complete, and whose it was. */
typedef struct {
    volatile uint32_t id;
    volatile uint32_t source;
    volatile uint32_t port;
} past_t;

typedef struct {
    struct mpi_types_request request;
    volatile uint32_t id;     /* the message that all of this is of, 0 while it is being prepared */
    volatile uint32_t lock;   /* the last message for which an HPU has begun to prepare it */
    volatile uint32_t count;  /* segments with a bit */
    volatile uint32_t ended;  /* the message whose last segment an HPU has placed */
    volatile uint32_t closed; /* the message that is complete */
    volatile uint32_t wants[2]; /* a byte of each HPU: whether it wants to change the record, or just does */
    volatile uint32_t asked;    /* whether its end asks to be acknowledged */
    volatile uint32_t active[8]; /* for each HPU, the message that it may write to the host for */
    volatile uint32_t claimed;   /* the message that an HPU of the cluster wants to complete */
    volatile uint32_t completed; /* in the first cluster: the message that an HPU completes */
    volatile uint32_t claims[2]; /* there: a byte of each cluster: whether it wants to change that word, or just does */
    past_t past[PAST_MESSAGES];
    volatile uint32_t turn; /* which of them is the oldest */
    volatile uint32_t bits[MPI_TYPES_BITMAP_WORDS];
} record_t;
static_assert(sizeof(record_t) == MPI_TYPES_LOCAL_BYTES, "the host asks for so much");
static_assert(NB_CORES <= 8, "an HPU has a byte and a word in the record");

/* Polls of another HPU before this one gives up: some 10000 clocks. The message is never completed then. */
#define LOOKS 2048

static inline uint32_t divide(uint32_t number, uint32_t reciprocal, uint32_t shift) {
    return (uint32_t)((uint64_t)(number << 6) * reciprocal >> 32) >> shift;
}

/* The record of a slot in a cluster, or NULL if the cluster has no memory for it. */
static inline record_t *record_of(const task_t *task, uint32_t cluster, uint32_t slot) {
    uint32_t offset = slot * sizeof(record_t);
    if (task->scratchpad_size[cluster] < offset + sizeof(record_t)) {
        return NULL;
    }
    return (record_t *)((uintptr_t)task->scratchpad[cluster] + offset);
}

static inline uint32_t count_clusters(void) { return MIN(rt_cluster_count(), SPIN_TASK_CLUSTERS); }

/*
 * Waits until no other HPU of the cluster wants to change the record. Of two that see each other, the one with the
 * higher number takes its flag down and waits. A flag that stays up is that of a task that was ended.
 */
static __attribute__((noinline, cold)) void wait_for_flags(volatile uint32_t *wants, uint32_t hpu) {
    volatile uint8_t *flag = (volatile uint8_t *)wants;
    for (uint32_t other = 0; other < NB_CORES; ++other) {
        if (other == hpu) {
            continue;
        }
        for (uint32_t look = 0; flag[other] != 0; ++look) {
            if (other < hpu) {
                flag[hpu] = 0;
            }
            if (look == LOOKS) {
                flag[other] = 0;
            }
        }
        if (flag[hpu] == 0) {
            /* From the beginning: others may have come. */
            flag[hpu] = 1;
            other = ~0u;
        }
    }
}

/* How often an HPU tries again before it waits in line: a change of the record takes some ten clocks. */
#define TRIES 32

/* Raises the flag: whether it is the only one. If it is not, the sum is another one. */
static inline bool is_alone(volatile uint32_t *wants, uint32_t hpu) {
    ((volatile uint8_t *)wants)[hpu] = 1;
    return wants[0] + wants[1] == 1u << hpu * 8 % 32;
}

/* Takes the flag down and tries again a little later, each HPU after a different time. */
static __attribute__((noinline, cold)) void try_again(volatile uint32_t *wants, uint32_t hpu) {
    for (uint32_t tries = 0; tries < TRIES; ++tries) {
        ((volatile uint8_t *)wants)[hpu] = 0;
        for (uint32_t wait = 0; wait <= hpu; ++wait) {
            asm volatile("nop");
        }
        while ((wants[0] | wants[1]) != 0 && ++tries < TRIES) {
        }
        if (is_alone(wants, hpu)) {
            return;
        }
    }
    wait_for_flags(wants, hpu);
}

/* Takes the lock of these flags: excludes all others with a flag among them until the flag is taken down. */
static inline void lock_flags(volatile uint32_t *wants, uint32_t own) {
    if (!is_alone(wants, own)) {
        try_again(wants, own);
    }
}

static inline void unlock_flags(volatile uint32_t *wants, uint32_t own) { ((volatile uint8_t *)wants)[own] = 0; }

/* Makes this HPU the only one of its cluster that changes the record, until it gives it back. */
static inline void lock_record(record_t *record, uint32_t hpu) { lock_flags(record->wants, hpu); }

static inline void unlock_record(record_t *record, uint32_t hpu) { unlock_flags(record->wants, hpu); }

/*
 * Writes an id to a word: whether this HPU is the first one that does. HPUs of spinneret's own need no flags for it, and so
 * none that are up before anything was written to L1.
 */
static inline bool is_first(volatile uint32_t *word, uint32_t id, volatile uint32_t *wants, uint32_t own) {
    if (!likely(!spin_is_own_hpu())) {
        return amo_swap(word, id) != id;
    }
    lock_flags(wants, own);
    bool is_first = *word != id;
    *word = id;
    unlock_flags(wants, own);
    return is_first;
}

/* The same as set_bit, on spinneret's own HPUs. It is apart, because the PULP cluster's cache has no room for code of others. */
static __attribute__((noinline, cold)) void set_bit_at_once(record_t *record, uint32_t word, uint32_t bit) {
    if ((amo_or(&record->bits[word], bit) & bit) == 0) {
        amo_add((volatile int32_t *)&record->count, 1);
    }
}

/* Sets a segment's bit, and counts it if it is the first time. */
static inline void set_bit(record_t *record, uint32_t hpu, uint32_t index) {
    uint32_t word = index / 32, bit = 1u << index % 32;
    if (!likely(!spin_is_own_hpu())) {
        set_bit_at_once(record, word, bit);
        return;
    }
    lock_record(record, hpu);
    uint32_t before = record->bits[word];
    if ((before & bit) == 0) {
        record->bits[word] = before | bit;
        record->count = record->count + 1;
    }
    unlock_record(record, hpu);
}

/* Returns whether all segments have a bit in some cluster. Other HPUs are idle then, so this is fast, not small. */
static __attribute__((noinline)) bool is_whole(const task_t *task, uint32_t slot, uint32_t id, uint32_t last) {
    const volatile uint32_t *bits[SPIN_TASK_CLUSTERS];
    uint32_t count = 0, clusters = count_clusters(), there = 0;
    for (uint32_t cluster = 0; cluster < clusters; ++cluster) {
        const record_t *record = record_of(task, cluster, slot);
        if (record != NULL && record->id == id) {
            bits[there++] = record->bits;
            count += record->count;
        }
    }
    if (count <= last) {
        return false;
    }
    /* Bits behind the last one are not needed. */
    uint32_t behind = ~0u << last % 32 << 1;
    const volatile uint32_t *one = bits[0], *other = bits[there - 1];
    for (uint32_t word = 0; word <= last / 32; ++word) {
        uint32_t found = one[word] | other[word] | (word == last / 32 ? behind : 0);
        for (uint32_t number = 1; !likely(found == ~0u); ++number) {
            if (number >= there) {
                return false;
            }
            found |= bits[number][word];
        }
    }
    return true;
}

/*
 * Returns whether this HPU completes a message: the first of its cluster, and then the first of the clusters. Uses
 * flags in L1, because an atomic operation on L2 goes through the runtime's guard: some 1000 clocks if two HPUs want it
 * and its code is not in the cache, while the other HPUs are idle.
 */
static inline bool claim(const task_t *task, uint32_t slot, uint32_t id) {
    uint32_t cluster = rt_cluster_id(), hpu = rt_core_id();
    record_t *own = record_of(task, cluster, slot), *first = record_of(task, 0, slot);
    return is_first(&own->claimed, id, own->wants, hpu) && first != NULL &&
           is_first(&first->completed, id, first->claims, cluster);
}

/* Keeps that a message is complete. L1 may hold anything at first. */
static inline void remember(record_t *record, uint32_t id, uint32_t source, uint32_t port) {
    uint32_t turn = record->turn < PAST_MESSAGES ? record->turn : 0;
    past_t *past = &record->past[turn];
    past->id = 0;
    past->source = source;
    past->port = port;
    past->id = id;
    record->turn = turn + 1;
}

/* The message with that id among those that are kept, or NULL. */
static inline const past_t *find_past(const record_t *record, uint32_t id) {
    for (uint32_t number = 0; number < PAST_MESSAGES; ++number) {
        if (record->past[number].id == id) {
            return &record->past[number];
        }
    }
    return NULL;
}

/* Closes the message, so that no HPU starts writing to the host for it. Returns whether all writers have ended. */
static inline bool close_all(const task_t *task, uint32_t slot, uint32_t id) {
    const record_t *own = record_of(task, rt_cluster_id(), slot);
    uint32_t clusters = count_clusters(), source = own->request.source, port = own->request.port;
    for (uint32_t cluster = 0; cluster < clusters; ++cluster) {
        record_t *record = record_of(task, cluster, slot);
        if (record != NULL) {
            record->closed = id;
            remember(record, id, source, port);
        }
    }
    for (uint32_t cluster = 0; cluster < clusters; ++cluster) {
        record_t *record = record_of(task, cluster, slot);
        for (uint32_t hpu = 0; record != NULL && hpu < NB_CORES; ++hpu) {
            for (uint32_t look = 0; record->active[hpu] == id; ++look) {
                if (look == LOOKS) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* Says in all clusters that the last segment was placed. */
static inline void tell_end(const task_t *task, uint32_t slot, uint32_t id, bool asks) {
    for (uint32_t cluster = 0, clusters = count_clusters(); cluster < clusters; ++cluster) {
        record_t *record = record_of(task, cluster, slot);
        if (record != NULL) {
            record->asked = asks;
            record->ended = id;
        }
    }
}

/* The result of a search for a message. */
typedef enum {
    READY,   /* the record is its */
    NOBODY,  /* the host does not await it */
    WAITING, /* another HPU prepares the record, and makes no progress */
} awaited_t;

/* Prepares this cluster's record for the message, if the host awaits it, or waits until another HPU has done that. */
static __attribute__((noinline, cold)) awaited_t prepare(record_t *record, struct mpi_types_request *shared,
                                                         uint32_t id, uint32_t hpu) {
    volatile struct mpi_types_request *request = shared;
    if (id == 0 || request->id != id) {
        return NOBODY;
    }
    if (!is_first(&record->lock, id, record->wants, hpu)) {
        for (uint32_t look = 0; look < LOOKS; ++look) {
            if (record->id == id) {
                return READY;
            }
        }
        return WAITING;
    }
    record->id = 0;
    spin_dma_t copy;
    spin_dma(shared, &record->request, sizeof(*shared), SPIN_DMA_EXT2LOC, 0, &copy);
    record->count = 0;
    spin_dma_wait(copy);
    asm_mem_fence();
    /* If the host has changed the request meanwhile, the copy may be half old and half new. */
    if (record->request.id != id || request->id != id || record->request.last >= MPI_TYPES_MAX_SEGMENTS) {
        record->lock = 0;
        return NOBODY;
    }
    for (uint32_t word = 0, words = record->request.last / 32; word <= words; ++word) {
        record->bits[word] = 0;
    }
    record->id = id;
    return READY;
}

#endif
