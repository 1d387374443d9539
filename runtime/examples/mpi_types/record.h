/*
 * What each cluster keeps of a message in its L1, so that a segment touches no word of L2: a copy of the host's request, and
 * a bit for each segment that its own HPUs have placed.
 *
 * Nobody claims segments: who finds one twice writes the same bytes to the same place. So a message is complete when all
 * bits are there, of one cluster or the other, and *nobody is writing any more*. For that each HPU shows in `active` what it
 * works on:
 *
 *  1. An HPU writes the message's id to its own word of `active`, and looks then whether the message is closed. If it is,
 *     the HPU writes nothing to the host.
 *  2. When its copies are done it sets the segment's bit, counts it if it was not set, and clears `active`.
 *  3. Who has placed the last segment of the message (by its index) says so in the records of all clusters. From then on
 *     everybody who has counted looks whether all segments are there: counts first, and then the bits.
 *  4. Of those who find that, one claims it. It closes the message in the records of all clusters, and waits until nobody is
 *     active for it. Then it tells the host.
 *
 * An HPU's accesses are answered one after the other. So an HPU that found the message open had shown itself before it was
 * closed, and is waited for; and of the one who says that the last segment is there, and another who counts, at least one
 * sees what the other has written. Ids are never used twice while the host is there (28 bits that count from a random
 * number), so that words which hold an id are never cleared, and mean nothing for other messages; what an earlier host has
 * left in L1 is taken for a message of this one with a probability of some 2^-28 for each message.
 */
#ifndef RECORD_H
#define RECORD_H

#include <handler.h>
#include <mpi_types.h>

/* Messages of a slot whose late segments are still acknowledged, beside the one in the record. */
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
    volatile uint32_t lock;   /* the last message that somebody has begun to prepare it for */
    volatile uint32_t count;  /* segments with a bit */
    volatile uint32_t ended;  /* the message whose last segment somebody has placed */
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

/* How often somebody else is looked at before he is given up: some 10000 clocks. His message is never completed then. */
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
 * Waits until no other HPU of the cluster wants to change the record. Of two that see each other the one with the higher number
 * takes its flag away and waits. A flag that stays up is that of somebody who was ended.
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

/* How often an HPU looks again by itself before it gets into line: a change of the record takes some ten clocks. */
#define TRIES 32

/* Raises the flag: whether it is the only one. If it is not, the sum is another one. */
static inline bool is_alone(volatile uint32_t *wants, uint32_t hpu) {
    ((volatile uint8_t *)wants)[hpu] = 1;
    return wants[0] + wants[1] == 1u << hpu * 8 % 32;
}

/* Takes the flag away and looks again a little later, each HPU after another time. */
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

/* Lets nobody else in who has a flag among these, until the flag is taken away. */
static inline void lock_flags(volatile uint32_t *wants, uint32_t own) {
    if (!is_alone(wants, own)) {
        try_again(wants, own);
    }
}

static inline void unlock_flags(volatile uint32_t *wants, uint32_t own) { ((volatile uint8_t *)wants)[own] = 0; }

/* Makes this HPU the only one of its cluster that changes the record, until it gives it back. */
static inline void lock_record(record_t *record, uint32_t hpu) { lock_flags(record->wants, hpu); }

static inline void unlock_record(record_t *record, uint32_t hpu) { unlock_flags(record->wants, hpu); }

/* Sets a segment's bit, and counts it if it is the first time. */
static inline void set_bit(record_t *record, uint32_t hpu, uint32_t index) {
    uint32_t word = index / 32, bit = 1u << index % 32;
    lock_record(record, hpu);
    uint32_t before = record->bits[word];
    if ((before & bit) == 0) {
        record->bits[word] = before | bit;
        record->count = record->count + 1;
    }
    unlock_record(record, hpu);
}

/* Whether all segments have a bit in some cluster. Nobody else has work then, so this is made to be fast, not small. */
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
 * Whether this HPU is the one that completes a message: the first of its cluster, and of those the first one. It takes flags in
 * L1, since an atomic operation on L2 goes through the runtime's guard, some 1000 clocks with two who want it and none of its
 * code in the cache, while nobody else has work.
 */
static inline bool claim(const task_t *task, uint32_t slot, uint32_t id) {
    uint32_t cluster = rt_cluster_id(), hpu = rt_core_id();
    record_t *own = record_of(task, cluster, slot), *first = record_of(task, 0, slot);
    lock_record(own, hpu);
    bool is_mine = own->claimed != id;
    own->claimed = id;
    unlock_record(own, hpu);
    if (!is_mine || first == NULL) {
        return false;
    }
    lock_flags(first->claims, cluster);
    is_mine = first->completed != id;
    first->completed = id;
    unlock_flags(first->claims, cluster);
    return is_mine;
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

/* Closes the message, so that nobody writes to the host for it any more: whether all have ended who did. */
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

/* What came of a look for a message. */
typedef enum {
    READY,   /* the record is its */
    NOBODY,  /* nobody awaits it */
    WAITING, /* somebody prepares the record, and does not get on */
} awaited_t;

/* Makes the own record the message's, if the host awaits it, or waits until somebody else has done that. */
static __attribute__((noinline, cold)) awaited_t prepare(record_t *record, struct mpi_types_request *shared,
                                                         uint32_t id, uint32_t hpu) {
    volatile struct mpi_types_request *request = shared;
    if (id == 0 || request->id != id) {
        return NOBODY;
    }
    lock_record(record, hpu);
    bool is_mine = record->lock != id;
    record->lock = id;
    unlock_record(record, hpu);
    if (!is_mine) {
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
    /* What the host has changed meanwhile may have been copied by half. */
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
