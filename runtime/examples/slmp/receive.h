/*
 * How a segment is received, its claim, its copy, and the end of a message: slmp.c.
 */
#ifndef RECEIVE_H
#define RECEIVE_H

#include "position.h"

/* Value of `confirm` in the shared memory: EOM is acknowledged when the host has stored the message. */
#define CONFIRM_STORED 1

#ifndef KNOWN_H
/* HPUs of the PULP cluster remember nothing. */
static inline void remember_message(const local_t *local, memory_t *memory, place_t *place, const position_t *at,
                                    const segment_t *segment) {
    (void)local, (void)memory, (void)place, (void)at, (void)segment;
}
#endif

/* The context's host memory. */
typedef struct {
    uint64_t address;
    uint32_t bytes;
} host_t;

static inline host_t read_host(const task_t *task) {
    return (host_t){(uint64_t)task->host_mem_high << 32 | task->host_mem_low, task->host_mem_size};
}

/* Whether a message that began with the segment would fit into the place. */
static __attribute__((noinline, cold)) enum slmp_cause check_first(const task_t *task, place_t *place,
                                                                   const segment_t *segment) {
    position_t at = {0};
    set_region(&at, place->region, place->capacity, task->host_mem_size);
    return check(segment, NULL, NULL, &at);
}

/* Why a segment is refused that has no place: first of all because it fits nowhere. */
static enum slmp_cause refuse(const task_t *task, places_t places, const segment_t *segment, enum slmp_cause cause) {
    enum slmp_cause first = check_first(task, &places.memory->place[first_place(places, segment)], segment);
    return first != SLMP_ACCEPTED ? first : cause;
}

/* Gives the segment's message a place, under the lock; NULL and the cause if it must not have one. */
static place_t *place_message(const task_t *task, places_t places, const segment_t *segment, line_t *line,
                              enum slmp_cause *cause) {
    if (is_given_up(places, segment)) {
        *cause = refuse(task, places, segment, SLMP_GIVEN_UP);
        return NULL;
    }
    uint32_t before;
    place_t *place = choose_place(places, segment, &before);
    if (place == NULL) {
        *cause = refuse(task, places, segment, SLMP_NO_ROOM);
        return NULL;
    }
    *cause = check_first(task, place, segment);
    if (*cause != SLMP_ACCEPTED) {
        amo_store(&place->state, before);
        return NULL;
    }
    local_t local = records_of_place(task, places.memory, (uint32_t)(place - places.memory->place));
    set_message(&local, place->generation + 1, place->start);
    prepare_message(&local, segment->is_end ? 0 : segment->bytes);
    begin_message(place, segment);
    tell_open(&local, segment->message_id);
    spin_dma_wait(read_line(place, line));
    return place;
}

/*
 * Finds the segment's message, or opens it, and enters its place. Returns NULL and the cause if that is not possible.
 * Another HPU may have opened the message since the first search, so this function searches again, under the lock. An
 * HPU that finds no room does not take the lock, so that it does not delay others.
 */
static inline place_t *find_or_open(const task_t *task, places_t places, record_t *own, const segment_t *segment,
                                    line_t *line, enum slmp_cause *cause) {
    memory_t *memory = places.memory;
    *cause = SLMP_ACCEPTED;
    place_t *place = find_message(places, segment, line);
    if (place != NULL) {
        return place;
    }
    if (memory->magic != SLMP_MAGIC || memory->version != SLMP_VERSION || memory->places != places.count ||
        task->host_mem_size < SLMP_REGIONS) {
        *cause = SLMP_NO_ROOM;
        return NULL;
    }
    if (are_all_taken(places)) {
        place = find_message(places, segment, line);
        if (place == NULL) {
            *cause = refuse(task, places, segment, SLMP_NO_ROOM);
        }
        return place;
    }
    /* Many find at once that a message is to be opened. One does it, and the others need no lock to find it then. */
    while (!spin_lock_try_lock(&memory->lock)) {
        wait_for_open(own, segment->message_id);
        place = find_message(places, segment, line);
        if (place != NULL) {
            return place;
        }
    }
    place = find_message(places, segment, line);
    if (place == NULL) {
        place = place_message(task, places, segment, line, cause);
    }
    spin_lock_unlock(&memory->lock);
    if (place != NULL && !holds(line, segment)) {
        /* The host was quick. */
        leave(place);
        *cause = SLMP_GIVEN_UP;
        return NULL;
    }
    return place;
}

