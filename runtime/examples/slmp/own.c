/*
 * The handler of spinneret's own HPUs. It is apart from that of the PULP cluster, because code for both would take more of the
 * instruction cache there, and clocks.
 */

/* Without optimisation both would not fit into program memory. */
#ifndef __OPTIMIZE__
#pragma GCC optimize("Os")
#endif
#include "claims.h"

#include "known.h"
#include "own.h"

/*
 * Remembers an accepted segment's message if no other one is remembered, or if the segment before on this HPU was of the same
 * message. So messages that alternate cost less.
 */
static inline void remember_message(const local_t *local, memory_t *memory, place_t *place, const position_t *at,
                                    const segment_t *segment) {
    if (!likely(known.memory != NULL) || !likely(known.seen != segment->message_id)) {
        local_t copy = *local;
        segment_t taken = *segment;
        remember(&copy, memory, place, at, &taken);
    }
    known.seen = segment->message_id;
}

#include "receive.h"

/* Completes a message whose end is known, if this HPU has counted the last segment, and leaves its place. */
static __attribute__((noinline, cold)) void complete_known(const task_t *task) {
    local_t local = records_of_place(task, known.memory, (uint32_t)(known.place - known.memory->place));
    set_message(&local, known.generation, 0);
    segment_t segment = {.frame = task->pkt_mem};
    complete_if_last(known.memory, known.place, &local, &segment);
    leave(known.place);
}

/* Receives a segment the long way, which may count it by the counter that this HPU keeps a copy of. */
static __attribute__((noinline)) void receive_long_way(const task_t *task) {
    receive_frame(task);
    if (known.memory == task->handler_mem && known.memory != NULL) {
        known.counted = *known.counter;
    }
}

/* Receives a segment that another HPU has claimed the long way, and leaves the place that it has entered. */
static __attribute__((noinline, cold)) void start_over(const task_t *task) {
    leave(known.place);
    receive_long_way(task);
}

/* The same if the place has another message, so nothing is known. */
static __attribute__((noinline, cold)) void forget(const task_t *task) {
    known.memory = NULL;
    leave(known.place);
    receive_long_way(task);
}

/* A segment of the message that is known, in registers: memory is read again after each access that others see. */
typedef struct {
    const task_t *task;
    const headers_t *headers;
    known_t *message;
    place_t *place;
    record_t *own;
    uint32_t generation;
    uint32_t unit;
    uint32_t offset;
    uint32_t index;
    bool is_answered;
} known_segment_t;

static inline __attribute__((always_inline)) known_segment_t known_segment(known_t *message, const task_t *task) {
    const headers_t *headers = task->pkt_mem;
    uint32_t offset = host_order(headers->frame.offset);
    return (known_segment_t){
        .task = task,
        .headers = headers,
        .message = message,
        .place = message->place,
        .own = message->own,
        .generation = message->generation,
        .unit = message->unit,
        .offset = offset,
        .index = (uint32_t)((uint64_t)offset * message->reciprocal >> 32),
        .is_answered = (headers->frame.flags & htons(SLMP_FLAG_SYN)) != 0,
    };
}

/* Copies, acknowledges and counts a segment that this HPU has claimed. */
static inline __attribute__((always_inline)) void finish_known(known_segment_t at) {
    known_t *message = at.message;
    spin_cmd_t copied, sent;
    spin_dma_to_host(read_host(at.task).address + (message->region + at.offset),
                     (uint32_t)(uintptr_t)at.headers->frame.payload, at.unit, false, &copied);
    if (likely(at.is_answered)) {
        message->answer.word[HEADER_WORDS - 1] = at.headers->word[HEADER_WORDS - 1];
        spin_send_packet(&message->answer, sizeof(message->answer), &sent);
    }
    *message->counter = ++message->counted;
    spin_cmd_wait(copied);
    add(&at.place->done, 1);
    if (!likely(at.own->ended != at.generation)) {
        complete_known(at.task);
        return;
    }
    leave(at.place);
}

/*
 * Receives a segment the short way if it is of the message that this HPU remembers. All calls are the last thing that is done, so
 * nothing has to be saved before them.
 */
void receive_on_own(handler_args_t *args) {
    const task_t *task = args->task;
    known_t *message = recall();
    if (!likely(has_known_headers(message, task, task->pkt_mem))) {
        receive_long_way(task);
        return;
    }
    known_segment_t at = known_segment(message, task);
    if (!likely(at.offset <= message->last) || !likely(at.index * at.unit == at.offset) ||
        !likely(at.own->ended != at.generation)) {
        receive_long_way(task);
        return;
    }
    if (!likely(enter_known(at.place, at.own, at.generation))) {
        forget(task);
        return;
    }
    if (!likely(claim_bit(at.place, at.index))) {
        start_over(task);
        return;
    }
    finish_known(at);
}
