/* Two ranks exchange a column of a field of single precision: with MPI's vector type, and packed manually.
 *
 * As in molly's fields a row has one element more than the column: those of neighbouring columns. If the bytes of a row
 * were a power of two, all of a column would be in few sets of the caches, which doubles the time of packing.
 *
 * columns SIZE TURNS: prints the median time of an exchange in seconds, with the vector type and packed manually. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int count) {
    qsort(times, count, sizeof *times, compare);
    return times[count / 2];
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int size = argc > 1 ? atoi(argv[1]) : 0, turns = argc > 2 ? atoi(argv[2]) : 0;
    if (ranks != 2 || size < 4 || turns < 1) {
        fprintf(stderr, "usage: mpirun -n 2 columns SIZE TURNS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    /* The second column is sent, the first one received. */
    size_t width = (size_t)size + 1;
    float *field = calloc(size * width, sizeof *field);
    float *out = calloc(size, sizeof *out), *in = calloc(size, sizeof *in);
    double *times = calloc(turns, sizeof *times);
    if (!field || !out || !in || !times) {
        fprintf(stderr, "columns: no memory for %d x %d\n", size, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Datatype column;
    MPI_Type_vector(size, 1, (int)width, MPI_FLOAT, &column);
    MPI_Type_commit(&column);
    int other = 1 - rank;
    MPI_Request typed[2], packed[2];
    MPI_Status statuses[2];
    MPI_Recv_init(field, 1, column, other, 0, MPI_COMM_WORLD, &typed[0]);
    MPI_Send_init(field + 1, 1, column, other, 0, MPI_COMM_WORLD, &typed[1]);
    MPI_Recv_init(in, size, MPI_FLOAT, other, 1, MPI_COMM_WORLD, &packed[0]);
    MPI_Send_init(out, size, MPI_FLOAT, other, 1, MPI_COMM_WORLD, &packed[1]);
    double found[2];
    for (int by_hand = 0; by_hand < 2; by_hand++) {
        for (int turn = -turns / 4; turn < turns; turn++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double begun = MPI_Wtime();
            if (by_hand) {
                MPI_Start(&packed[0]);
                for (size_t row = 0; row < (size_t)size; row++)
                    out[row] = field[row * width + 1];
                MPI_Start(&packed[1]);
                MPI_Waitall(2, packed, statuses);
                for (size_t row = 0; row < (size_t)size; row++)
                    field[row * width] = in[row];
            } else {
                MPI_Startall(2, typed);
                MPI_Waitall(2, typed, statuses);
            }
            if (turn >= 0)
                times[turn] = MPI_Wtime() - begun;
        }
        found[by_hand] = median(times, turns);
    }
    if (rank == 0)
        printf("%.9f %.9f\n", found[0], found[1]);
    for (int end = 0; end < 2; end++) {
        MPI_Request_free(&typed[end]);
        MPI_Request_free(&packed[end]);
    }
    MPI_Type_free(&column);
    free(field);
    free(out);
    free(in);
    free(times);
    MPI_Finalize();
    return 0;
}
