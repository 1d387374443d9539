/*
 * Where a segment belongs in its message, and whether it does. Records of messages are included before: local.h or claims.h.
 */
#ifndef POSITION_H
#define POSITION_H

#include "place.h"

/* Where a segment belongs in its message. */
typedef struct {
    uint32_t unit;       /* bytes of all segments but the last; 0 while unknown */
    uint32_t reciprocal; /* of the unit; 0 while unknown */
    uint32_t end;        /* offset of the last segment + 1; 0 while unknown */
    uint32_t region;     /* where the message's memory is in host memory */
    uint32_t room;       /* bytes of it */
    uint32_t index;      /* number of the segment, if the unit is known */
} position_t;

/* Sets where the message's memory is: as much of it as exists, and none where completions are. */
static inline void set_region(position_t *at, uint32_t region, uint32_t capacity, uint32_t host_mem_size) {
    at->region = region;
    at->room = 0;
    if (likely(region >= SLMP_REGIONS) && likely(region <= host_mem_size)) {
        at->room = MIN(capacity, host_mem_size - region);
    }
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
    if (likely(!segment->is_end && unit != 0)) {
        if (!likely(bytes == unit)) {
            return false;
        }
    } else if (bytes > SLMP_MAX_PAYLOAD) {
        return false;
    } else if (!segment->is_end) {
        /* The first segment other than the last sets the length of all; the last may have come before it. */
        unit = bytes;
        if (unit == 0 || (at->end != 0 && !can_end(unit, at->end - 1, place->length - (at->end - 1)))) {
            return false;
        }
    } else if (unit == 0) {
        return bytes != 0 || offset == 0;
    } else if (bytes == 0 || bytes > unit) {
        return false;
    }
    at->index = likely(at->reciprocal != 0) ? (uint32_t)((uint64_t)offset * at->reciprocal >> 32) : offset / unit;
    return likely(at->index < SLMP_MAX_SEGMENTS) && likely(at->index * unit == offset);
}

/* Whether an open message takes the segment: SLMP_ACCEPTED if so. Place and records are not read if unit and end are 0. */
static inline __attribute__((always_inline)) enum slmp_cause check(const segment_t *segment, place_t *place,
                                                                   const local_t *local, position_t *at) {
    uint32_t offset = segment->offset;
    if (!likely(is_in_place(segment, place, at))) {
        return SLMP_MISPLACED;
    }
    if (!likely(offset <= at->room) || !likely(segment->bytes <= at->room - offset)) {
        return SLMP_TOO_LONG;
    }
    if (!likely(at->end == 0)) {
        if (segment->is_end) {
            bool is_same = offset == at->end - 1 && offset + segment->bytes == place->length;
            return is_same ? SLMP_DUPLICATE : SLMP_BEYOND_END;
        }
        return offset < at->end - 1 ? SLMP_ACCEPTED : SLMP_BEYOND_END;
    }
    if (!likely(!segment->is_end) && at->unit != 0) {
        local_t copy = *local;
        return has_segments_from(&copy, at->index) ? SLMP_BEYOND_END : SLMP_ACCEPTED;
    }
    return SLMP_ACCEPTED;
}

#endif
