/*
 * MPI for handlers under its own names, as an Emissary API (emissary.h, docs/host/rpc.md#mpi): a source that includes
 * this header compiles for handlers, and with the host's mpi.h for the host. Its messages are copied with each
 * call, at most 1 MiB. The program that opened the context has started MPI, and ends it.
 *
 * An HPU keeps its last 16 requests of MPI_Isend and MPI_Irecv. A handler ends its requests before it returns.
 */
#ifndef EMISSARY_MPI_H
#define EMISSARY_MPI_H

#ifndef __riscv
#include <mpi.h>
#else

#include <stddef.h>
#include <stdint.h>

#include "emissary.h"
#include "spin_mpi.h"

enum {
    _MPI_Send_idx = 1,
    _MPI_Recv_idx = 2,
    _MPI_Isend_idx = 3,
    _MPI_Irecv_idx = 4,
    _MPI_Wait_idx = 5,
    _MPI_Test_idx = 6,
    _MPI_Barrier_idx = 7,
    _MPI_Bcast_idx = 8,
    _MPI_Reduce_idx = 9,
    _MPI_Allreduce_idx = 10,
    _MPI_Gather_idx = 11,
    _MPI_Scatter_idx = 12,
    _MPI_Sendrecv_idx = 13,
    _MPI_Probe_idx = 14,
    _MPI_Comm_rank_idx = 15,
    _MPI_Comm_size_idx = 16,
};

/* A call that the host refused as a whole is MPI_ERR_OTHER, too. */
enum { MPI_SUCCESS = 0, MPI_ERR_OTHER = 1, MPI_ERR_ARG = 2, MPI_ERR_TRUNCATE = 3, MPI_ERR_REQUEST = 4 };

typedef struct emissary_mpi_comm *MPI_Comm;
#define MPI_COMM_WORLD ((MPI_Comm)SPIN_MPI_COMM_WORLD)
#define MPI_COMM_SELF ((MPI_Comm)SPIN_MPI_COMM_SELF)

typedef struct emissary_mpi_datatype *MPI_Datatype;
#define MPI_BYTE ((MPI_Datatype)SPIN_MPI_DATATYPE_BYTE)
#define MPI_CHAR MPI_BYTE
#define MPI_C_BOOL MPI_BYTE
#define MPI_INT8_T ((MPI_Datatype)SPIN_MPI_DATATYPE_INT8)
#define MPI_INT16_T ((MPI_Datatype)SPIN_MPI_DATATYPE_INT16)
#define MPI_INT32_T ((MPI_Datatype)SPIN_MPI_DATATYPE_INT32)
#define MPI_INT64_T ((MPI_Datatype)SPIN_MPI_DATATYPE_INT64)
#define MPI_UINT8_T ((MPI_Datatype)SPIN_MPI_DATATYPE_UINT8)
#define MPI_UINT16_T ((MPI_Datatype)SPIN_MPI_DATATYPE_UINT16)
#define MPI_UINT32_T ((MPI_Datatype)SPIN_MPI_DATATYPE_UINT32)
#define MPI_UINT64_T ((MPI_Datatype)SPIN_MPI_DATATYPE_UINT64)
#define MPI_FLOAT ((MPI_Datatype)SPIN_MPI_DATATYPE_FLOAT)
#define MPI_DOUBLE ((MPI_Datatype)SPIN_MPI_DATATYPE_DOUBLE)
/* The types of C have the widths of handlers: a long has 32 bits. */
#define MPI_SIGNED_CHAR MPI_INT8_T
#define MPI_UNSIGNED_CHAR MPI_UINT8_T
#define MPI_SHORT MPI_INT16_T
#define MPI_UNSIGNED_SHORT MPI_UINT16_T
#define MPI_INT MPI_INT32_T
#define MPI_UNSIGNED MPI_UINT32_T
#define MPI_LONG MPI_INT32_T
#define MPI_UNSIGNED_LONG MPI_UINT32_T
#define MPI_LONG_LONG MPI_INT64_T
#define MPI_UNSIGNED_LONG_LONG MPI_UINT64_T

