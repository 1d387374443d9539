/*
 * Receives messages of MPI's datatypes over SLMP: each segment goes where it belongs, from its offset alone, in any
 * order and on many HPUs. The host says beforehand which message is to come, from whom, how long, and where its bytes
 * belong.
 */
#include "../slmp/segment.h"

#include "place.h"

typedef struct mpi_types_memory memory_t;

/* Only this HPU adds to its counters, so no atomic operation is needed. */
static __attribute__((noinline, cold)) void count(memory_t *memory, enum mpi_types_counter counter, uint32_t more) {
    uint32_t hpu = rt_cluster_id() * NB_CORES + rt_core_id();
    volatile uint32_t *word = &memory->counters[hpu % MPI_TYPES_HPUS * MPI_TYPES_COUNTERS + counter];
    *word = *word + more;
}

/* Tells the host, and the sender, if all of the message is there. */
static __attribute__((noinline, cold)) void complete_if_whole(const task_t *task, memory_t *memory, uint32_t slot,
                                                              uint32_t id, segment_t *segment) {
    record_t *own = record_of(task, rt_cluster_id(), slot);
    uint32_t last = own->request.last, length = own->request.length, unit = own->request.unit;
    if (!is_whole(task, slot, id, last) || !claim(task, slot, id)) {
        return;
    }
    if (!close_all(task, slot, id)) {
        count(memory, MPI_TYPES_STUCK, 1);
        return;
    }
    bool asks = own->asked != 0;
    count(memory, MPI_TYPES_ACCEPTED, last + 1);
    count(memory, MPI_TYPES_COMPLETED, 1);
    uint64_t host = (uint64_t)task->host_mem_high << 32 | task->host_mem_low;
    uint64_t completion = (uint64_t)(MPI_TYPES_COMPLETION_VALID | length) << 32 | id;
    spin_cmd_t written;
    spin_host_direct(host + slot * MPI_TYPES_COMPLETION_STRIDE, completion, &written);
    spin_cmd_wait(written);
    if (asks) {
        count(memory, MPI_TYPES_ACKS_SENT, 1);
        acknowledge_end(segment, last * unit);
    }
}

/* A segment of a message that is complete, or one that has come before. */
static __attribute__((noinline, cold)) void again(memory_t *memory, segment_t *segment, bool is_complete) {
    count(memory, MPI_TYPES_DUPLICATE, 1);
    if (segment->wants_ack && (!segment->is_end || is_complete)) {
        count(memory, MPI_TYPES_ACKS_SENT, 1);
        acknowledge(segment);
    }
}

/* A segment whose message the own record is not of: whether it is now. */
static __attribute__((noinline, cold)) bool look_for(memory_t *memory, record_t *record, uint32_t slot,
                                                     segment_t *segment) {
    if (memory->magic != MPI_TYPES_MAGIC || memory->version != MPI_TYPES_VERSION || slot >= memory->slots) {
        return false;
    }
    uint32_t id = segment->message_id;
    awaited_t awaited = prepare(record, &memory->request[slot], id, rt_core_id());
    if (awaited == READY) {
        return true;
    }
    if (awaited == WAITING) {
        count(memory, MPI_TYPES_STUCK, 1);
        return false;
    }
    const past_t *past = id != 0 ? find_past(record, id) : NULL;
    if (past == NULL) {
        count(memory, MPI_TYPES_UNKNOWN, 1);
    } else if (past->source == segment->source && past->port == segment->port) {
        again(memory, segment, true);
    } else {
        count(memory, MPI_TYPES_FOREIGN, 1);
    }
    return false;
}

