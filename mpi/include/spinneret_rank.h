/*
 * Messages of an MPI program over a spinneret NIC. Made from mpi/c; docs/host/mpi.md explains it.
 *
 * Calls return the values of those of spinneret.h. Those that take an MPI_Comm or an MPI_Datatype take what spinneret_comm() and
 * spinneret_type() make of it.
 */

#ifndef SPINNERET_RANK_H
#define SPINNERET_RANK_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "spinneret.h"

/* Other names of MPI_ANY_SOURCE and MPI_ANY_TAG. */
#define SPINNERET_ANY_SOURCE MPI_ANY_SOURCE
#define SPINNERET_ANY_TAG MPI_ANY_TAG

/* A communicator, as the calls below take it. */
static inline uint64_t spinneret_comm(MPI_Comm comm) {
    uint64_t bytes = 0;
    memcpy(&bytes, &comm, sizeof comm);
    return bytes;
}

/* A datatype, as the calls below take it. */
static inline uint64_t spinneret_type(MPI_Datatype type) {
    uint64_t bytes = 0;
    memcpy(&bytes, &type, sizeof type);
    return bytes;
}


/**
 * A message was longer than its receive; nothing of it was written.
 */
#define SPINNERET_ERROR_TRUNCATED -9

/**
 * MPI refused something.
 */
#define SPINNERET_ERROR_MPI -10

/**
 * Bytes of the type that have the same place are equal in all messages, so that a receive of it is allowed.
 */
#define SPINNERET_EQUAL_COPIES 1

/**
 * A rank with its NIC.
 */
typedef struct spinneret_rank spinneret_rank;

/**
 * How a rank is opened. 0 stands for what is usual.
 */
typedef struct spinneret_rank_options {
    /**
     * Bytes of memory that the NIC can reach, for spinneret_rank_alloc; 134217728 if it is 0.
     */
    uint32_t host_bytes;
    /**
     * Bytes of the NIC's memory for tables of types that follow no pattern; 524288 if it is 0.
     */
    uint32_t table_bytes;
    /**
     * Segments of a message that are under way at a time; 16 if it is 0.
     */
    uint16_t window;
} spinneret_rank_options;

/**
 * Returns the counters.
 */
typedef struct spinneret_rank_counts {
    /**
     * Messages that handlers on the NIC have put in place.
     */
    uint64_t placed;
    /**
     * Messages that the host has unpacked, because their type does not fit the NIC.
     */
    uint64_t unpacked;
    /**
     * Messages that were longer than their receive.
     */
    uint64_t truncated;
} spinneret_rank_counts;

/**
 * The result of a request.
 */
typedef struct spinneret_status {
    /**
     * Bytes of the message.
     */
    uint32_t bytes;
    /**
     * The other rank, in the communicator of the request; MPI_PROC_NULL if there was none.
     */
    int source;
    /**
     * The tag; MPI_ANY_TAG if there was no message.
     */
    int tag;
} spinneret_status;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Opens the NIC of this rank by its name, as spinneret_open does, with the program of the handlers mpi_types. All ranks of a
 * communicator call it, after MPI_Init, each with a NIC of its own in one network. comm is spinneret_comm of it.
 * name and program are strings; the options can be read, or are null; comm is a communicator; MPI runs, and this thread
 * may call it; the handle is left at rank.
 */
int spinneret_rank_open(const char *name,
                        const char *program,
                        uint64_t comm,
                        const struct spinneret_rank_options *options,
                        struct spinneret_rank **rank);

/**
 * Closes a rank, once all others close theirs; its memory and requests are freed then. The handle is used up, even if something
 * fails.
 */
int spinneret_rank_close(struct spinneret_rank *rank);

/**
 * Takes memory that the NIC can reach: messages are received into it and sent from it. It begins at a multiple of 64.
 * Its address is left at memory.
 */
int spinneret_rank_alloc(struct spinneret_rank *rank,
                         size_t bytes,
                         void **memory);

/**
 * Gives memory back that no request uses any more.
 */
int spinneret_rank_release(struct spinneret_rank *rank, void *memory);

/**
 * Gives a number to a communicator, of some of the ranks of the one that was opened, which has number 0. All of its ranks call
 * it, and those that do so for several in the same order. comm is spinneret_comm of it.
 * comm is a communicator; MPI runs, and this thread may call it; the number is left at communicator.
 */
int spinneret_rank_communicator(struct spinneret_rank *rank,
                                uint64_t comm,
                                uint32_t *communicator);

/**
 * Waits until all ranks of a communicator have called this. On simulated NICs this is to be used in place of MPI_Barrier,
 * which lets no simulated time pass.
 */
int spinneret_rank_barrier(struct spinneret_rank *rank,
                           uint32_t communicator);