typedef struct emissary_mpi_op *MPI_Op;
#define MPI_MIN ((MPI_Op)SPIN_MPI_OPERATION_MIN)
#define MPI_MAX ((MPI_Op)SPIN_MPI_OPERATION_MAX)
#define MPI_SUM ((MPI_Op)SPIN_MPI_OPERATION_SUM)
#define MPI_PROD ((MPI_Op)SPIN_MPI_OPERATION_PROD)

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int emissary_bytes; /* MPI_Get_count tells elements */
} MPI_Status;

typedef uint32_t MPI_Request;
#define MPI_REQUEST_NULL 0u
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_IN_PLACE ((void *)-1)
#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-1)
#define MPI_UNDEFINED (-32766)

/* Calls a function. Results below 0 are errors. */
#define EMISSARY_MPI(name, sends, receives, ...) \
    ((int64_t)_emissary_exec(_PACK_EMIS_IDS(EMIS_ID_MPI, _MPI_##name##_idx, sends, receives), __VA_ARGS__))

static inline int emissary_mpi_code(int64_t result) { return result < 0 ? (int)-result : MPI_SUCCESS; }

/* Longest area of a call. */
#define EMISSARY_MPI_MOST_BYTES (1u << 20)

/* Bytes of elements, or more than an area may have. */
static inline uint32_t emissary_mpi_bytes(int count, MPI_Datatype datatype) {
    uint32_t size = spin_mpi_datatype_size((uint32_t)(uintptr_t)datatype);
    return count < 0 || size == 0 ? UINT32_MAX : spin_service_times((uint32_t)count, size);
}

/* An area of no bytes may be NULL, which the encoding has no place for. */
static inline const void *emissary_mpi_area(const void *area, uint32_t bytes) { return bytes != 0 ? area : (const void *)4; }

static inline int MPI_Comm_rank(MPI_Comm comm, int *rank) {
    int64_t result = EMISSARY_MPI(Comm_rank, 0, 0, comm);
    *rank = result < 0 ? *rank : (int)result;
    return emissary_mpi_code(result);
}

static inline int MPI_Comm_size(MPI_Comm comm, int *size) {
    int64_t result = EMISSARY_MPI(Comm_size, 0, 0, comm);
    *size = result < 0 ? *size : (int)result;
    return emissary_mpi_code(result);
}

static inline int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count) {
    uint32_t size = spin_mpi_datatype_size((uint32_t)(uintptr_t)datatype), bytes = (uint32_t)status->emissary_bytes;
    *count = size == 0 || bytes % size != 0 ? MPI_UNDEFINED : (int)(bytes / size);
    return size == 0 ? MPI_ERR_ARG : MPI_SUCCESS;
}

static inline int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    uint32_t bytes = emissary_mpi_bytes(count, datatype);
    if (bytes > EMISSARY_MPI_MOST_BYTES) {
        return MPI_ERR_ARG;
    }
    const void *area = emissary_mpi_area(buf, bytes);
    return emissary_mpi_code(EMISSARY_MPI(Send, 1, 0, area, bytes, area, count, datatype, dest, tag, comm));
}

static inline int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                           MPI_Status *status) {
    MPI_Status unused;
    MPI_Status *to = status == MPI_STATUS_IGNORE ? &unused : status;
    uint32_t bytes = emissary_mpi_bytes(count, datatype);
    if (bytes > EMISSARY_MPI_MOST_BYTES) {
        return MPI_ERR_ARG;
    }
    const void *area = emissary_mpi_area(buf, bytes);
    return emissary_mpi_code(EMISSARY_MPI(Recv, 0, 2, area, bytes, to, sizeof(*to), area, count, datatype, source, tag, comm, to));
}

static inline int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Status unused;
    MPI_Status *to = status == MPI_STATUS_IGNORE ? &unused : status;
    return emissary_mpi_code(EMISSARY_MPI(Probe, 0, 1, to, sizeof(*to), source, tag, comm, to));
}

static inline int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                               int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
    MPI_Status unused;
    MPI_Status *to = status == MPI_STATUS_IGNORE ? &unused : status;
    uint32_t out = emissary_mpi_bytes(sendcount, sendtype), in = emissary_mpi_bytes(recvcount, recvtype);
    if (out > EMISSARY_MPI_MOST_BYTES || in > EMISSARY_MPI_MOST_BYTES) {
        return MPI_ERR_ARG;
    }
    const void *from = emissary_mpi_area(sendbuf, out), *into = emissary_mpi_area(recvbuf, in);
    return emissary_mpi_code(EMISSARY_MPI(Sendrecv, 1, 2, from, out, into, in, to, sizeof(*to), from, sendcount, sendtype, dest,
                                          sendtag, into, recvcount, recvtype, source, recvtag, comm, to));
}

