/* Invalid calls, and their results. */
#include <limits.h>
#include <spinneret_rank.h>
#include <stdio.h>
#include <stdlib.h>

static int rank;

static void expect(const char *what, int result, int wanted, const char *words) {
    if (result == wanted && (wanted >= 0 || strstr(spinneret_error_message(), words)))
        return;
    fprintf(stderr, "rank %d: %s gave %d (%s), not %d (... %s ...)\n", rank, what, result,
            spinneret_error_message(), wanted, words);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define REFUSED(call, code, words) expect(#call, call, SPINNERET_ERROR_##code, words)
#define FINE(call) expect(#call, call, SPINNERET_OK, "")

int main(int argc, char **argv) {
    const uint64_t second = 1000000000;
    uint64_t request = 0, other = 0;
    spinneret_rank *nic = NULL;
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    uint64_t world = spinneret_comm(MPI_COMM_WORLD), self = spinneret_comm(MPI_COMM_SELF);
    REFUSED(spinneret_rank_open("unix:/nowhere", argv[2], self, NULL, &nic), OPEN, "nobody answers at /nowhere");
    REFUSED(spinneret_rank_open("unix:/nowhere", "/nowhere.elf", self, NULL, &nic), PROGRAM, "/nowhere.elf");
    REFUSED(spinneret_rank_open(NULL, argv[2], self, NULL, &nic), ARGUMENT, "name is a null pointer");
    snprintf(name, sizeof name, "unix:%s/nic%d", argv[1], rank);
    FINE(spinneret_rank_open(name, argv[2], world, NULL, &nic));

    void *memory = NULL, *more = NULL;
    REFUSED(spinneret_rank_alloc(nic, (size_t)1 << 40, &memory), ARGUMENT, "more than 4 GiB");
    REFUSED(spinneret_rank_alloc(nic, (size_t)1 << 30, &memory), NO_ROOM, "host_bytes");
    FINE(spinneret_rank_alloc(nic, 4096, &memory));
    FINE(spinneret_rank_alloc(nic, 4096, &more));
    double own[8];
    uint64_t real = spinneret_type(MPI_DOUBLE);
    const int there = 1 - rank;
    REFUSED(spinneret_rank_recv_init(nic, own, 8, real, there, 0, 0, 0, &request), ARGUMENT, "spinneret_rank_alloc");
    REFUSED(spinneret_rank_recv_init(nic, memory, 513, real, there, 0, 0, 0, &request), ARGUMENT, "4096 B");
    REFUSED(spinneret_rank_recv_init(nic, memory, -1, real, there, 0, 0, 0, &request), ARGUMENT, "MPI_ERR_COUNT");
    REFUSED(spinneret_rank_recv_init(nic, memory, 1, real, 2, 0, 0, 0, &request), ARGUMENT, "rank 2");
    REFUSED(spinneret_rank_recv_init(nic, memory, 1, real, -7, 0, 0, 0, &request), ARGUMENT, "source is -7: it must be a rank from 0 on, MPI_ANY_SOURCE (-");
    REFUSED(spinneret_rank_recv_init(nic, memory, 1, real, there, -7, 0, 0, &request), ARGUMENT, "tag is -7: it must be a number from 0 on or MPI_ANY_TAG (-");
    REFUSED(spinneret_rank_send_init(nic, memory, 1, real, -7, 0, 0, &request), ARGUMENT, "destination is -7: it must be a rank from 0 on or MPI_PROC_NULL (-");
    REFUSED(spinneret_rank_send_init(nic, memory, 1, real, MPI_ANY_SOURCE, 0, 0, &request), ARGUMENT, "destination is MPI_ANY_SOURCE, -");
    REFUSED(spinneret_rank_send_init(nic, memory, -1, real, MPI_PROC_NULL, 0, 0, &request), ARGUMENT, "MPI_ERR_COUNT");
    REFUSED(spinneret_rank_recv_init(nic, memory, 1, real, there, 0, 9, 0, &request), ARGUMENT, "communicator 9");
    REFUSED(spinneret_rank_recv_init(nic, memory, 1, real, there, 0, 0, 6, &request), ARGUMENT, "flags 0x6");
    REFUSED(spinneret_rank_send_init(nic, memory, 1, real, there, SPINNERET_ANY_TAG, 0, &request), ARGUMENT, "tag is -1: it must be");
    const uint64_t null = spinneret_type(MPI_DATATYPE_NULL);
    REFUSED(spinneret_rank_recv_init(nic, memory, 1, null, there, 0, 0, 0, &request), MPI, "MPI_ERR_TYPE");
    REFUSED(spinneret_rank_recv_init(nic, memory, 1, null, MPI_PROC_NULL, 0, 0, 0, &request), MPI, "MPI_ERR_TYPE");
    REFUSED(spinneret_rank_send_init(nic, memory, 0, null, there, 0, 0, &request), MPI, "MPI_ERR_TYPE");
    REFUSED(spinneret_rank_recv_init(nic, NULL, 1, real, there, 0, 0, 0, &request), ARGUMENT, "spinneret_rank_alloc");
    REFUSED(spinneret_rank_send_init(nic, NULL, 1, real, there, 0, 0, &request), ARGUMENT, "spinneret_rank_alloc");
    REFUSED(spinneret_rank_recv_init(nic, memory, INT_MAX, real, there, 0, 0, 0, &request), ARGUMENT, "4096 B");
    /* 2 GiB, and 48 MB, all in the same 8 bytes. */
    MPI_Datatype large, larger;
    MPI_Type_create_hvector(6000000, 1, 0, MPI_DOUBLE, &large);
    MPI_Type_create_hvector(1 << 28, 1, 0, MPI_DOUBLE, &larger);
    const uint64_t mega = spinneret_type(large), giga = spinneret_type(larger);
    REFUSED(spinneret_rank_send_init(nic, memory, 1, mega, there, 0, 0, &request), ARGUMENT, "32256 segments");
    REFUSED(spinneret_rank_send_init(nic, memory, 1, giga, there, 0, 0, &request), ARGUMENT, "too long for the NIC");
    REFUSED(spinneret_rank_recv_init(nic, memory, 1, giga, there, 0, 0, 1, &request), ARGUMENT, "too long for the NIC");
    MPI_Type_free(&large);
    MPI_Type_free(&larger);
    MPI_Datatype twice;
    MPI_Type_create_hvector(2, 1, 4, MPI_DOUBLE, &twice);
    MPI_Type_commit(&twice);
    uint64_t doubled = spinneret_type(twice);
    REFUSED(spinneret_rank_recv_init(nic, memory, 1, doubled, there, 0, 0, 0, &request), ARGUMENT, "same place");
    FINE(spinneret_rank_recv_init(nic, memory, 1, doubled, there, 0, 0, SPINNERET_EQUAL_COPIES, &request));
    MPI_Type_free(&twice);
    REFUSED(spinneret_rank_test(nic, request, NULL), ARGUMENT, "not active");
    FINE(spinneret_rank_free(nic, request));
    REFUSED(spinneret_rank_start(nic, request), ARGUMENT, "freed");
    REFUSED(spinneret_rank_release(nic, own), ARGUMENT, "spinneret_rank_alloc");

    /* A message that is longer than its receive, and one that is shorter. */
    spinneret_status status;
    uint64_t *words = memory, *sent = more;
    for (int i = 0; i < 512; i++)
        words[i] = 1, sent[i] = 2;
    uint64_t word = spinneret_type(MPI_UINT64_T);
    FINE(spinneret_rank_recv_init(nic, memory, 4, word, there, SPINNERET_ANY_TAG, 0, 0, &request));
    FINE(spinneret_rank_start(nic, request));
    REFUSED(spinneret_rank_start(nic, request), ARGUMENT, "active");
    REFUSED(spinneret_rank_release(nic, memory), ARGUMENT, "active");
    FINE(spinneret_rank_send_init(nic, more, 5, word, there, 3, 0, &other));
    FINE(spinneret_rank_start(nic, other));
    expect("a long message", spinneret_rank_wait(nic, request, second, &status), SPINNERET_ERROR_TRUNCATED, "40 B");
    FINE(spinneret_rank_wait(nic, other, second, NULL));
    FINE(spinneret_rank_free(nic, other));
    /* The same of this rank's own. */
    uint64_t own_request;
    FINE(spinneret_rank_recv_init(nic, memory, 4, word, rank, SPINNERET_ANY_TAG, 0, 0, &own_request));
    FINE(spinneret_rank_send_init(nic, more, 5, word, rank, 3, 0, &other));
    FINE(spinneret_rank_start(nic, other));
    FINE(spinneret_rank_start(nic, own_request));
    expect("a long message", spinneret_rank_wait(nic, own_request, second, &status), SPINNERET_ERROR_TRUNCATED, "40 B");
    FINE(spinneret_rank_wait(nic, other, second, NULL));
    FINE(spinneret_rank_free(nic, own_request));
    FINE(spinneret_rank_free(nic, other));
    FINE(spinneret_rank_barrier(nic, 0));
    FINE(spinneret_rank_start(nic, request));
    FINE(spinneret_rank_send_init(nic, more, 3, word, there, 4, 0, &other));
    FINE(spinneret_rank_start(nic, other));
    FINE(spinneret_rank_wait(nic, request, second, &status));
    FINE(spinneret_rank_wait(nic, other, second, NULL));
    int wrong = status.bytes != 24 || status.source != there || status.tag != 4;
    for (int i = 0; i < 512; i++)
        wrong += words[i] != (i < 3 ? 2 : 1);
    if (wrong)
        fprintf(stderr, "rank %d: %d wrong\n", rank, wrong), MPI_Abort(MPI_COMM_WORLD, 1);
    FINE(spinneret_rank_free(nic, request));
    FINE(spinneret_rank_free(nic, other));

    /* Another communicator, whose ranks are in another order; its messages are separate from those of the first. */
    MPI_Comm back;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &back);
    uint32_t number;
    FINE(spinneret_rank_communicator(nic, spinneret_comm(back), &number));
    uint64_t in_world, in_back, to_world, to_back;
    FINE(spinneret_rank_recv_init(nic, memory, 1, word, SPINNERET_ANY_SOURCE, 5, 0, 0, &in_world));
    FINE(spinneret_rank_recv_init(nic, words + 8, 1, word, SPINNERET_ANY_SOURCE, 5, number, 0, &in_back));
    FINE(spinneret_rank_send_init(nic, sent + 8, 1, word, there, 5, 0, &to_world));
    FINE(spinneret_rank_send_init(nic, sent, 1, word, rank, 5, number, &to_back));
    sent[0] = 10, sent[8] = 11;
    FINE(spinneret_rank_start(nic, in_world));
    FINE(spinneret_rank_start(nic, to_back));
    FINE(spinneret_rank_wait(nic, to_back, 1, NULL) == SPINNERET_ERROR_TIMEOUT ? 0 : 1);
    const uint64_t same[] = {in_back, in_back}, both[] = {in_back, to_world};
    REFUSED(spinneret_rank_start_all(nic, 2, same), ARGUMENT, "active");
    REFUSED(spinneret_rank_test_all(nic, 2, both, NULL), ARGUMENT, "not active");
    REFUSED(spinneret_rank_start_all(nic, 2, NULL), ARGUMENT, "no buffer");
    REFUSED(spinneret_rank_start_all(nic, SIZE_MAX, both), ARGUMENT, "requests");
    FINE(spinneret_rank_start_all(nic, 2, both));
    FINE(spinneret_rank_wait(nic, in_back, second, &status));
    wrong = words[8] != 10 || status.source != rank;
    FINE(spinneret_rank_wait(nic, in_world, second, &status));
    wrong += words[0] != 11 || status.source != there;
    if (wrong)
        fprintf(stderr, "rank %d: %d wrong between communicators\n", rank, wrong), MPI_Abort(MPI_COMM_WORLD, 1);
    FINE(spinneret_rank_wait(nic, to_world, second, NULL));
    FINE(spinneret_rank_wait(nic, to_back, second, NULL));
    MPI_Comm_free(&back);
    REFUSED(spinneret_rank_barrier(nic, number + 1), ARGUMENT, "there is no communicator");
    FINE(spinneret_rank_barrier(nic, number));
    FINE(spinneret_rank_close(nic));
    REFUSED(spinneret_rank_close(nic), ARGUMENT, "no rank that is open");
    MPI_Finalize();
    printf("rank %d: all refused\n", rank);
    return 0;
}