/**
 * Says that the program has computed for so long: on a simulated NIC that much time passes.
 */
int spinneret_rank_compute(struct spinneret_rank *rank, uint64_t nanoseconds);

/**
 * Time since the NIC was opened, in nanoseconds: simulated for a simulated one.
 * The time is left at nanoseconds.
 */
int spinneret_rank_now(struct spinneret_rank *rank, uint64_t *nanoseconds);

/**
 * Returns the counters.
 * It is left at counts.
 */
int spinneret_rank_count(struct spinneret_rank *rank, struct spinneret_rank_counts *counts);

/**
 * Prepares a receive of count elements of a type into memory of spinneret_rank_alloc, from a rank of a communicator with a
 * tag, or MPI_ANY_SOURCE and MPI_ANY_TAG; from MPI_PROC_NULL nothing comes, so that it ends when it is started.
 * type is spinneret_type of it; it need not be committed, and may be freed afterwards. flags is 0
 * or SPINNERET_EQUAL_COPIES.
 * type is a datatype; MPI runs, and this thread may call it; the number of the request is left at request.
 */
int spinneret_rank_recv_init(struct spinneret_rank *rank,
                             void *memory,
                             int count,
                             uint64_t type,
                             int source,
                             int tag,
                             uint32_t communicator,
                             uint32_t flags,
                             uint64_t *request);

/**
 * Prepares a send of count elements of a type from memory of spinneret_rank_alloc, to a rank of a communicator, with a tag;
 * one to MPI_PROC_NULL ends when it is started.
 * type is spinneret_type of it; it need not be committed, and may be freed afterwards.
 * As for spinneret_rank_recv_init.
 */
int spinneret_rank_send_init(struct spinneret_rank *rank,
                             const void *memory,
                             int count,
                             uint64_t type,
                             int destination,
                             int tag,
                             uint32_t communicator,
                             uint64_t *request);

/**
 * Starts a request that is not active.
 */
int spinneret_rank_start(struct spinneret_rank *rank, uint64_t request);

/**
 * Whether a request has ended: 1 if it has, and can be started again, 0 if not. Time does not pass here on a simulated NIC.
 * The result is stored at status, unless that is null.
 */
int spinneret_rank_test(struct spinneret_rank *rank,
                        uint64_t request,
                        struct spinneret_status *status);

/**
 * Waits until a request has ended, for at most this many nanoseconds.
 * As for spinneret_rank_test.
 */
int spinneret_rank_wait(struct spinneret_rank *rank,
                        uint64_t request,
                        uint64_t nanoseconds,
                        struct spinneret_status *status);

/**
 * Cancels a receive that has no message yet, as MPI_Cancel: 1 if it is inactive then, 0 if it completes normally.
 */
int spinneret_rank_cancel(struct spinneret_rank *rank,
                          uint64_t request);

/**
 * Frees a request. An active one ends first, and what comes of it is lost.
 */
int spinneret_rank_free(struct spinneret_rank *rank, uint64_t request);

/**
 * Starts count requests that are not active, each of which is there once. Nothing is started if that is not so. It takes less
 * of the host's time than as many calls of spinneret_rank_start.
 * That many numbers can be read at requests.
 */
int spinneret_rank_start_all(struct spinneret_rank *rank,
                             size_t count,
                             const uint64_t *requests);

/**
 * Whether all of these requests have ended: 1 if they have, and can be started again, 0 if not. Time does not pass here on a
 * simulated NIC.
 * That many numbers can be read at requests. The result of each is stored at statuses, unless that is null: it has room for that
 * many.
 */
int spinneret_rank_test_all(struct spinneret_rank *rank,
                            size_t count,
                            const uint64_t *requests,
                            struct spinneret_status *statuses);

/**
 * Waits until all of these requests have ended, for at most this many nanoseconds.
 * As for spinneret_rank_test_all.
 */
int spinneret_rank_wait_all(struct spinneret_rank *rank,
                            size_t count,
                            const uint64_t *requests,
                            uint64_t nanoseconds,
                            struct spinneret_status *statuses);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SPINNERET_RANK_H */


/* Result of a request, for MPI_Get_count and MPI_Get_elements with its type, as MPI_Wait would store it. */
static inline int spinneret_status_of_mpi(const spinneret_status *ended, MPI_Status *status) {
    memset(status, 0, sizeof *status);
    status->MPI_SOURCE = ended->source;
    status->MPI_TAG = ended->tag;
    status->MPI_ERROR = MPI_SUCCESS;
    int code = MPI_Status_set_cancelled(status, 0);
    return code != MPI_SUCCESS ? code : MPI_Status_set_elements(status, MPI_BYTE, (int)ended->bytes);
}