/* The same, by one HPU of each cluster at first where that pays. */
static __attribute__((noinline, cold)) place_t *open_message(const task_t *task, places_t places,
                                                             const segment_t *segment, line_t *line,
                                                             enum slmp_cause *cause) {
    record_t *own = records_of_place(task, places.memory, first_place(places, segment)).own;
    begin_search(own, segment->message_id);
    place_t *place = find_or_open(task, places, own, segment, line, cause);
    end_search(own, segment->message_id);
    return place;
}

/*
 * Takes the end of the message. Returns whether no other HPU has it. Writes the offset after the other fields, then the
 * flag in `done`: an HPU that sees the flag sees the fields. Then informs all clusters, which check `done` from now on.
 * Another end in just these clocks counts as a duplicate, and like all ends is not acknowledged yet.
 */
static __attribute__((noinline, cold)) bool claim_end(const segment_t *segment, place_t *place, const local_t *local) {
    if ((amo_or(&place->end_taken, SLMP_END_TAKEN) & SLMP_END_TAKEN) != 0) {
        return false;
    }
    place->length = segment->offset + segment->bytes;
    place->end_syn = segment->wants_ack;
    amo_store(&place->end, segment->offset + 1);
    add(&place->done, SLMP_DONE_END);
    tell_end(local);
    return true;
}

/* Says how long segments are. Several may want to: one does, and the others have the same length or are wrong. */
static __attribute__((noinline, cold)) bool claim_unit(place_t *place, uint32_t bytes) {
    while (compare_and_swap(&place->segment_bytes, 0, bytes) > 0) {
    }
    if (place->segment_bytes != bytes) {
        return false;
    }
    place->reciprocal = reciprocal_of(bytes);
    return true;
}

/*
 * Takes the segment's bit. Returns SLMP_ACCEPTED if no other HPU has it. If another HPU wants it and makes no progress,
 * the segment is not acknowledged, so that the sender repeats it.
 */
static inline enum slmp_cause claim(segment_t *segment, place_t *place, const local_t *local, position_t *at) {
    if (!likely(!segment->is_end)) {
        segment_t end = *segment;
        local_t copy = *local;
        return claim_end(&end, place, &copy) ? SLMP_ACCEPTED : SLMP_DUPLICATE;
    }
    if (!likely(at->unit != 0)) {
        at->unit = segment->bytes;
        if (!claim_unit(place, at->unit)) {
            return SLMP_MISPLACED;
        }
    }
    claim_t claim = claim_segment(local, segment->message_id, at->index, at->room, at->unit);
    if (likely(claim == WON)) {
        return SLMP_ACCEPTED;
    }
    if (claim == UNKNOWN) {
        segment->wants_ack = false;
    }
    return SLMP_DUPLICATE;
}

/*
 * Returns whether the whole message may be acknowledged. Reads the state again, because the message may just have
 * become complete. A released message stays released, though another HPU may have closed the place to check `users`.
 */
static bool is_delivered(memory_t *memory, place_t *place, line_t *line) {
    uint32_t state = line->state == SLMP_RELEASED ? SLMP_RELEASED : place->state;
    return state == SLMP_RELEASED || (state == SLMP_COMPLETE && memory->confirm != CONFIRM_STORED);
}

