/*
 * MPI for handlers. Ranks and tags of -1 mean any. A call that MPI refuses gives SPIN_SERVICE_FAILED, and a number: 1 for a message that
 * does not fit, else 2.
 *
 * Made of the trait `Messages` by spinneret_rpc::service: change that. A function gives SPIN_SERVICE_DONE,
 * or which check refused it (spin_service.h); what it gives besides counts only if it is done.
 */
#ifndef SPIN_MPI_H
#define SPIN_MPI_H

#include <spin_service.h>

/* Handles: `Comm`. */
typedef uint32_t spin_mpi_comm_t;
#define SPIN_MPI_COMM_WORLD SPIN_SERVICE_PREDEFINED(1, 0)
#define SPIN_MPI_COMM_SELF SPIN_SERVICE_PREDEFINED(1, 1)

/* Handles: `Datatype`. */
typedef uint32_t spin_mpi_datatype_t;
#define SPIN_MPI_DATATYPE_BYTE SPIN_SERVICE_PREDEFINED(2, 0)
#define SPIN_MPI_DATATYPE_INT8 SPIN_SERVICE_PREDEFINED(2, 1)
#define SPIN_MPI_DATATYPE_INT16 SPIN_SERVICE_PREDEFINED(2, 2)
#define SPIN_MPI_DATATYPE_INT32 SPIN_SERVICE_PREDEFINED(2, 3)
#define SPIN_MPI_DATATYPE_INT64 SPIN_SERVICE_PREDEFINED(2, 4)
#define SPIN_MPI_DATATYPE_FLOAT SPIN_SERVICE_PREDEFINED(2, 5)
#define SPIN_MPI_DATATYPE_DOUBLE SPIN_SERVICE_PREDEFINED(2, 6)
#define SPIN_MPI_DATATYPE_UINT8 SPIN_SERVICE_PREDEFINED(2, 7)
#define SPIN_MPI_DATATYPE_UINT16 SPIN_SERVICE_PREDEFINED(2, 8)
#define SPIN_MPI_DATATYPE_UINT32 SPIN_SERVICE_PREDEFINED(2, 9)
#define SPIN_MPI_DATATYPE_UINT64 SPIN_SERVICE_PREDEFINED(2, 10)

/* Bytes of the type that it names; 0 for unknown ones, which the host refuses. */
static inline uint32_t spin_mpi_datatype_size(spin_mpi_datatype_t handle) {
    switch (handle) {
    case SPIN_MPI_DATATYPE_BYTE: return 1;
    case SPIN_MPI_DATATYPE_INT8: return 1;
    case SPIN_MPI_DATATYPE_INT16: return 2;
    case SPIN_MPI_DATATYPE_INT32: return 4;
    case SPIN_MPI_DATATYPE_INT64: return 8;
    case SPIN_MPI_DATATYPE_FLOAT: return 4;
    case SPIN_MPI_DATATYPE_DOUBLE: return 8;
    case SPIN_MPI_DATATYPE_UINT8: return 1;
    case SPIN_MPI_DATATYPE_UINT16: return 2;
    case SPIN_MPI_DATATYPE_UINT32: return 4;
    case SPIN_MPI_DATATYPE_UINT64: return 8;
    default: return 0;
    }
}

/* Handles: `Operation`. */
typedef uint32_t spin_mpi_operation_t;
#define SPIN_MPI_OPERATION_MIN SPIN_SERVICE_PREDEFINED(3, 0)
#define SPIN_MPI_OPERATION_MAX SPIN_SERVICE_PREDEFINED(3, 1)
#define SPIN_MPI_OPERATION_SUM SPIN_SERVICE_PREDEFINED(3, 2)
#define SPIN_MPI_OPERATION_PROD SPIN_SERVICE_PREDEFINED(3, 3)

/* Handles: `Request`. */
typedef uint32_t spin_mpi_request_t;

/* MPI_Send.
 * The host may take its time. */
