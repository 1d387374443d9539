/* The border between spinneret and MPI: what Rust calls, in types that are the same with every MPI.
 *
 * It is compiled with the user's MPI compiler when a program starts. Every function gives MPI's own code of an error, or 0.
 * Handles are 64 bits that hold whatever a handle is in this MPI, a pointer or a number; 0 stands for the null handle where
 * one can be given. Ranks and tags of -1 mean any. The declarations are those of src/functions.rs, which a test compares. */
#ifndef SPINNERET_MPI_H
#define SPINNERET_MPI_H

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The status that MPI gives for a message. */
struct spinneret_mpi_status {
    int64_t bytes;     /* -1 if it cannot be said */
    int32_t source;    /* -1 if there is none */
    int32_t tag;       /* -1 if there is none */
    int32_t cancelled; /* 1 if nothing was transferred, because it was called off */
};

/* world.c: start, end, and what is known of the library */
int32_t spinneret_mpi_is_same_library(void);
int32_t spinneret_mpi_init(void);
int32_t spinneret_mpi_attach(int32_t *is_initialised);
int32_t spinneret_mpi_finalize(void);
int32_t spinneret_mpi_abort(int32_t code);
int32_t spinneret_mpi_error(int32_t code, int32_t *error_class, uint8_t *text, int32_t capacity);
int32_t spinneret_mpi_version(uint8_t *text, int32_t capacity, int32_t *version, int32_t *subversion);
/* MPI_ANY_SOURCE, MPI_PROC_NULL and MPI_ANY_TAG, which are other numbers in each MPI */
int32_t spinneret_mpi_wildcards(int32_t *three);

/* world.c: communicators */
int32_t spinneret_mpi_world(uint64_t *comm);
int32_t spinneret_mpi_alone(uint64_t *comm);
int32_t spinneret_mpi_rank(uint64_t comm, int32_t *rank);
int32_t spinneret_mpi_size(uint64_t comm, int32_t *size);
int32_t spinneret_mpi_dup(uint64_t comm, uint64_t *copy);
int32_t spinneret_mpi_world_ranks(uint64_t comm, int32_t *ranks);
int32_t spinneret_mpi_comm_free(uint64_t comm);

/* world.c: collective operations; counts are bytes, those of ireduce numbers of a kind: 0 to 3 signed, of 8 to 64 bits,
 * 4 float, 5 double, 6 to 9 unsigned. Its operations are minimum, maximum, sum, product; without a root, -1, all ranks get the
 * result. The root's parts of igather and iscatter are those of all ranks in their order, others have their own. */
int32_t spinneret_mpi_barrier(uint64_t comm);
int32_t spinneret_mpi_allgather(uint64_t comm, const uint8_t *from, int32_t count, uint8_t *to);
int32_t spinneret_mpi_ibarrier(uint64_t comm, uint64_t *request);
int32_t spinneret_mpi_ibcast(uint64_t comm, uint8_t *bytes, int32_t count, int32_t root, uint64_t *request);
int32_t spinneret_mpi_ireduce(uint64_t comm, int32_t root, int32_t operation, int32_t kind, uint8_t *numbers, int32_t count, uint64_t *request);
int32_t spinneret_mpi_igather(uint64_t comm, int32_t root, uint8_t *parts, int32_t count, uint64_t *request);
int32_t spinneret_mpi_iscatter(uint64_t comm, int32_t root, uint8_t *parts, int32_t count, uint64_t *request);

/* messages.c: bytes from one rank to another */
int32_t spinneret_mpi_send(uint64_t comm, const uint8_t *bytes, int32_t count, int32_t destination, int32_t tag);
int32_t spinneret_mpi_recv(uint64_t comm, uint8_t *bytes, int32_t count, int32_t source, int32_t tag, struct spinneret_mpi_status *status);
int32_t spinneret_mpi_iprobe(uint64_t comm, int32_t source, int32_t tag, int32_t *is_there, struct spinneret_mpi_status *status);
int32_t spinneret_mpi_mprobe(uint64_t comm, int32_t source, int32_t tag, uint64_t *message, struct spinneret_mpi_status *status);
int32_t spinneret_mpi_mrecv(uint64_t message, uint8_t *bytes, int32_t count, struct spinneret_mpi_status *status);
/* Begins a request, or prepares one: kinds are those of the enumeration below. A type of 0 is MPI_BYTE; another one may not
 * be freed as long as there is the request: MPICH 4.0 looks at it. */