/* The counter of this HPU for a cause. */
static inline volatile uint32_t *counter_of(memory_t *memory, enum slmp_cause cause) {
    uint32_t hpu = rt_cluster_id() * NB_CORES + rt_core_id();
    return &memory->counters[hpu % SLMP_HPUS * SLMP_COUNTERS + cause];
}

/* Only this HPU adds to its counters, so no atomic operation is needed. An addition is one access where it is an instruction. */
static void count(memory_t *memory, enum slmp_cause cause) {
    volatile uint32_t *counter = counter_of(memory, cause);
    if (spin_is_own_hpu()) {
        add(counter, 1);
    } else {
        *counter = *counter + 1;
    }
}

/*
 * Completes a message that is entirely in host memory: informs the host, and acknowledges to the sender. The host may
 * take the message and change its state as soon as the completion is there. It may also have given the message up in
 * between. States are numbered so that a maximum keeps the host's state. A message given up is not acknowledged.
 */
static __attribute__((noinline, cold)) void complete(const task_t *task, memory_t *memory, place_t *place,
                                                     segment_t *segment, uint32_t end) {
    uint32_t offset = (uint32_t)(place - memory->place) * SLMP_COMPLETION_STRIDE;
    uint64_t completion = (uint64_t)(SLMP_COMPLETION_VALID | place->length) << 32 | segment->message_id;
    spin_cmd_t written;
    spin_host_direct(read_host(task).address + offset, completion, &written);
    spin_cmd_wait(written);
    count(memory, SLMP_COMPLETED);
    uint32_t before = amo_maxu(&place->state, SLMP_COMPLETE);
    if (before != SLMP_CLOSED && memory->confirm != CONFIRM_STORED && place->end_syn != 0) {
        segment->is_end ? acknowledge(segment) : acknowledge_end(segment, end - 1);
        count(memory, SLMP_ACKS_SENT);
    }
}

/*
 * Completes the message if all of it is there. The number of segments before the end is the end's index; they are those
 * before the end if none is behind it, which a sender that contradicts itself could have brought about. Several may see
 * that all are there, as they count first and look then, and one of them completes the message.
 */
static __attribute__((noinline, cold)) void complete_if_last(memory_t *memory, place_t *place, const local_t *local,
                                                             segment_t *segment) {
    uint32_t others = (place->done & ~SLMP_DONE_END) - 1, end = place->end;
    if (others * place->segment_bytes == end - 1 && !has_segments_from(local, others) &&
        (amo_or(&place->end_taken, SLMP_END_COMPLETING) & SLMP_END_COMPLETING) == 0) {
        complete(local->task, memory, place, segment, end);
    }
}

/*
 * Counts a segment whose copy is done. The HPU that has the end informs all clusters before it counts the end and reads
 * the number. So each HPU that counts later reads the number as well, and the HPU with the end sees all earlier counts.
 */
static inline void count_segment(memory_t *memory, place_t *place, const local_t *local, const segment_t *segment) {
    add(&place->done, 1);
    if (!likely(local->own->ended != local->generation)) {
        segment_t last = *segment;
        local_t copy = *local;
        complete_if_last(memory, place, &copy, &last);
    }
}

/* Takes a segment of an open message, and counts it if it is accepted. */
static inline enum slmp_cause take(const local_t *local, host_t host, memory_t *memory, place_t *place, line_t *line,
                                   segment_t *segment) {
    position_t at = {.unit = line->segment_bytes, .reciprocal = line->reciprocal, .end = line->end};
    set_region(&at, line->region, line->capacity, host.bytes);
    enum slmp_cause cause = check(segment, place, local, &at);
    if (likely(cause == SLMP_ACCEPTED)) {
        cause = claim(segment, place, local, &at);
    }
    if (!likely(cause == SLMP_ACCEPTED)) {
        return cause;
    }
    /* There is nothing to copy of an empty message. */
    spin_cmd_t copied = 0;
    if (likely(segment->bytes != 0)) {
        spin_dma_to_host(host.address + (at.region + segment->offset), (uint32_t)(uintptr_t)segment->frame->payload,
                         segment->bytes, false, &copied);
    }
    /* Everything that can be done while the copy is on its way. */
    if (likely(segment->wants_ack && !segment->is_end)) {
        acknowledge(segment);
        count(memory, SLMP_ACCEPTED_AND_ACKED);
    } else {
        count(memory, SLMP_ACCEPTED);
    }
    remember_message(local, memory, place, &at, segment);
    if (likely(segment->bytes != 0)) {
        spin_cmd_wait(copied);
    }
    count_segment(memory, place, local, segment);
    return SLMP_ACCEPTED;
}

