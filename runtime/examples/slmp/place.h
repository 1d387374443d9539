/*
 * Places of messages in handler memory: how a segment's message is found there, and how a new one gets a place.
 *
 * Handlers on all HPUs do this at once, and the host takes messages and gives them up meanwhile. Three rules keep them
 * apart:
 *
 *  1. Who works on a place has added 1 to `users`, and has seen afterwards that its state is open, complete or
 *     released, and that it has the segment's key. The host waits for `users` to be 0 after it has closed a place, and
 *     a released place is only closed for another message, and taken, if `users` is 0 then. Each side writes first and
 *     then looks, so at least one of them sees the other, and a place never changes its message under a handler.
 *  2. A place gets its key under the lock, and its state last. So there is one place for a message, and who sees the
 *     state sees the key.
 *  3. Nobody waits for the lock while it works on a place, and who has the lock waits for nobody. So all go on.
 *
 * `users` is only ever added to, because somebody may look at a place, and go away again, at any time.
 */
#ifndef PLACE_H
#define PLACE_H

#include "segment.h"

typedef volatile struct slmp_memory memory_t;
typedef volatile struct slmp_place place_t;

/* The shared memory, with the number of its places, which is read once. */
typedef struct {
    memory_t *memory;
    uint32_t count;
} places_t;

static inline void add(volatile uint32_t *word, uint32_t value) {
    amo_add((volatile int32_t *)word, (int32_t)value);
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
 * Looks for the segment's message, and enters its place (rule 1); NULL if there is none. Ids are random, so the id
 * alone tells most places apart without entering them. The state is looked at before the key: if it is open, the key is
 * there (rule 2).
 */
static inline place_t *find_message(places_t places, const segment_t *segment, uint32_t *state) {
    uint32_t number = first_place(places, segment);
    for (uint32_t i = 0; i < places.count; ++i) {
        place_t *place = &places.memory->place[number];
        if (likely(place->message_id == segment->message_id)) {
            add(&place->users, 1);
            *state = place->state;
            if (likely(*state - SLMP_OPEN <= SLMP_RELEASED - SLMP_OPEN && has_key(place, segment))) {
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
 * Chooses a place for a new message, under the lock, and leaves in `state` what it was: free, or closed by us so that
 * nobody enters any more. A released place in which somebody still answers a duplicate is not taken.
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

/* Words of the bitmap that may hold bits. */
static inline uint32_t used_words(place_t *place) {
    uint32_t words = place->bitmap_words;
    return MIN(words, SLMP_BITMAP_WORDS);
}

/* Gives the place to the segment's message, and enters it. `users` may count somebody who is about to go away. */
static inline void begin_message(place_t *place, const segment_t *segment) {
    uint32_t words = used_words(place);
    for (uint32_t i = 0; i < words; ++i) {
        place->bitmap[i] = 0;
    }
    place->bitmap_words = 0;
    place->segment_bytes = segment->is_end ? 0 : segment->bytes;
    place->end = 0;
    place->length = 0;
    place->done = 0;
    place->bytes = 0;
    place->end_syn = 0;
    place->end_taken = 0;
    place->source = segment->source;
    place->port = segment->port;
    place->message_id = segment->message_id;
    add(&place->users, 1);
    amo_store(&place->state, SLMP_OPEN);
}

#endif
