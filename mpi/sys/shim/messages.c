/* Bytes from one rank to another. */
#include "spinneret_mpi.h"

static int source_of(int32_t source) { return source < 0 ? MPI_ANY_SOURCE : source; }

static int tag_of(int32_t tag) { return tag < 0 ? MPI_ANY_TAG : tag; }

static void tell(const MPI_Status *from, int code, struct spinneret_mpi_status *status) {
    MPI_Count bytes = -1;
    int is_cancelled = 0;
    memset(status, 0, sizeof *status);
    status->error = code;
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

int32_t spinneret_mpi_send(int32_t is_synchronous, uint64_t comm, const uint8_t *bytes, int32_t count,
                           int32_t destination, int32_t tag) {
    if (is_synchronous)
        return MPI_Ssend(bytes, count, MPI_BYTE, destination, tag, comm_of(comm));
    return MPI_Send(bytes, count, MPI_BYTE, destination, tag, comm_of(comm));
}

int32_t spinneret_mpi_recv(uint64_t comm, uint8_t *bytes, int32_t count, int32_t source, int32_t tag,
                           struct spinneret_mpi_status *status) {
    MPI_Status own = empty();
    int code = MPI_Recv(bytes, count, MPI_BYTE, source_of(source), tag_of(tag), comm_of(comm), &own);
    tell(&own, code, status);
    return code;
}

int32_t spinneret_mpi_probe(uint64_t comm, int32_t source, int32_t tag, struct spinneret_mpi_status *status) {
    MPI_Status own = empty();
    int code = MPI_Probe(source_of(source), tag_of(tag), comm_of(comm), &own);
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

int32_t spinneret_mpi_isend(int32_t is_synchronous, uint64_t comm, const uint8_t *bytes, int32_t count,
                            int32_t destination, int32_t tag, uint64_t *request) {
    MPI_Request made = MPI_REQUEST_NULL;
    int code = is_synchronous ? MPI_Issend(bytes, count, MPI_BYTE, destination, tag, comm_of(comm), &made)
                              : MPI_Isend(bytes, count, MPI_BYTE, destination, tag, comm_of(comm), &made);
    *request = request_bits(made);
    return code;
}

int32_t spinneret_mpi_irecv(uint64_t comm, uint8_t *bytes, int32_t count, int32_t source, int32_t tag,
                            uint64_t *request) {
    MPI_Request made = MPI_REQUEST_NULL;
    int code = MPI_Irecv(bytes, count, MPI_BYTE, source_of(source), tag_of(tag), comm_of(comm), &made);
    *request = request_bits(made);
    return code;
}

int32_t spinneret_mpi_send_init(int32_t is_synchronous, uint64_t comm, const uint8_t *bytes, int32_t count,
                                int32_t destination, int32_t tag, uint64_t *request) {
    MPI_Request made = MPI_REQUEST_NULL;
    int code = is_synchronous ? MPI_Ssend_init(bytes, count, MPI_BYTE, destination, tag, comm_of(comm), &made)
                              : MPI_Send_init(bytes, count, MPI_BYTE, destination, tag, comm_of(comm), &made);
    *request = request_bits(made);
    return code;
}

int32_t spinneret_mpi_recv_init(uint64_t comm, uint8_t *bytes, int32_t count, int32_t source, int32_t tag,
                                uint64_t *request) {
    MPI_Request made = MPI_REQUEST_NULL;
    int code = MPI_Recv_init(bytes, count, MPI_BYTE, source_of(source), tag_of(tag), comm_of(comm), &made);
    *request = request_bits(made);
    return code;
}

int32_t spinneret_mpi_typed_send_init(uint64_t comm, const uint8_t *memory, uint64_t type, int32_t destination,
                                      int32_t tag, uint64_t *request) {
    MPI_Request made = MPI_REQUEST_NULL;
    int code = MPI_Send_init(memory, 1, type_of(type), destination, tag, comm_of(comm), &made);
    *request = request_bits(made);
    return code;
}

int32_t spinneret_mpi_typed_recv_init(uint64_t comm, uint8_t *memory, uint64_t type, int32_t source, int32_t tag,
                                      uint64_t *request) {
    MPI_Request made = MPI_REQUEST_NULL;
    int code = MPI_Recv_init(memory, 1, type_of(type), source_of(source), tag_of(tag), comm_of(comm), &made);
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

int32_t spinneret_mpi_waitall(int32_t count, uint64_t *requests, struct spinneret_mpi_status *statuses) {
    size_t places = count > 0 ? (size_t)count : 1;
    MPI_Request *handles = malloc(places * sizeof *handles);
    MPI_Status *own = malloc(places * sizeof *own);
    int code = MPI_ERR_NO_MEM;
    if (handles && own) {
        for (int32_t index = 0; index < count; index++) {
            handles[index] = request_of(requests[index]);
            own[index] = empty();
        }
        code = MPI_Waitall(count, handles, own);
        for (int32_t index = 0; index < count; index++) {
            /* The code in a status means something only if the call says so. */
            int error = code == MPI_SUCCESS ? MPI_SUCCESS : code == MPI_ERR_IN_STATUS ? own[index].MPI_ERROR : code;
            requests[index] = request_bits(handles[index]);
            tell(&own[index], error, &statuses[index]);
        }
    }
    free(handles);
    free(own);
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