/*
 * Receives a segment, and counts it. Its message is nearly always where the search for it begins, and what is not
 * needed to find it is read while the place's line is copied. Only copies of the segment leave this function, so that
 * it can stay in registers.
 */
static inline __attribute__((always_inline)) void receive(const task_t *task, places_t places, segment_t *segment) {
    memory_t *memory = places.memory;
    uint32_t number = first_place(places, segment);
    place_t *place = &memory->place[number];
    local_t local = records_of_place(task, memory, number);
    /* Aligning it manually takes less code than aligning the whole stack. */
    uint8_t space[2 * LINE_BYTES];
    line_t *line = (line_t *)(((uintptr_t)space + LINE_BYTES) & ~(LINE_BYTES - 1));
    /* If this cluster has worked on the message before, its own L1 shows in a clock that this is the place. */
    bool may_be_there =
        likely(local.own->message_id == segment->message_id) || place->message_id == segment->message_id;
    spin_dma_t copy = may_be_there ? enter(place, line) : 0;
    enum slmp_cause cause = read_rest(segment);
    host_t host = read_host(task);
    if (likely(may_be_there)) {
        spin_dma_wait(copy);
    }
    if (!likely(may_be_there) || !likely(holds(line, segment)) || !likely(cause == SLMP_ACCEPTED)) {
        if (may_be_there) {
            leave(place);
        }
        if (cause != SLMP_ACCEPTED) {
            count(memory, cause);
            return;
        }
        segment_t first = *segment;
        place = open_message(task, places, &first, line, &cause);
        if (place == NULL) {
            count(memory, cause);
            return;
        }
        local = records_of_place(task, memory, (uint32_t)(place - memory->place));
    }
    cause = SLMP_DUPLICATE;
    if (likely(line->state == SLMP_OPEN)) {
        set_message(&local, line->generation, line->start);
        cause = take(&local, host, memory, place, line, segment);
    }
    if (!likely(cause == SLMP_ACCEPTED)) {
        count(memory, cause);
        if (cause == SLMP_DUPLICATE && segment->wants_ack && (!segment->is_end || is_delivered(memory, place, line))) {
            acknowledge(segment);
            count(memory, SLMP_ACKS_SENT);
        }
    }
    leave(place);
}

/* Receives a frame. */
static inline __attribute__((always_inline)) void receive_frame(const task_t *task) {
    memory_t *memory = task->handler_mem;
    uint32_t there = task->handler_mem_size;
    if (there < offsetof(struct slmp_memory, place)) {
        return;
    }
    /* There are as many places as fit. When a message begins, the handler checks that the host assumes that, too. */
    uint32_t room = (there - offsetof(struct slmp_memory, place)) / sizeof(struct slmp_place);
    places_t places = {.memory = memory, .count = MIN(room, SLMP_PLACES)};
    if (!likely(places.count != 0) || !has_records(task, places.count)) {
        return;
    }
    segment_t segment;
    enum slmp_cause cause = read_segment(&segment, task->pkt_mem, task->pkt_mem_size);
    if (likely(cause == SLMP_ACCEPTED)) {
        receive(task, places, &segment);
    } else {
        count(memory, cause);
    }
}

#endif