/* Whether the segment is one of the message: MPI_TYPES_ACCEPTED, or why not. */
static inline enum mpi_types_counter check(const struct mpi_types_request *request, const segment_t *segment,
                                           uint32_t *index) {
    if (!likely(segment->source == request->source) || !likely(segment->port == request->port)) {
        return MPI_TYPES_FOREIGN;
    }
    uint32_t length = request->length, unit = request->unit, last = request->last;
    if (!likely(segment->offset <= length) || !likely(segment->bytes <= length - segment->offset)) {
        return MPI_TYPES_TOO_LONG;
    }
    *index = divide(segment->offset, request->unit_reciprocal, request->unit_shift);
    uint32_t bytes = *index == last ? length - segment->offset : unit;
    if (!likely(*index * unit == segment->offset) || !likely(segment->bytes == bytes) ||
        !likely(segment->is_end == (*index == last))) {
        return MPI_TYPES_MISPLACED;
    }
    return MPI_TYPES_ACCEPTED;
}

/* Places a segment of a message that is open. */
static inline void take(const task_t *task, memory_t *memory, record_t *record, uint32_t slot, uint32_t hpu,
                        segment_t *segment) {
    uint32_t index, id = segment->message_id;
    enum mpi_types_counter cause = check(&record->request, segment, &index);
    if (!likely(cause == MPI_TYPES_ACCEPTED)) {
        record->active[hpu] = 0;
        count(memory, cause, 1);
        return;
    }
    if (!likely((record->bits[index / 32] & 1u << index % 32) == 0)) {
        record->active[hpu] = 0;
        again(memory, segment, false);
        return;
    }
    payload_t payload = {.low = task->host_mem_low,
                         .high = task->host_mem_high,
                         .nic = (uint32_t)(uintptr_t)segment->frame->payload,
                         .left = segment->bytes};
    uint32_t open = 0;
    if (likely(payload.left != 0)) {
        open = place(&record->request, payload, segment->offset, (const uint8_t *)memory);
    }
    bool is_end = segment->is_end, asks = segment->wants_ack;
    if (likely(asks && !is_end)) {
        acknowledge(segment);
    }
    wait_for_copies(open);
    set_bit(record, hpu, index);
    record->active[hpu] = 0;
    if (!likely(!is_end)) {
        tell_end(task, slot, id, asks);
    }
    if (!likely(record->ended != id)) {
        segment_t last = *segment;
        complete_if_whole(task, memory, slot, id, &last);
    }
}

__handler__ void mpi_types_ph(handler_args_t *args) {
    const task_t *task = args->task;
    memory_t *memory = task->handler_mem;
    uint32_t cluster = rt_cluster_id(), hpu = rt_core_id();
    if (task->handler_mem_size < sizeof(memory_t) || cluster >= SPIN_TASK_CLUSTERS) {
        return;
    }
    segment_t segment;
    enum slmp_cause cause = read_segment(&segment, task->pkt_mem, task->pkt_mem_size);
    if (likely(cause == SLMP_ACCEPTED)) {
        cause = read_rest(&segment);
    }
    if (!likely(cause == SLMP_ACCEPTED)) {
        /* Their numbers are the same. */
        count(memory, (enum mpi_types_counter)cause, 1);
        return;
    }
    uint32_t slot = (segment.message_id >> MPI_TYPES_SLOT_SHIFT) % MPI_TYPES_SLOTS;
    record_t *record = record_of(task, cluster, slot);
    if (!likely(record != NULL)) {
        count(memory, MPI_TYPES_UNKNOWN, 1);
        return;
    }
    record->active[hpu] = segment.message_id;
    /* No message has the id 0, and a record that is being prepared has no other. */
    if (!likely(record->id == segment.message_id) || !likely(segment.message_id != 0)) {
        segment_t copy = segment;
        if (!look_for(memory, record, slot, &copy)) {
            record->active[hpu] = 0;
            return;
        }
    }
    if (!likely(record->closed != segment.message_id)) {
        record->active[hpu] = 0;
        segment_t copy = segment;
        if (record->request.source == segment.source && record->request.port == segment.port) {
            again(memory, &copy, true);
        } else {
            count(memory, MPI_TYPES_FOREIGN, 1);
        }
        return;
    }
    take(task, memory, record, slot, hpu, &segment);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = mpi_types_ph;
    *th = NULL;
    *handler_mem = NULL;
}
