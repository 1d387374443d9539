/* Start and end, communicators, and what all ranks do together. */
#define _POSIX_C_SOURCE 200809L /* setenv, nanosleep */
#include "spinneret_mpi.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Whether this process has to be ended with MPI, by us. */
static int is_running;

/* A process that ends without MPI_Finalize leaves others waiting: Open MPI's launcher notices, MPICH's need not. */
static void end_all(void) {
    int is_over = 0;
    if (!is_running || MPI_Finalized(&is_over) != MPI_SUCCESS || is_over)
        return;
    is_running = 0;
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "spinneret: rank %d ended without ending MPI, so all ranks are ended\n", rank);
    /* MPICH's launcher throws away what it has not read when it learns of the end. */
    const struct timespec pause = {0, 200000000};
    nanosleep(&pause, NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A program may have brought another MPI with it, and then the calls of this file go there. */
int32_t spinneret_mpi_is_same_library(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        return 0;
#if defined(OPEN_MPI)
    return strstr(text, "Open MPI") != NULL;
#elif defined(MPICH_VERSION)
    return strstr(text, "Open MPI") == NULL;
#else
    return 1;
#endif
}

int32_t spinneret_mpi_init(void) {
    int provided = MPI_THREAD_SINGLE;
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
    /* When one copy takes a message from process to process (4.1.4, cma), and it is longer than the area of its receive,
     * Open MPI writes behind that area. With two copies it does not. A value set by the user takes precedence. */
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
#endif
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    if (code != MPI_SUCCESS)
        return code;
    is_running = 1;
    atexit(end_all);
    /* MPI 3 gives errors that belong to no communicator to the first of these, MPI 4 to the second. */
    code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return code != MPI_SUCCESS ? code : MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

int32_t spinneret_mpi_attach(int32_t *is_initialised) {
    int is_begun = 0, is_over = 0;
    int code = MPI_Initialized(&is_begun);
    if (code == MPI_SUCCESS)
        code = MPI_Finalized(&is_over);
    *is_initialised = is_begun && !is_over;
    return code;
}

int32_t spinneret_mpi_finalize(void) {
    is_running = 0;
    return MPI_Finalize();
}

int32_t spinneret_mpi_abort(int32_t code) {
    is_running = 0;
    return MPI_Abort(MPI_COMM_WORLD, code);
}

static void copy_text(const char *from, uint8_t *to, int32_t capacity) {
    if (capacity > 0)
        snprintf((char *)to, (size_t)capacity, "%s", from);
}

int32_t spinneret_mpi_error(int32_t code, int32_t *error_class, uint8_t *text, int32_t capacity) {
    /* In the order of Class in src/error.rs, from 1. */
    const int classes[] = {
        MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE,    MPI_ERR_TAG,      MPI_ERR_COMM,
        MPI_ERR_RANK,   MPI_ERR_REQUEST, MPI_ERR_ROOT,  MPI_ERR_GROUP,    MPI_ERR_OP,
        MPI_ERR_ARG,    MPI_ERR_TRUNCATE, MPI_ERR_OTHER, MPI_ERR_INTERN,  MPI_ERR_IN_STATUS,
        MPI_ERR_PENDING, MPI_ERR_NO_MEM, MPI_ERR_UNKNOWN,
    };
    int own = MPI_ERR_UNKNOWN, length = 0;
    char message[MPI_MAX_ERROR_STRING + 1] = "";
    int result = MPI_Error_class(code, &own);
    if (result == MPI_SUCCESS)
        result = MPI_Error_string(code, message, &length);
    *error_class = 0;
    for (size_t index = 0; index < sizeof classes / sizeof classes[0]; index++)
        if (classes[index] == own && *error_class == 0)
            *error_class = (int32_t)index + 1;
    copy_text(message, text, capacity);
    return result;
}

int32_t spinneret_mpi_version(uint8_t *text, int32_t capacity, int32_t *version, int32_t *subversion) {
    char message[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0, major = 0, minor = 0;
    int code = MPI_Get_library_version(message, &length);
    if (code == MPI_SUCCESS)
        code = MPI_Get_version(&major, &minor);
    copy_text(message, text, capacity);
    *version = major;
    *subversion = minor;
    return code;
}

int32_t spinneret_mpi_wildcards(int32_t *three) {
    three[0] = MPI_ANY_SOURCE;
    three[1] = MPI_PROC_NULL;
    three[2] = MPI_ANY_TAG;
    return MPI_SUCCESS;
}

int32_t spinneret_mpi_world(uint64_t *comm) {
    *comm = comm_bits(MPI_COMM_WORLD);
    return MPI_SUCCESS;
}

int32_t spinneret_mpi_alone(uint64_t *comm) {
    *comm = comm_bits(MPI_COMM_SELF);
    return MPI_SUCCESS;
}

int32_t spinneret_mpi_rank(uint64_t comm, int32_t *rank) { return MPI_Comm_rank(comm_of(comm), rank); }

int32_t spinneret_mpi_size(uint64_t comm, int32_t *size) { return MPI_Comm_size(comm_of(comm), size); }

/* Gives a new communicator, whose errors are returned, whatever those of its parent do. */
static int32_t give(int code, MPI_Comm made, uint64_t *comm) {
    *comm = 0;
    if (code != MPI_SUCCESS || made == MPI_COMM_NULL)
        return code;
    *comm = comm_bits(made);
    return MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
}

int32_t spinneret_mpi_dup(uint64_t comm, uint64_t *copy) {
    MPI_Comm made = MPI_COMM_NULL;
    int code = MPI_Comm_dup(comm_of(comm), &made);
    return give(code, made, copy);
}

/* Which rank of MPI_COMM_WORLD each rank of a communicator is, in as many numbers as it has ranks; MPI_UNDEFINED is -1. */
int32_t spinneret_mpi_world_ranks(uint64_t comm, int32_t *ranks) {
    int size = 0;
    MPI_Group own = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    int code = MPI_Comm_size(comm_of(comm), &size);
    int *numbers = code == MPI_SUCCESS ? malloc(sizeof *numbers * (size_t)size) : NULL;
    if (code == MPI_SUCCESS && !numbers)
        code = MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS)
        code = MPI_Comm_group(comm_of(comm), &own);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (code == MPI_SUCCESS) {
        for (int rank = 0; rank < size; rank++)
            numbers[rank] = rank;
        code = MPI_Group_translate_ranks(own, size, numbers, world, ranks);
    }
    for (int rank = 0; rank < size && code == MPI_SUCCESS; rank++)
        if (ranks[rank] == MPI_UNDEFINED)
            ranks[rank] = -1;
    free(numbers);
    if (own != MPI_GROUP_NULL)
        MPI_Group_free(&own);
    if (world != MPI_GROUP_NULL)
        MPI_Group_free(&world);
    return code;
}

int32_t spinneret_mpi_comm_free(uint64_t comm) {
    MPI_Comm handle = comm_of(comm);
    return MPI_Comm_free(&handle);
}

int32_t spinneret_mpi_barrier(uint64_t comm) { return MPI_Barrier(comm_of(comm)); }

int32_t spinneret_mpi_allgather(uint64_t comm, const uint8_t *from, int32_t count, uint8_t *to) {
    return MPI_Allgather(from, count, MPI_BYTE, to, count, MPI_BYTE, comm_of(comm));
}

int32_t spinneret_mpi_ibarrier(uint64_t comm, uint64_t *request) {
    MPI_Request made = MPI_REQUEST_NULL;
    int code = MPI_Ibarrier(comm_of(comm), &made);
    *request = request_bits(made);
    return code;
}

int32_t spinneret_mpi_ibcast(uint64_t comm, uint8_t *bytes, int32_t count, int32_t root, uint64_t *request) {
    MPI_Request made = MPI_REQUEST_NULL;
    int code = MPI_Ibcast(bytes, count, MPI_BYTE, root, comm_of(comm), &made);
    *request = request_bits(made);
    return code;
}

/* Keeps the smaller or the larger of each two unsigned numbers: MPICH 4.0.2 compares them as signed ones. */
static void keep(const uint8_t *from, uint8_t *into, int count, MPI_Datatype kind, bool larger) {
    int size = 0;
    MPI_Type_size(kind, &size);
    for (int number = 0; number < count; ++number, from += size, into += size) {
        uint64_t one = 0, other = 0;
        memcpy(&one, from, (size_t)size);
        memcpy(&other, into, (size_t)size);
        if (larger ? one > other : one < other)
            memcpy(into, from, (size_t)size);
    }
}

static void keep_smaller(void *from, void *into, int *count, MPI_Datatype *kind) { keep(from, into, *count, *kind, false); }

static void keep_larger(void *from, void *into, int *count, MPI_Datatype *kind) { keep(from, into, *count, *kind, true); }

/* The operation on numbers of a kind. */
static int find_operation(int32_t operation, int32_t kind, MPI_Op *found) {
    static MPI_Op of_unsigned[2];
    static bool is_made[2];
    const MPI_Op operations[] = {MPI_MIN, MPI_MAX, MPI_SUM, MPI_PROD};
    int code = MPI_SUCCESS;
    *found = operations[operation];
    if (operation > 1 || kind < 6)
        return MPI_SUCCESS;
    if (!is_made[operation])
        code = MPI_Op_create(operation == 0 ? keep_smaller : keep_larger, true, &of_unsigned[operation]);
    is_made[operation] = code == MPI_SUCCESS;
    *found = of_unsigned[operation];
    return code;
}

int32_t spinneret_mpi_ireduce(uint64_t comm, int32_t root, int32_t operation, int32_t kind, uint8_t *numbers, int32_t count,
                              uint64_t *request) {
    const MPI_Datatype kinds[] = {MPI_INT8_T,  MPI_INT16_T,  MPI_INT32_T,  MPI_INT64_T, MPI_FLOAT, MPI_DOUBLE,
                                  MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T};
    MPI_Comm ranks = comm_of(comm);
    MPI_Request made = MPI_REQUEST_NULL;
    MPI_Op op = MPI_OP_NULL;
    int rank = 0, code = MPI_ERR_BUFFER;
    /* MPI reads numbers where they are; areas of bytes begin so far apart that they may. */
    if ((uintptr_t)numbers % sizeof(uint64_t) == 0)
        code = MPI_Comm_rank(ranks, &rank);
    if (code == MPI_SUCCESS)
        code = find_operation(operation, kind, &op);
    if (code == MPI_SUCCESS && root < 0)
        code = MPI_Iallreduce(MPI_IN_PLACE, numbers, count, kinds[kind], op, ranks, &made);
    else if (code == MPI_SUCCESS)
        code = MPI_Ireduce(root == rank ? MPI_IN_PLACE : numbers, root == rank ? numbers : NULL, count, kinds[kind], op, root,
                           ranks, &made);
    *request = request_bits(made);
    return code;
}

int32_t spinneret_mpi_igather(uint64_t comm, int32_t root, uint8_t *parts, int32_t count, uint64_t *request) {
    MPI_Comm ranks = comm_of(comm);
    MPI_Request made = MPI_REQUEST_NULL;
    int rank = 0, code = MPI_Comm_rank(ranks, &rank);
    if (code == MPI_SUCCESS)
        code = MPI_Igather(root == rank ? MPI_IN_PLACE : parts, count, MPI_BYTE, root == rank ? parts : NULL, count, MPI_BYTE,
                           root, ranks, &made);
    *request = request_bits(made);
    return code;
}

int32_t spinneret_mpi_iscatter(uint64_t comm, int32_t root, uint8_t *parts, int32_t count, uint64_t *request) {
    MPI_Comm ranks = comm_of(comm);
    MPI_Request made = MPI_REQUEST_NULL;
    int rank = 0, code = MPI_Comm_rank(ranks, &rank);
    if (code == MPI_SUCCESS)
        code = MPI_Iscatter(root == rank ? parts : NULL, count, MPI_BYTE, root == rank ? MPI_IN_PLACE : parts, count, MPI_BYTE,
                            root, ranks, &made);
    *request = request_bits(made);
    return code;
}
