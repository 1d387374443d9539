/*
 * The handler of spinneret's own HPUs. It is apart from that of the PULP cluster, because code for both would take more of the
 * instruction cache there, and clocks.
 */

/* Without optimisation both would not fit into program memory. */
#ifndef __OPTIMIZE__
#pragma GCC optimize("Os")
#endif
#include "own.h"

#include "known.h"

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

/* Completes a message whose end is known, if this HPU has counted the last segment. */
static __attribute__((noinline, cold)) void complete_known(const task_t *task) {
    local_t local = records_of_place(task, rt_cluster_id(), (uint32_t)(known.place - known.memory->place));
    local.generation = known.generation;
    segment_t segment = {.frame = task->pkt_mem};
    complete_if_last(known.memory, known.place, &local, &segment);
}

/* Receives a segment of the message that this HPU remembers. Returns false if it has to go the long way. */
static inline bool receive_known(const task_t *task) {
    const headers_t *headers = task->pkt_mem;
    if (!likely(has_known_headers(task, headers))) {
        return false;
    }
    uint32_t offset = host_order(headers->frame.offset), unit = known.unit;
    uint32_t index = (uint32_t)((uint64_t)offset * known.reciprocal >> 32);
    place_t *place = known.place;
    if (!likely(offset <= known.last) || !likely(index * unit == offset) ||
        !likely(known.own->ended != known.generation) || !likely(enter_known(place)) || !likely(claim_known(index))) {
        return false;
    }
    spin_cmd_t copied, sent;
    spin_dma_to_host(read_host(task).address + (known.region + offset), (uint32_t)(uintptr_t)headers->frame.payload,
                     unit, false, &copied);
    if (likely((headers->frame.flags & htons(SLMP_FLAG_SYN)) != 0)) {
        known.answer.word[HEADER_WORDS - 1] = headers->word[HEADER_WORDS - 1];
        spin_send_packet(&known.answer, sizeof(known.answer), &sent);
    }
    add(known.counter, 1);
    spin_cmd_wait(copied);
    add(&place->done, 1);
    if (!likely(known.own->ended != known.generation)) {
        complete_known(task);
    }
    leave(place);
    return true;
}

__attribute__((noinline)) void receive_long_way(const task_t *task) { receive_frame(task); }

void receive_on_own(handler_args_t *args) {
    if (!likely(receive_known(args->task))) {
        receive_long_way(args->task);
    }
}
