/*
 * Places of messages in handler memory: how a segment's message is found there, and how a new one gets a place.
 *
 * Handlers on all HPUs do this at once, and meanwhile the host takes messages and gives them up. Three rules prevent
 * conflicts:
 *
 *  1. An HPU that works on a place has added 1 to `users`, and has seen afterwards that its state is open, complete or
 *     released, and that it has the segment's key. After the host has closed a place it waits for `users` to be 0. A
 *     released place is only closed for another message, and taken, if `users` is 0 then. Each side writes first and
 *     then reads, so at least one of them sees the other, and a place never changes its message under a handler.
 *  2. A place gets its key under the lock, and its state last. So there is one place for a message, and an HPU that
 *     sees the state sees the key.
 *  3. No HPU waits for the lock while it works on a place, and the lock's holder waits for no HPU. So all continue.
 *
 * `users` only changes by additions, because any HPU may check a place, and leave it again, at any time.
 */
#ifndef PLACE_H
#define PLACE_H

#include "segment.h"

typedef volatile struct slmp_memory memory_t;
typedef volatile struct slmp_place place_t;

/* The shared memory, with the number of its places. */
typedef struct {
    memory_t *memory;
    uint32_t count;
} places_t;

/* Adds to a word of the shared memory, which is in L2. */
static inline void add(volatile uint32_t *word, uint32_t value) {
    spin_l2_add((volatile int32_t *)word, (int32_t)value);
}

static inline void leave(place_t *place) { add(&place->users, -1u); }

/* Where the search begins: message id % 8, scaled to the places that there are. A division would take 30 clocks. */
static inline uint32_t first_place(places_t places, const segment_t *segment) {
    return segment->message_id % SLMP_PLACES * places.count / SLMP_PLACES;
}

static inline uint32_t next_place(places_t places, uint32_t number) {
    return number + 1 == places.count ? 0 : number + 1;
}

static inline bool has_key(place_t *place, const segment_t *segment) {
    return place->source == segment->source && place->port == segment->port &&
           place->message_id == segment->message_id;
}

/*
 * A copy of a place in L1, without its bits: all of it arrives in the time of reading two words from L2. Handlers use it for fields that
 * do not change while they work on the place, and for fields that change once, from 0. A handler that finds 0 takes
 * care of that.
 */
typedef const struct slmp_place line_t;
#define LINE_BYTES offsetof(struct slmp_place, claimed)
static_assert(LINE_BYTES == 64 && offsetof(struct slmp_memory, place) % LINE_BYTES == 0, "a line is one beat");

/* Starts the copy of a line. Banks of L2 answer one by one, so its words are read within few clocks, not in one. */
static inline spin_dma_t read_line(place_t *place, line_t *line) {
    spin_dma_t copy;
    spin_dma((void *)(uintptr_t)place, (void *)(uintptr_t)line, LINE_BYTES, SPIN_DMA_EXT2LOC, 0, &copy);
    return copy;
}

/*
 * Enters a place (rule 1). The copy of its line is started after `users` has been answered, since an HPU makes one
 * access after the other, so it shows a state as it was after that. If it shows that the message is open, its other
 * words are that message's: who has opened it went to L2 and back between the last of them and the state (rule 2).
 */
static inline spin_dma_t enter(place_t *place, line_t *line) {
    add(&place->users, 1);
    return read_line(place, line);
}

/* Whether the place that was entered has the segment's message. */
static inline bool holds(line_t *line, const segment_t *segment) {
    uint32_t difference = (line->source ^ segment->source) | (line->port ^ segment->port) |
                          (line->message_id ^ segment->message_id);
    return likely(difference == 0) && likely(line->state - SLMP_OPEN <= SLMP_RELEASED - SLMP_OPEN);
}

/*
 * Looks for the segment's message, and enters its place; NULL if there is none. Ids are random, so the id alone tells
 * most places apart without entering them.
 */
static __attribute__((noinline, cold)) place_t *find_message(places_t places, const segment_t *segment, line_t *line) {
    uint32_t number = first_place(places, segment);
    for (uint32_t i = 0; i < places.count; ++i) {
        place_t *place = &places.memory->place[number];
        if (place->message_id == segment->message_id) {
            spin_dma_wait(enter(place, line));
            if (holds(line, segment)) {
                return place;
            }
            leave(place);
        }
        number = next_place(places, number);
    }
    return NULL;
}

/* Whether no place can be had: each one was seen with a message that is not done with. */
static inline bool are_all_taken(places_t places) {
    for (uint32_t i = 0; i < places.count; ++i) {
        uint32_t state = places.memory->place[i].state;
        if (state != SLMP_OPEN && state != SLMP_COMPLETE) {
            return false;
        }
    }
    return true;
}

/* Whether the host is just taking the message's place away. Under the lock, as handlers close released places, too. */
static inline bool is_given_up(places_t places, const segment_t *segment) {
    for (uint32_t i = 0; i < places.count; ++i) {
        place_t *place = &places.memory->place[i];
        if (place->state == SLMP_CLOSED && has_key(place, segment)) {
            return true;
        }
    }
    return false;
}

/*
 * Chooses a place for a new message, under the lock, and stores its earlier state in `state`: free or released. Closes
 * a released place, so that no HPU enters any more, and does not take it while an HPU still answers a duplicate in it.
 */
static inline place_t *choose_place(places_t places, const segment_t *segment, uint32_t *state) {
    static const uint32_t wanted[] = {SLMP_FREE, SLMP_RELEASED};
    for (uint32_t turn = 0; turn < 2; ++turn) {
        *state = wanted[turn];
        uint32_t number = first_place(places, segment);
        for (uint32_t i = 0; i < places.count; ++i) {
            place_t *place = &places.memory->place[number];
            if (place->state == *state) {
                if (*state == SLMP_FREE) {
                    return place;
                }
                amo_store(&place->state, SLMP_CLOSED);
                if (place->users == 0) {
                    return place;
                }
                amo_store(&place->state, SLMP_RELEASED);
            }
            number = next_place(places, number);
        }
    }
    return NULL;
}

/*
 * By what an offset is multiplied to find its segment: index = offset * reciprocal / 2^32. It is (2^32 + e) / bytes
 * with e < bytes, so an offset of index * bytes gives index + index * e / 2^32, where the last part is below 1 for all
 * indices that there are, and cut off. For 1 byte it does not fit, and is 0.
 */
static inline uint32_t reciprocal_of(uint32_t bytes) { return UINT32_MAX / bytes + 1; }
static_assert((uint64_t)SLMP_MAX_SEGMENTS * SLMP_MAX_PAYLOAD < UINT32_MAX, "the reciprocal is exact enough");

/*
 * Gives the place to the segment's message, and enters it. `users` may count an HPU that is about to leave. Clusters
 * clear their records when they see the new generation.
 */
static inline void begin_message(place_t *place, const segment_t *segment) {
    place->generation = place->generation + 1;
    place->segment_bytes = segment->is_end ? 0 : segment->bytes;
    place->reciprocal = segment->is_end ? 0 : reciprocal_of(segment->bytes);
    place->end = 0;
    place->done = 0;
    place->end_taken = 0;
    place->source = segment->source;
    place->port = segment->port;
    place->message_id = segment->message_id;
    /* This is answered by L2, so all of the above is there before the state is; copies of the line rely on it. */
    add(&place->users, 1);
    amo_store(&place->state, SLMP_OPEN);
}

#endif
