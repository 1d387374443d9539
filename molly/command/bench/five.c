/* The program that molly is measured against: five points in single precision, written manually for ranks along the
 * first dimension, with persistent requests, work on the interior while messages are under way, and an exchange of
 * pointers. Fields begin at a line of caches.
 *
 * mpirun -n RANKS five SIZE STEPS REPEATS prints the median time of a run in seconds, and the sum of all points. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int size, rows;

/* Rows `from` to `to` of a block whose row 0 is that of the rank before. */
static void sweep(const float *restrict now, float *restrict next, int from, int to) {
    for (int x = from; x < to; x++) {
        const float *here = now + (size_t)x * size;
        float *out = next + (size_t)x * size;
        for (int y = 1; y < size - 1; y++) {
            out[y] = 0.2f * (here[y] + here[y - size] + here[y + size] + here[y - 1] + here[y + 1]);
        }
    }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4) {
        if (rank == 0) fprintf(stderr, "five SIZE STEPS REPEATS\n");
        MPI_Finalize();
        return 2;
    }
    size = atoi(argv[1]);
    int steps = atoi(argv[2]), repeats = atoi(argv[3]);
    int first = (int)((long)rank * size / ranks), last = (int)((long)(rank + 1) * size / ranks);
    rows = last - first;
    float *field[2];
    size_t bytes = (size_t)(rows + 2) * size * sizeof(float);
    for (int i = 0; i < 2; i++) {
        field[i] = aligned_alloc(64, (bytes + 63) / 64 * 64);
        memset(field[i], 0, bytes);
    }
    int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    MPI_Request requests[2][4];
    for (int i = 0; i < 2; i++) {
        float *f = field[i];
        MPI_Recv_init(f, size, MPI_FLOAT, above, 0, MPI_COMM_WORLD, &requests[i][0]);
        MPI_Recv_init(f + (size_t)(rows + 1) * size, size, MPI_FLOAT, below, 1, MPI_COMM_WORLD, &requests[i][1]);
        MPI_Send_init(f + size, size, MPI_FLOAT, above, 1, MPI_COMM_WORLD, &requests[i][2]);
        MPI_Send_init(f + (size_t)rows * size, size, MPI_FLOAT, below, 0, MPI_COMM_WORLD, &requests[i][3]);
    }
    double *times = malloc(repeats * sizeof(double));
    double sum = 0;
    /* Rows that are computed: not the first and the last one of the field. */
    int top = rank == 0 ? 2 : 1, bottom = rank == ranks - 1 ? rows : rows + 1;
    for (int repeat = -1; repeat < repeats; repeat++) {
        for (int i = 0; i < 2; i++)
            for (int x = 1; x <= rows; x++)
                for (int y = 0; y < size; y++) {
                    long at = (31 + 17L * (first + x - 1) + 3) % 101;
                    field[i][(size_t)x * size + y] = (float)(((at * 31 + 17L * y + 3) % 101) / 7.0);
                }
        MPI_Barrier(MPI_COMM_WORLD);
        double begun = MPI_Wtime();
        for (int step = 0; step < steps; step++) {
            float *now = field[step % 2], *next = field[(step + 1) % 2];
            MPI_Startall(4, requests[step % 2]);
            sweep(now, next, top + 1, bottom - 1);
            MPI_Waitall(4, requests[step % 2], MPI_STATUSES_IGNORE);
            sweep(now, next, top, top + 1);
            sweep(now, next, bottom - 1, bottom);
        }
        double took = MPI_Wtime() - begun;
        if (repeat >= 0) times[repeat] = took;
        sum = 0;
        for (int x = 1; x <= rows; x++)
            for (int y = 0; y < size; y++) sum += field[steps % 2][(size_t)x * size + y];
    }
    double all = 0;
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    qsort(times, repeats, sizeof(double), by_value);
    if (rank == 0) printf("%.9f %.9g\n", times[repeats / 2], all);
    MPI_Finalize();
    return 0;
}