static inline spin_status_t spin_mpi_send(uint32_t count, spin_mpi_datatype_t datatype, const void *data,
        int32_t destination, int32_t tag, spin_mpi_comm_t comm) {
    SPIN_SERVICE_USES(0x73020001, 0xf75eca35949efabc, "spin_mpi_send");
    union {
        struct {
            uint32_t nobody;
            uint32_t count;
            spin_mpi_datatype_t datatype;
            struct spin_slice data;
            int32_t destination;
            int32_t tag;
            spin_mpi_comm_t comm;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            uint64_t nothing;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.count, 4);
    SPIN_SERVICE_PLACE(packet, in.datatype, 8);
    SPIN_SERVICE_PLACE(packet, in.data, 12);
    SPIN_SERVICE_PLACE(packet, in.destination, 20);
    SPIN_SERVICE_PLACE(packet, in.tag, 24);
    SPIN_SERVICE_PLACE(packet, in.comm, 28);
    struct spin_service call;
    spin_service_begin(&call, 0x73020001, &packet, 32, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.count = count;
    packet.in.datatype = datatype;
    packet.in.data = spin_service_in(&call, data, spin_service_times((uint32_t)count, spin_mpi_datatype_size(datatype)));
    packet.in.destination = destination;
    packet.in.tag = tag;
    packet.in.comm = comm;
    spin_status_t status = spin_service_end(&call);
    return status;
}

/* MPI_Ssend.
 * The host may take its time. */
static inline spin_status_t spin_mpi_ssend(uint32_t count, spin_mpi_datatype_t datatype, const void *data,
        int32_t destination, int32_t tag, spin_mpi_comm_t comm) {
    SPIN_SERVICE_USES(0x73020002, 0xcecf9d0fab2a9cb6, "spin_mpi_ssend");
    union {
        struct {
            uint32_t nobody;
            uint32_t count;
            spin_mpi_datatype_t datatype;
            struct spin_slice data;
            int32_t destination;
            int32_t tag;
            spin_mpi_comm_t comm;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            uint64_t nothing;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.count, 4);
    SPIN_SERVICE_PLACE(packet, in.datatype, 8);
    SPIN_SERVICE_PLACE(packet, in.data, 12);
    SPIN_SERVICE_PLACE(packet, in.destination, 20);
    SPIN_SERVICE_PLACE(packet, in.tag, 24);
    SPIN_SERVICE_PLACE(packet, in.comm, 28);
    struct spin_service call;
    spin_service_begin(&call, 0x73020002, &packet, 32, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.count = count;
    packet.in.datatype = datatype;
    packet.in.data = spin_service_in(&call, data, spin_service_times((uint32_t)count, spin_mpi_datatype_size(datatype)));
    packet.in.destination = destination;
    packet.in.tag = tag;
    packet.in.comm = comm;
    spin_status_t status = spin_service_end(&call);
    return status;
}

/* MPI_Recv, which gives the bytes, the source and the tag of the message.
 * The host may take its time. */
static inline spin_status_t spin_mpi_recv(uint32_t count, spin_mpi_datatype_t datatype, void *data,
        int32_t source, int32_t tag, spin_mpi_comm_t comm, uint32_t *bytes, int32_t *from, int32_t *with) {
    SPIN_SERVICE_USES(0x73020003, 0x64d5bd4b1707c53f, "spin_mpi_recv");
    union {
        struct {
            uint32_t nobody;
            uint32_t count;
            spin_mpi_datatype_t datatype;
            struct spin_slice data;
            int32_t source;
            int32_t tag;
            spin_mpi_comm_t comm;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            uint64_t nothing;
            uint32_t bytes;
            int32_t from;
            int32_t with;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.count, 4);
    SPIN_SERVICE_PLACE(packet, in.datatype, 8);
    SPIN_SERVICE_PLACE(packet, in.data, 12);
    SPIN_SERVICE_PLACE(packet, in.source, 20);
    SPIN_SERVICE_PLACE(packet, in.tag, 24);
    SPIN_SERVICE_PLACE(packet, in.comm, 28);
    SPIN_SERVICE_PLACE(packet, out.bytes, 16);
    SPIN_SERVICE_PLACE(packet, out.from, 20);
    SPIN_SERVICE_PLACE(packet, out.with, 24);
    struct spin_service call;
    spin_service_begin(&call, 0x73020003, &packet, 32, 28);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.count = count;
    packet.in.datatype = datatype;
    struct spin_slice slice_of_data = spin_service_out(&call, data, spin_service_times((uint32_t)count, spin_mpi_datatype_size(datatype)));
    packet.in.data = slice_of_data;
    packet.in.source = source;
    packet.in.tag = tag;
    packet.in.comm = comm;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        spin_service_take(&call, slice_of_data, data);
        *bytes = packet.out.bytes;
        *from = packet.out.from;
        *with = packet.out.with;
    }
    return status;
}

/* MPI_Isend. */
static inline spin_status_t spin_mpi_isend(uint32_t count, spin_mpi_datatype_t datatype, const void *data,
        int32_t destination, int32_t tag, spin_mpi_comm_t comm, spin_mpi_request_t *result) {
    SPIN_SERVICE_USES(0x73020004, 0xe16f911e3ac56b55, "spin_mpi_isend");
    union {
        struct {
            uint32_t nobody;
            uint32_t count;
            spin_mpi_datatype_t datatype;
            struct spin_slice data;
            int32_t destination;
            int32_t tag;
            spin_mpi_comm_t comm;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; spin_mpi_request_t value; } result;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.count, 4);
    SPIN_SERVICE_PLACE(packet, in.datatype, 8);
    SPIN_SERVICE_PLACE(packet, in.data, 12);
    SPIN_SERVICE_PLACE(packet, in.destination, 20);
    SPIN_SERVICE_PLACE(packet, in.tag, 24);
    SPIN_SERVICE_PLACE(packet, in.comm, 28);
    struct spin_service call;
    spin_service_begin(&call, 0x73020004, &packet, 32, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.count = count;
    packet.in.datatype = datatype;
    packet.in.data = spin_service_in(&call, data, spin_service_times((uint32_t)count, spin_mpi_datatype_size(datatype)));
    packet.in.destination = destination;
    packet.in.tag = tag;
    packet.in.comm = comm;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        *result = packet.out.result.value;
    }
    return status;
}

/* MPI_Irecv of at most this many bytes, which MPI_Test returns. */
static inline spin_status_t spin_mpi_irecv(uint32_t room, int32_t source, int32_t tag, spin_mpi_comm_t comm,
        spin_mpi_request_t *result) {
    SPIN_SERVICE_USES(0x73020005, 0xdfd1234276fac52f, "spin_mpi_irecv");
    union {
        struct {
            uint32_t nobody;
            uint32_t room;
            int32_t source;
            int32_t tag;
            spin_mpi_comm_t comm;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; spin_mpi_request_t value; } result;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.room, 4);
    SPIN_SERVICE_PLACE(packet, in.source, 8);
    SPIN_SERVICE_PLACE(packet, in.tag, 12);
    SPIN_SERVICE_PLACE(packet, in.comm, 16);
    struct spin_service call;
    spin_service_begin(&call, 0x73020005, &packet, 20, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.room = room;
    packet.in.source = source;
    packet.in.tag = tag;
    packet.in.comm = comm;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        *result = packet.out.result.value;
    }
    return status;
}

/* MPI_Test: whether the request has ended. If so, it is freed, and a receive returns its message. */
static inline spin_status_t spin_mpi_test(spin_mpi_request_t request, uint32_t room, void *data,
        uint32_t *bytes, int32_t *from, int32_t *with, bool *result) {
    SPIN_SERVICE_USES(0x73020006, 0xb6910c412ce3dde1, "spin_mpi_test");
    union {
        struct {
            uint32_t nobody;
            spin_mpi_request_t request;
            uint32_t room;
            struct spin_slice data;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; bool value; } result;
            uint32_t bytes;
            int32_t from;
            int32_t with;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.request, 4);
    SPIN_SERVICE_PLACE(packet, in.room, 8);
    SPIN_SERVICE_PLACE(packet, in.data, 12);
    SPIN_SERVICE_PLACE(packet, out.bytes, 16);
    SPIN_SERVICE_PLACE(packet, out.from, 20);
    SPIN_SERVICE_PLACE(packet, out.with, 24);
    struct spin_service call;
    spin_service_begin(&call, 0x73020006, &packet, 20, 28);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.request = request;
    packet.in.room = room;
    struct spin_slice slice_of_data = spin_service_out(&call, data, (uint32_t)room);
    packet.in.data = slice_of_data;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        spin_service_take(&call, slice_of_data, data);
        *bytes = packet.out.bytes;
        *from = packet.out.from;
        *with = packet.out.with;
        *result = packet.out.result.value;
    }
    return status;
}

/* MPI_Barrier.
 * The host may take its time. */
static inline spin_status_t spin_mpi_barrier(spin_mpi_comm_t comm) {
    SPIN_SERVICE_USES(0x73020007, 0x56bd96c15503279a, "spin_mpi_barrier");
    struct {
        uint32_t nobody;
        spin_mpi_comm_t comm;
    } packet;
    SPIN_SERVICE_PLACE(packet, comm, 4);
    packet.nobody = SPIN_SERVICE_NOBODY;
    packet.comm = comm;
    return spin_service_short(0x73020007, &packet, 8);
}

/* MPI_Bcast.
 * The host may take its time. */
static inline spin_status_t spin_mpi_bcast(uint32_t count, spin_mpi_datatype_t datatype, void *data,
        int32_t root, spin_mpi_comm_t comm) {
    SPIN_SERVICE_USES(0x73020008, 0x93b1d60edc52cd0a, "spin_mpi_bcast");
    union {
        struct {
            uint32_t nobody;
            uint32_t count;
            spin_mpi_datatype_t datatype;
            struct spin_slice data;
            int32_t root;
            spin_mpi_comm_t comm;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            uint64_t nothing;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.count, 4);
    SPIN_SERVICE_PLACE(packet, in.datatype, 8);
    SPIN_SERVICE_PLACE(packet, in.data, 12);
    SPIN_SERVICE_PLACE(packet, in.root, 20);
    SPIN_SERVICE_PLACE(packet, in.comm, 24);
    struct spin_service call;
    spin_service_begin(&call, 0x73020008, &packet, 28, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.count = count;
    packet.in.datatype = datatype;
    struct spin_slice slice_of_data = spin_service_inout(&call, data, spin_service_times((uint32_t)count, spin_mpi_datatype_size(datatype)));
    packet.in.data = slice_of_data;
    packet.in.root = root;
    packet.in.comm = comm;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        spin_service_take(&call, slice_of_data, data);
    }
    return status;
}

/* MPI_Allreduce in place.
 * The host may take its time. */
static inline spin_status_t spin_mpi_allreduce(uint32_t count, spin_mpi_datatype_t datatype, void *data,
        spin_mpi_operation_t operation, spin_mpi_comm_t comm) {
    SPIN_SERVICE_USES(0x73020009, 0x2dfda06fa96eb6fd, "spin_mpi_allreduce");
    union {
        struct {
            uint32_t nobody;
            uint32_t count;
            spin_mpi_datatype_t datatype;
            struct spin_slice data;
            spin_mpi_operation_t operation;
            spin_mpi_comm_t comm;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            uint64_t nothing;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.count, 4);
    SPIN_SERVICE_PLACE(packet, in.datatype, 8);
    SPIN_SERVICE_PLACE(packet, in.data, 12);
    SPIN_SERVICE_PLACE(packet, in.operation, 20);
    SPIN_SERVICE_PLACE(packet, in.comm, 24);
    struct spin_service call;
    spin_service_begin(&call, 0x73020009, &packet, 28, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.count = count;
    packet.in.datatype = datatype;
    struct spin_slice slice_of_data = spin_service_inout(&call, data, spin_service_times((uint32_t)count, spin_mpi_datatype_size(datatype)));
    packet.in.data = slice_of_data;
    packet.in.operation = operation;
    packet.in.comm = comm;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        spin_service_take(&call, slice_of_data, data);
    }
    return status;
}

/* MPI_Comm_rank. */
static inline spin_status_t spin_mpi_comm_rank(spin_mpi_comm_t comm, uint32_t *result) {
    SPIN_SERVICE_USES(0x7302000a, 0xaf53591881fe9797, "spin_mpi_comm_rank");
    union {
        struct {
            uint32_t nobody;
            spin_mpi_comm_t comm;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; uint32_t value; } result;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.comm, 4);
    struct spin_service call;
    spin_service_begin(&call, 0x7302000a, &packet, 8, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.comm = comm;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        *result = packet.out.result.value;
    }
    return status;
}

/* MPI_Comm_size. */
static inline spin_status_t spin_mpi_comm_size(spin_mpi_comm_t comm, uint32_t *result) {
    SPIN_SERVICE_USES(0x7302000b, 0xa1a1b8718dc00d9b, "spin_mpi_comm_size");
    union {
        struct {
            uint32_t nobody;
            spin_mpi_comm_t comm;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; uint32_t value; } result;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.comm, 4);
    struct spin_service call;
    spin_service_begin(&call, 0x7302000b, &packet, 8, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.comm = comm;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        *result = packet.out.result.value;
    }
    return status;
}

#endif
