/*
 * Ranks in a ring pass columns of a matrix on: each sends its last column to the right, where the NIC puts it into the first
 * column, element by element, while the host computes.
 *
 *     spinneret fabric --nics 4 --sockets /tmp/nics
 *     mpirun -n 4 columns /tmp/nics mpi_types.elf 10
 */
#include <inttypes.h>
#include <spinneret_rank.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 512, COLUMNS = 8, TAG = 7 };
static const uint64_t SECOND = 1000000000;

/* The value of an element of a column in a step, as its rank fills it in. */
static double value(int rank, int step, int row) { return 1000.0 * rank + step + row / 1024.0; }

static void check(int result) {
    if (result < 0) {
        fprintf(stderr, "columns: %s\n", spinneret_error_message());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 4) {
        fprintf(stderr, "columns: needs a folder of sockets, the program of handlers, and a number of steps\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    char name[4096];
    snprintf(name, sizeof name, "unix:%s/nic%d", argv[1], rank);
    spinneret_rank *nic;
    check(spinneret_rank_open(name, argv[2], spinneret_comm(MPI_COMM_WORLD), NULL, &nic));

    void *memory;
    check(spinneret_rank_alloc(nic, ROWS * COLUMNS * sizeof(double), &memory));
    double(*matrix)[COLUMNS] = memory;
    MPI_Datatype column;
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    uint64_t requests[2];
    check(spinneret_rank_recv_init(nic, &matrix[0][0], 1, spinneret_type(column), left, TAG, 0, 0, &requests[0]));
    check(spinneret_rank_send_init(nic, &matrix[0][COLUMNS - 1], 1, spinneret_type(column), right, TAG, 0, &requests[1]));
    MPI_Type_free(&column);

    int wrong = 0;
    for (int step = 0; step < atoi(argv[3]); step++) {
        for (int row = 0; row < ROWS; row++)
            for (int place = 0; place < COLUMNS; place++)
                matrix[row][place] = place == COLUMNS - 1 ? value(rank, step, row) : -1;
        check(spinneret_rank_start_all(nic, 2, requests));
        check(spinneret_rank_compute(nic, 20000));
        spinneret_status status[2];
        check(spinneret_rank_wait_all(nic, 2, requests, SECOND, status));
        wrong += status[0].source != left || status[0].tag != TAG || status[0].bytes != ROWS * sizeof(double);
        for (int row = 0; row < ROWS; row++)
            for (int place = 0; place < COLUMNS - 1; place++)
                wrong += matrix[row][place] != (place == 0 ? value(left, step, row) : -1);
    }
    spinneret_rank_counts counts;
    check(spinneret_rank_count(nic, &counts));
    uint64_t now;
    check(spinneret_rank_now(nic, &now));
    printf("rank %d: %" PRIu64 " columns placed by the NIC, %d wrong, %" PRIu64 " ns\n", rank, counts.placed, wrong, now);
    check(spinneret_rank_close(nic));
    MPI_Finalize();
    return wrong != 0;
}
