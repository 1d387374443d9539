/* Valid uses of MPI: types that are freed or not committed, empty and short messages, requests that are freed while they
 * are active or cancelled, and types of more runs than the NIC has room for. Each rank sends to the other and to itself,
 * and gets the result of MPI_Unpack. Also null processes, and preparations while another rank waits. */
#include <spinneret_rank.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS = (1 << 20) + 1 };
static const uint64_t SECOND = 1000000000;
static spinneret_rank *nic;
static int rank, there;

static void must(int is_so, const char *what) {
    if (is_so)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, spinneret_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define MUST(what) must(what, #what)

static void *memory_of(size_t bytes) {
    void *memory = NULL;
    MUST(spinneret_rank_alloc(nic, bytes, &memory) == SPINNERET_OK);
    memset(memory, 0x55, bytes);
    return memory;
}

/* Both ranks send some elements of one type, and receive some of another, which is freed before the message comes. */
static spinneret_status exchange(void *to, int count, MPI_Datatype type, const void *from, int sent,
                                 MPI_Datatype packed) {
    uint64_t request, other;
    spinneret_status status;
    MUST(spinneret_rank_recv_init(nic, to, count, spinneret_type(type), there, 1, 0, 0, &request) == SPINNERET_OK);
    MUST(spinneret_rank_send_init(nic, from, sent, spinneret_type(packed), there, 1, 0, &other) == SPINNERET_OK);
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(&type);
    MUST(spinneret_rank_start(nic, request) == SPINNERET_OK);
    MUST(spinneret_rank_start(nic, other) == SPINNERET_OK);
    MUST(spinneret_rank_wait(nic, request, SECOND, &status) == SPINNERET_OK);
    MUST(spinneret_rank_wait(nic, other, SECOND, NULL) == SPINNERET_OK);
    MUST(spinneret_rank_free(nic, request) == SPINNERET_OK);
    MUST(spinneret_rank_free(nic, other) == SPINNERET_OK);
    return status;
}

static spinneret_rank_counts counts(void) {
    spinneret_rank_counts found;
    MUST(spinneret_rank_count(nic, &found) == SPINNERET_OK);
    return found;
}

/* Whether memory is as MPI_Unpack leaves it. */
static int is_unpacked(const uint8_t *memory, size_t bytes, const void *sent, int length, int count,
                       MPI_Datatype type) {
    uint8_t *expected = malloc(bytes);
    int position = 0;
    memset(expected, 0x55, bytes);
    MPI_Unpack(sent, length, &position, expected, count, type, MPI_COMM_SELF);
    int is_equal = memcmp(memory, expected, bytes) == 0;
    free(expected);
    return is_equal;
}

static void types_that_are_not_there_any_more(uint8_t *memory, const uint8_t *sent) {
    MPI_Datatype column, kept;
    MPI_Type_vector(10, 1, 3, MPI_DOUBLE, &column);
    MPI_Type_dup(column, &kept);
    MPI_Type_commit(&kept);
    /* It is not committed, and is freed before the message arrives. */
    spinneret_status status = exchange(memory, 1, column, sent, 80, MPI_BYTE);
    MUST(status.bytes == 80 && is_unpacked(memory, 4096, sent, 80, 1, kept));
    MPI_Type_free(&kept);
}

/* Their memory may be any. */
static void messages_of_nothing(uint8_t *memory) {
    double own;
    spinneret_status status = exchange(NULL, 0, MPI_DOUBLE, &own, 0, MPI_DOUBLE);
    MUST(status.bytes == 0 && status.source == there);
    status = exchange(memory, 3, MPI_DOUBLE, NULL, 0, MPI_BYTE);
    MUST(status.bytes == 0 && memory[0] == 0x55);
}

/* Counts of a message with fewer elements than its receive, and of one with partial elements. */
static void short_messages(uint8_t *memory, const uint8_t *sent) {
    const struct {
        int bytes, whole, parts;
    } messages[] = {{24, 3, 6}, {12, MPI_UNDEFINED, 3}, {0, 0, 0}};
    for (int index = 0; index < 3; index++) {
        MPI_Datatype pair, kept;
        MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
        MPI_Type_dup(pair, &kept);
        MPI_Type_commit(&kept);
        spinneret_status ended = exchange(memory, 9, pair, sent, messages[index].bytes, MPI_BYTE);
        MPI_Status status;
        int whole = -1, parts = -1;
        MUST(spinneret_status_of_mpi(&ended, &status) == MPI_SUCCESS);
        MUST(status.MPI_SOURCE == there && status.MPI_TAG == 1);
        MPI_Get_count(&status, kept, &whole);
        MPI_Get_elements(&status, kept, &parts);
        MUST(whole == messages[index].whole && parts == messages[index].parts);
        MPI_Type_free(&kept);
    }
}

/* An active receive that is freed still gets its message, and gives its memory back then. */
static void a_receive_that_is_freed(uint8_t *memory, const uint8_t *sent) {
    uint64_t request, other;
    uint64_t byte = spinneret_type(MPI_BYTE);
    memset(memory, 0x55, 4096);
    MUST(spinneret_rank_recv_init(nic, memory, 64, byte, there, 2, 0, 0, &request) == SPINNERET_OK);
    MUST(spinneret_rank_send_init(nic, sent, 64, byte, there, 2, 0, &other) == SPINNERET_OK);
    MUST(spinneret_rank_start(nic, request) == SPINNERET_OK);
    MUST(spinneret_rank_free(nic, request) == SPINNERET_OK);
    MUST(spinneret_rank_test(nic, request, NULL) == SPINNERET_ERROR_ARGUMENT);
    MUST(spinneret_rank_release(nic, memory) == SPINNERET_ERROR_ARGUMENT);
    MUST(spinneret_rank_start(nic, other) == SPINNERET_OK);
    MUST(spinneret_rank_wait(nic, other, SECOND, NULL) == SPINNERET_OK);
    MUST(spinneret_rank_free(nic, other) == SPINNERET_OK);
    MUST(spinneret_rank_barrier(nic, 0) == SPINNERET_OK);
    MUST(memcmp(memory, sent, 64) == 0);
    MUST(spinneret_rank_release(nic, memory) == SPINNERET_OK);
}

/* The message of a cancelled receive goes to the next one; a receive that has its message is not cancelled. */
static void receives_that_are_taken_back(uint8_t *memory, const uint8_t *sent) {
    uint64_t first, second, other;
    const uint64_t byte = spinneret_type(MPI_BYTE);
    MUST(spinneret_rank_recv_init(nic, memory, 8, byte, there, 3, 0, 0, &first) == SPINNERET_OK);
    MUST(spinneret_rank_recv_init(nic, memory + 8, 8, byte, there, 3, 0, 0, &second) == SPINNERET_OK);
    MUST(spinneret_rank_send_init(nic, sent, 8, byte, there, 3, 0, &other) == SPINNERET_OK);
    MUST(spinneret_rank_cancel(nic, first) == SPINNERET_ERROR_ARGUMENT);
    MUST(spinneret_rank_start(nic, first) == SPINNERET_OK);
    MUST(spinneret_rank_start(nic, second) == SPINNERET_OK);
    MUST(spinneret_rank_cancel(nic, first) == 1);
    MUST(spinneret_rank_test(nic, first, NULL) == SPINNERET_ERROR_ARGUMENT);
    MUST(spinneret_rank_barrier(nic, 0) == SPINNERET_OK);
    MUST(spinneret_rank_start(nic, other) == SPINNERET_OK);
    MUST(spinneret_rank_cancel(nic, other) == 0);
    MUST(spinneret_rank_wait(nic, other, SECOND, NULL) == SPINNERET_OK);
    MUST(spinneret_rank_barrier(nic, 0) == SPINNERET_OK);
    MUST(spinneret_rank_cancel(nic, second) == 0);
    MUST(spinneret_rank_wait(nic, second, SECOND, NULL) == SPINNERET_OK);
    MUST(memory[0] == 0x55 && memcmp(memory + 8, sent, 8) == 0);
    MUST(spinneret_rank_start(nic, first) == SPINNERET_OK && spinneret_rank_cancel(nic, first) == 1);
    const uint64_t all[] = {first, second, other};
    for (int index = 0; index < 3; index++)
        MUST(spinneret_rank_free(nic, all[index]) == SPINNERET_OK);
}

/* More than 2^20 runs without a pattern: one message comes in one piece, and the host unpacks it. */
static void a_type_of_a_million_runs(void) {
    const size_t bytes = 3 * (size_t)RUNS + 64;
    int *lengths = malloc(RUNS * sizeof *lengths), *starts = malloc(RUNS * sizeof *starts);
    int length = 0;
    for (int index = 0; index < RUNS; index++) {
        lengths[index] = 1 + (index % 5 == 0);
        starts[index] = 32 + 3 * ((index + RUNS / 2) % RUNS);
        length += lengths[index];
    }
    MPI_Datatype type, kept;
    MPI_Type_indexed(RUNS, lengths, starts, MPI_BYTE, &type);
    MPI_Type_dup(type, &kept);
    MPI_Type_commit(&kept);
    uint8_t *memory = memory_of(bytes), *sent = memory_of((size_t)length);
    for (int index = 0; index < length; index++)
        sent[index] = (uint8_t)(index * 2654435761u >> 13);
    const spinneret_rank_counts before = counts();
    spinneret_status status = exchange(memory, 1, type, sent, length, MPI_BYTE);
    MUST(status.bytes == (uint32_t)length && is_unpacked(memory, bytes, sent, length, 1, kept));
    MUST(counts().unpacked == before.unpacked + 1 && counts().placed == before.placed);
    /* A place that exists twice is found among that many, too. */
    uint64_t request;
    starts[RUNS - 1] = starts[7];
    MPI_Type_free(&kept);
    MPI_Type_indexed(RUNS, lengths, starts, MPI_BYTE, &kept);
    MUST(spinneret_rank_recv_init(nic, memory, 1, spinneret_type(kept), there, 1, 0, 0, &request) ==
         SPINNERET_ERROR_ARGUMENT);
    MUST(strstr(spinneret_error_message(), "same place") != NULL);
    MPI_Type_free(&kept);
    free(lengths);
    free(starts);
}

/* Requests of the null process complete at once, each time they are started. */
static void messages_of_nobody(const uint8_t *sent) {
    const uint64_t byte = spinneret_type(MPI_BYTE);
    uint64_t all[3];
    spinneret_status ended[3];
    MUST(spinneret_rank_recv_init(nic, NULL, 8, byte, MPI_PROC_NULL, 5, 0, 0, &all[0]) == SPINNERET_OK);
    MUST(spinneret_rank_recv_init(nic, NULL, 8, byte, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0, &all[1]) == SPINNERET_OK);
    MUST(spinneret_rank_send_init(nic, sent, 8, byte, MPI_PROC_NULL, 5, 0, &all[2]) == SPINNERET_OK);
    for (int round = 0; round < 2; round++) {
        MUST(spinneret_rank_start_all(nic, 3, all) == SPINNERET_OK);
        MUST(spinneret_rank_cancel(nic, all[0]) == 0);
        MUST(spinneret_rank_test_all(nic, 3, all, ended) == 1);
        for (int index = 0; index < 3; index++) {
            MPI_Status status;
            int count = -1;
            MUST(spinneret_status_of_mpi(&ended[index], &status) == MPI_SUCCESS);
            MUST(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
            MUST(MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && count == 0);
        }
    }
    for (int index = 0; index < 3; index++)
        MUST(spinneret_rank_free(nic, all[index]) == SPINNERET_OK);
}

/* To prepare a receive takes no time on the NIC, whatever its type, so another rank may be in a collective meanwhile. */
static void a_type_without_a_pattern_while_the_other_rank_waits(uint8_t *memory, const uint8_t *sent) {
    int lengths[] = {1, 3, 2, 1}, starts[] = {1, 9, 4, 30};
    MPI_Datatype type;
    uint64_t request;
    spinneret_status status;
    MPI_Type_indexed(4, lengths, starts, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    memset(memory, 0x55, 4096);
    if (rank == 1)
        MUST(spinneret_rank_recv_init(nic, memory, 3, spinneret_type(type), MPI_ANY_SOURCE, 6, 0, 0, &request) ==
             SPINNERET_OK);
    else
        MUST(spinneret_rank_send_init(nic, sent, 21, spinneret_type(MPI_BYTE), 1, 6, 0, &request) == SPINNERET_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    MUST(spinneret_rank_start(nic, request) == SPINNERET_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    const spinneret_rank_counts before = counts();
    MUST(spinneret_rank_wait(nic, request, SECOND, &status) == SPINNERET_OK);
    if (rank == 1) {
        MUST(status.source == 0 && is_unpacked(memory, 4096, sent, 21, 3, type));
        MUST(counts().placed == before.placed + 1 && counts().unpacked == before.unpacked);
    }
    MUST(spinneret_rank_free(nic, request) == SPINNERET_OK);
    MPI_Type_free(&type);
}

int main(int argc, char **argv) {
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    there = 1 - rank;
    must(argc == 3, "two arguments");
    snprintf(name, sizeof name, "unix:%s/nic%d", argv[1], rank);
    MUST(spinneret_rank_open(name, argv[2], spinneret_comm(MPI_COMM_WORLD), NULL, &nic) == SPINNERET_OK);
    uint8_t *sent = memory_of(4096);
    for (int index = 0; index < 4096; index++)
        sent[index] = (uint8_t)(index % 251);
    const int partners[] = {rank, 1 - rank};
    for (int index = 0; index < 2; index++) {
        uint8_t *memory = memory_of(4096);
        there = partners[index];
        types_that_are_not_there_any_more(memory, sent);
        memset(memory, 0x55, 4096);
        messages_of_nothing(memory);
        short_messages(memory, sent);
        memset(memory, 0x55, 4096);
        receives_that_are_taken_back(memory, sent);
        a_receive_that_is_freed(memory, sent);
    }
    a_type_of_a_million_runs();
    messages_of_nobody(sent);
    a_type_without_a_pattern_while_the_other_rank_waits(memory_of(4096), sent);
    MUST(spinneret_rank_close(nic) == SPINNERET_OK);
    MPI_Finalize();
    printf("rank %d: all allowed\n", rank);
    return 0;
}