/* ---- Requests ---- */

/* Where the message of a request comes to: the last requests of each HPU, in L2, for all files of a program. */
struct emissary_mpi_request {
    MPI_Request handle;
    uint32_t bytes; /* 0 of a send */
    void *area;
};
#define EMISSARY_MPI_REQUESTS 16
__attribute__((weak)) struct emissary_mpi_requests {
    uint32_t next;
    struct emissary_mpi_request all[EMISSARY_MPI_REQUESTS];
} emissary_mpi_requests[CORE_COUNT];

static inline struct emissary_mpi_requests *emissary_mpi_own(void) {
    return &emissary_mpi_requests[rt_cluster_id() * NB_CORES + rt_core_id()];
}

static inline int emissary_mpi_begin(int64_t result, void *area, uint32_t bytes, MPI_Request *request) {
    if (result > 0) {
        struct emissary_mpi_requests *own = emissary_mpi_own();
        *request = (MPI_Request)result;
        own->all[own->next++ % EMISSARY_MPI_REQUESTS] = (struct emissary_mpi_request){*request, bytes, area};
    }
    return emissary_mpi_code(result);
}

static inline struct emissary_mpi_request *emissary_mpi_find(MPI_Request request) {
    struct emissary_mpi_request *is = emissary_mpi_own()->all, *end = is + EMISSARY_MPI_REQUESTS;
    while (is != end && is->handle != request) {
        ++is;
    }
    return is == end ? NULL : is;
}

static inline int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                            MPI_Request *request) {
    uint32_t bytes = emissary_mpi_bytes(count, datatype);
    if (bytes > EMISSARY_MPI_MOST_BYTES) {
        return MPI_ERR_ARG;
    }
    const void *area = emissary_mpi_area(buf, bytes);
    int64_t result = EMISSARY_MPI(Isend, 1, 0, area, bytes, area, count, datatype, dest, tag, comm);
    return emissary_mpi_begin(result, NULL, 0, request);
}

static inline int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                            MPI_Request *request) {
    uint32_t bytes = emissary_mpi_bytes(count, datatype);
    if (bytes > EMISSARY_MPI_MOST_BYTES) {
        return MPI_ERR_ARG;
    }
    return emissary_mpi_begin(EMISSARY_MPI(Irecv, 0, 0, count, datatype, source, tag, comm), buf, bytes, request);
}

/* Wait and Test: the request is freed if it has ended. */
#define EMISSARY_MPI_END(name, request, status, result) do { \
        struct emissary_mpi_request *is = emissary_mpi_find(request); \
        if (is == NULL) { \
            return MPI_ERR_REQUEST; \
        } \
        MPI_Status unused, *to = (status) == MPI_STATUS_IGNORE ? &unused : (status); \
        const void *area = emissary_mpi_area(is->area, is->bytes); \
        (result) = EMISSARY_MPI(name, 0, 2, area, is->bytes, to, sizeof(*to), request, area, to); \
        if ((result) != 0) { \
            is->handle = MPI_REQUEST_NULL; \
            (request) = MPI_REQUEST_NULL; \
        } \
    } while (false)

static inline int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    int64_t result = 0;
    if (*request != MPI_REQUEST_NULL) {
        EMISSARY_MPI_END(Wait, *request, status, result);
    }
    return emissary_mpi_code(result);
}

static inline int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    int64_t result = 1;
    if (*request != MPI_REQUEST_NULL) {
        EMISSARY_MPI_END(Test, *request, status, result);
    }
    *flag = result > 0;
    return emissary_mpi_code(result);
}

/* ---- Collective functions: all ranks call the same ones in the same order ---- */

static inline int MPI_Barrier(MPI_Comm comm) { return emissary_mpi_code(EMISSARY_MPI(Barrier, 0, 0, comm)); }

