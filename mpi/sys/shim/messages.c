/* Bytes from one rank to another. */
#include "spinneret_mpi.h"

static int source_of(int32_t source) { return source < 0 ? MPI_ANY_SOURCE : source; }

static int tag_of(int32_t tag) { return tag < 0 ? MPI_ANY_TAG : tag; }

static void tell(const MPI_Status *from, int code, struct spinneret_mpi_status *status) {
    MPI_Count bytes = -1;
    int is_cancelled = 0;
    memset(status, 0, sizeof *status);
    status->source = from->MPI_SOURCE < 0 ? -1 : from->MPI_SOURCE;
    status->tag = from->MPI_TAG < 0 ? -1 : from->MPI_TAG;
    if (MPI_Test_cancelled(from, &is_cancelled) == MPI_SUCCESS)
        status->cancelled = is_cancelled;
    /* Probes see messages that are longer than an int can say. */
    if (MPI_Get_elements_x(from, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes == MPI_UNDEFINED)
        bytes = -1;
#ifdef MPICH_VERSION
    /* Of a long message that did not fit, MPICH 4.0.2 leaves in the status what its memory was used for before. */
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS && MPI_Error_class(code, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE)
        bytes = -1;
#endif
    status->bytes = bytes;
}

/* A status that says nothing, for calls that fail before they write it. */
static MPI_Status empty(void) {
    MPI_Status status;
    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = MPI_ANY_SOURCE;
    status.MPI_TAG = MPI_ANY_TAG;
    return status;
}

int32_t spinneret_mpi_send(uint64_t comm, const uint8_t *bytes, int32_t count, int32_t destination, int32_t tag) {
    return MPI_Send(bytes, count, MPI_BYTE, destination, tag, comm_of(comm));
}

int32_t spinneret_mpi_recv(uint64_t comm, uint8_t *bytes, int32_t count, int32_t source, int32_t tag,
                           struct spinneret_mpi_status *status) {
    MPI_Status own = empty();
    int code = MPI_Recv(bytes, count, MPI_BYTE, source_of(source), tag_of(tag), comm_of(comm), &own);
    tell(&own, code, status);
    return code;
}

int32_t spinneret_mpi_iprobe(uint64_t comm, int32_t source, int32_t tag, int32_t *is_there,
                             struct spinneret_mpi_status *status) {
    MPI_Status own = empty();
    *is_there = 0;
    int code = MPI_Iprobe(source_of(source), tag_of(tag), comm_of(comm), is_there, &own);
    tell(&own, code, status);
    return code;
}

int32_t spinneret_mpi_mprobe(uint64_t comm, int32_t source, int32_t tag, uint64_t *message,
                             struct spinneret_mpi_status *status) {
    MPI_Status own = empty();
    MPI_Message found = MPI_MESSAGE_NULL;
    int code = MPI_Mprobe(source_of(source), tag_of(tag), comm_of(comm), &found, &own);
    *message = message_bits(found);
    tell(&own, code, status);
    return code;
}

int32_t spinneret_mpi_mrecv(uint64_t message, uint8_t *bytes, int32_t count, struct spinneret_mpi_status *status) {
    MPI_Status own = empty();
    MPI_Message found = message_of(message);
    int code = MPI_Mrecv(bytes, count, MPI_BYTE, &found, &own);
    tell(&own, code, status);
    return code;
}

int32_t spinneret_mpi_begin(int32_t kind, uint64_t comm, uint8_t *memory, int32_t count, uint64_t type, int32_t peer,
                            int32_t tag, uint64_t *request) {
    MPI_Datatype element = type == 0 ? MPI_BYTE : type_of(type);
    MPI_Comm ranks = comm_of(comm);
    MPI_Request made = MPI_REQUEST_NULL;
    int code = MPI_ERR_ARG;
    switch (kind) {
    case SPINNERET_ISEND: code = MPI_Isend(memory, count, element, peer, tag, ranks, &made); break;
    case SPINNERET_ISSEND: code = MPI_Issend(memory, count, element, peer, tag, ranks, &made); break;
    case SPINNERET_IRECV:
        code = MPI_Irecv(memory, count, element, source_of(peer), tag_of(tag), ranks, &made);
        break;
    case SPINNERET_SEND_INIT: code = MPI_Send_init(memory, count, element, peer, tag, ranks, &made); break;
    case SPINNERET_RECV_INIT:
        code = MPI_Recv_init(memory, count, element, source_of(peer), tag_of(tag), ranks, &made);
        break;
    }
    *request = request_bits(made);
    return code;
}

int32_t spinneret_mpi_start(uint64_t *request) {
    MPI_Request handle = request_of(*request);
    int code = MPI_Start(&handle);
    *request = request_bits(handle);
    return code;
}

int32_t spinneret_mpi_test(uint64_t *request, int32_t *is_done, struct spinneret_mpi_status *status) {
    MPI_Status own = empty();
    MPI_Request handle = request_of(*request);
    *is_done = 0;
    int code = MPI_Test(&handle, is_done, &own);
    *request = request_bits(handle);
    tell(&own, code, status);
    return code;
}

int32_t spinneret_mpi_wait(uint64_t *request, struct spinneret_mpi_status *status) {
    MPI_Status own = empty();
    MPI_Request handle = request_of(*request);
    int code = MPI_Wait(&handle, &own);
    *request = request_bits(handle);
    tell(&own, code, status);
    return code;
}

int32_t spinneret_mpi_cancel(uint64_t *request) {
    MPI_Request handle = request_of(*request);
    int code = MPI_Cancel(&handle);
    *request = request_bits(handle);
    return code;
}

int32_t spinneret_mpi_request_free(uint64_t *request) {
    MPI_Request handle = request_of(*request);
    int code = MPI_Request_free(&handle);
    *request = request_bits(handle);
    return code;
}