int32_t spinneret_mpi_begin(int32_t kind, uint64_t comm, uint8_t *memory, int32_t count, uint64_t type, int32_t peer, int32_t tag, uint64_t *request);
int32_t spinneret_mpi_start(uint64_t *request);
int32_t spinneret_mpi_test(uint64_t *request, int32_t *is_done, struct spinneret_mpi_status *status);
int32_t spinneret_mpi_wait(uint64_t *request, struct spinneret_mpi_status *status);
int32_t spinneret_mpi_cancel(uint64_t *request);
int32_t spinneret_mpi_request_free(uint64_t *request);

/* types.c: datatypes. Counts and displacements that do not fit into an int need an MPI of version 4. */
int32_t spinneret_mpi_named(const uint8_t *name, uint64_t *type);
int32_t spinneret_mpi_type_name(uint64_t type, uint8_t *text, int32_t capacity);
/* Makes a type by a constructor, from the numbers that contents returns: length integers, addresses and children */
int32_t spinneret_mpi_make(int32_t combiner, int32_t length, const int64_t *integers, const int64_t *addresses, const uint64_t *children, uint64_t *type);
int32_t spinneret_mpi_commit(uint64_t type);
int32_t spinneret_mpi_type_free(uint64_t type);
/* size, lower bound, extent, true lower bound, true extent */
int32_t spinneret_mpi_bounds(uint64_t type, int64_t *five);

/* types.c: how a datatype was made, and bytes in its order */
/* numbers of integers, addresses, large counts and types */
int32_t spinneret_mpi_envelope(uint64_t type, int32_t *combiner, int64_t *four);
int32_t spinneret_mpi_contents(uint64_t type, int32_t combiner, const int64_t *four, int64_t *integers, int64_t *addresses, int64_t *counts, uint64_t *types);
int32_t spinneret_mpi_pack(uint64_t type, const uint8_t *memory, int32_t count, uint8_t *packed, int32_t size, int32_t *position);
int32_t spinneret_mpi_unpack(uint64_t type, const uint8_t *packed, int32_t size, int32_t *position, uint8_t *memory, int32_t count);

/* Our numbers for requests. */
enum { SPINNERET_ISEND, SPINNERET_ISSEND, SPINNERET_IRECV, SPINNERET_SEND_INIT, SPINNERET_RECV_INIT };

/* Our numbers for constructors. */
enum {
    SPINNERET_NAMED, SPINNERET_DUP, SPINNERET_CONTIGUOUS, SPINNERET_VECTOR, SPINNERET_HVECTOR, SPINNERET_INDEXED,
    SPINNERET_HINDEXED, SPINNERET_INDEXED_BLOCK, SPINNERET_HINDEXED_BLOCK, SPINNERET_STRUCT, SPINNERET_SUBARRAY,
    SPINNERET_DARRAY, SPINNERET_RESIZED
};

/* Our numbers for distributions: block, cyclic, none. The argument of MPI's choice is -1. */
enum { SPINNERET_BLOCK, SPINNERET_CYCLIC, SPINNERET_NONE };

/* Between handles of this MPI and 64 bits. */
#define SPINNERET_HANDLE(Type, to, from)                                            \
    _Static_assert(sizeof(Type) <= sizeof(uint64_t), "a handle has 64 bits or less"); \
    static inline uint64_t to(Type handle) {                                        \
        uint64_t bits = 0;                                                          \
        memcpy(&bits, &handle, sizeof handle);                                      \
        return bits;                                                                \
    }                                                                               \
    static inline Type from(uint64_t bits) {                                        \
        Type handle;                                                                \
        memcpy(&handle, &bits, sizeof handle);                                      \
        return handle;                                                              \
    }
SPINNERET_HANDLE(MPI_Comm, comm_bits, comm_of)
SPINNERET_HANDLE(MPI_Request, request_bits, request_of)
SPINNERET_HANDLE(MPI_Message, message_bits, message_of)
SPINNERET_HANDLE(MPI_Datatype, type_bits, type_of)

#endif