static inline int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    uint32_t bytes = emissary_mpi_bytes(count, datatype);
    if (bytes > EMISSARY_MPI_MOST_BYTES) {
        return MPI_ERR_ARG;
    }
    const void *area = emissary_mpi_area(buffer, bytes);
    return emissary_mpi_code(EMISSARY_MPI(Bcast, 1, 1, area, bytes, area, bytes, area, count, datatype, root, comm));
}

static inline int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    uint32_t bytes = emissary_mpi_bytes(count, datatype);
    if (bytes > EMISSARY_MPI_MOST_BYTES) {
        return MPI_ERR_ARG;
    }
    const void *into = emissary_mpi_area(recvbuf, bytes);
    const void *from = sendbuf == MPI_IN_PLACE ? into : emissary_mpi_area(sendbuf, bytes);
    return emissary_mpi_code(EMISSARY_MPI(Allreduce, 1, 1, from, bytes, into, bytes, from, into, count, datatype, op, comm));
}

/* Ranks other than the root need no memory for the result. */
static inline int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                             MPI_Comm comm) {
    uint32_t bytes = emissary_mpi_bytes(count, datatype);
    int rank = 0, code = MPI_Comm_rank(comm, &rank);
    if (code != MPI_SUCCESS || bytes > EMISSARY_MPI_MOST_BYTES) {
        return code != MPI_SUCCESS ? code : MPI_ERR_ARG;
    }
    const void *into = rank == root ? emissary_mpi_area(recvbuf, bytes) : NULL;
    const void *from = sendbuf == MPI_IN_PLACE ? into : emissary_mpi_area(sendbuf, bytes);
    int64_t result = rank == root
                         ? EMISSARY_MPI(Reduce, 1, 1, from, bytes, into, bytes, from, into, count, datatype, op, root, comm)
                         : EMISSARY_MPI(Reduce, 1, 0, from, bytes, from, into, count, datatype, op, root, comm);
    return emissary_mpi_code(result);
}

/* Finds what gathering and scattering need: whether this rank is the root, and the bytes of all parts there. */
static inline int emissary_mpi_parts(int root, MPI_Comm comm, uint32_t mine, uint32_t each, int *is_root, uint32_t *all) {
    int rank = 0, size = 0, code = MPI_Comm_rank(comm, &rank);
    code = code != MPI_SUCCESS ? code : MPI_Comm_size(comm, &size);
    *is_root = rank == root;
    *all = *is_root ? spin_service_times(each, (uint32_t)size) : 0;
    bool fits = mine <= EMISSARY_MPI_MOST_BYTES && *all <= EMISSARY_MPI_MOST_BYTES && (!*is_root || mine == each);
    return code != MPI_SUCCESS || fits ? code : MPI_ERR_ARG;
}

static inline int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                             MPI_Datatype recvtype, int root, MPI_Comm comm) {
    uint32_t mine = emissary_mpi_bytes(sendcount, sendtype), all;
    int is_root, code = emissary_mpi_parts(root, comm, mine, emissary_mpi_bytes(recvcount, recvtype), &is_root, &all);
    if (code != MPI_SUCCESS) {
        return code;
    }
    const void *from = emissary_mpi_area(sendbuf, mine), *into = is_root ? emissary_mpi_area(recvbuf, all) : NULL;
    int64_t result = is_root ? EMISSARY_MPI(Gather, 1, 1, from, mine, into, all, from, into, sendcount, sendtype, root, comm)
                             : EMISSARY_MPI(Gather, 1, 0, from, mine, from, into, sendcount, sendtype, root, comm);
    return emissary_mpi_code(result);
}

static inline int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                              MPI_Datatype recvtype, int root, MPI_Comm comm) {
    uint32_t mine = emissary_mpi_bytes(recvcount, recvtype), all;
    int is_root, code = emissary_mpi_parts(root, comm, mine, emissary_mpi_bytes(sendcount, sendtype), &is_root, &all);
    if (code != MPI_SUCCESS) {
        return code;
    }
    const void *from = is_root ? emissary_mpi_area(sendbuf, all) : NULL, *into = emissary_mpi_area(recvbuf, mine);
    int64_t result = is_root ? EMISSARY_MPI(Scatter, 1, 1, from, all, into, mine, from, into, recvcount, recvtype, root, comm)
                             : EMISSARY_MPI(Scatter, 0, 1, into, mine, from, into, recvcount, recvtype, root, comm);
    return emissary_mpi_code(result);
}

#endif
#endif
