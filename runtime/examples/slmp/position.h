/*
 * Where a segment belongs in its message, and whether it does.
 */
#ifndef POSITION_H
#define POSITION_H

#include "place.h"

/* Where a segment belongs in its message. */
typedef struct {
    uint32_t unit;   /* bytes of all segments but the last; 0 while unknown */
    uint32_t end;    /* offset of the last segment + 1; 0 while unknown */
    uint32_t region; /* where the message's memory is in host memory */
    uint32_t room;   /* bytes of it */
    uint32_t index;  /* number of the segment, if the unit is known */
} position_t;

/* Reads where the message's memory is: as much of it as exists, and none where completions are. */
static inline void read_region(const task_t *task, place_t *place, position_t *at) {
    uint32_t there = task->host_mem_size;
    at->region = place->region;
    bool is_there = at->region >= SLMP_REGIONS && at->region <= there;
    uint32_t capacity = place->capacity;
    at->room = is_there ? MIN(capacity, there - at->region) : 0;
}

/* Whether there is a segment at `index` or behind it. */
static inline bool has_segments_from(place_t *place, uint32_t index) {
    uint32_t words = used_words(place);
    uint32_t mask = ~0u << index % 32;
    for (uint32_t word = index / 32; word < words; ++word, mask = ~0u) {
        if ((place->bitmap[word] & mask) != 0) {
            return true;
        }
    }
    return false;
}

/* Whether an end at `offset` with `bytes` bytes is possible if all other segments have `unit` bytes. */
static inline bool can_end(uint32_t unit, uint32_t offset, uint32_t bytes) {
    return bytes <= unit && offset % unit == 0 && offset / unit < SLMP_MAX_SEGMENTS;
}

/*
 * Whether the segment's length and offset fit those of the others. Its index is below SLMP_MAX_SEGMENTS then, so it has
 * a bit, and index * unit is an exact number of 32 bits.
 */
static inline bool is_in_place(const segment_t *segment, place_t *place, position_t *at) {
    uint32_t bytes = segment->bytes, offset = segment->offset;
    at->index = 0;
    uint32_t unit = at->unit;
    bool may_be_empty = segment->is_end && offset == 0 && unit == 0;
    if (bytes > SLMP_MAX_PAYLOAD || (!likely(bytes != 0) && !may_be_empty)) {
        return false;
    }
    if (likely(!segment->is_end)) {
        if (!likely(unit != 0)) {
            /* The first one that is not the last says how long all are; the last may have come before it. */
            unit = bytes;
            if (at->end != 0 && !can_end(unit, at->end - 1, place->length - (at->end - 1))) {
                return false;
            }
        } else if (bytes != unit) {
            return false;
        }
    } else if (unit == 0) {
        return true;
    } else if (bytes > unit) {
        return false;
    }
    at->index = offset / unit;
    return at->index < SLMP_MAX_SEGMENTS && at->index * unit == offset;
}

/* Whether an open message takes the segment: SLMP_ACCEPTED if so. The place is not read if unit and end are 0. */
static inline __attribute__((always_inline)) enum slmp_cause check(const segment_t *segment, place_t *place,
                                                                   position_t *at) {
    uint32_t offset = segment->offset;
    if (!is_in_place(segment, place, at)) {
        return SLMP_MISPLACED;
    }
    if (offset > at->room || segment->bytes > at->room - offset) {
        return SLMP_TOO_LONG;
    }
    if (!likely(at->end == 0)) {
        if (segment->is_end) {
            bool is_same = offset == at->end - 1 && offset + segment->bytes == place->length;
            return is_same ? SLMP_DUPLICATE : SLMP_BEYOND_END;
        }
        return offset < at->end - 1 ? SLMP_ACCEPTED : SLMP_BEYOND_END;
    }
    bool is_early = segment->is_end && at->unit != 0 && has_segments_from(place, at->index);
    return is_early ? SLMP_BEYOND_END : SLMP_ACCEPTED;
}

#endif
