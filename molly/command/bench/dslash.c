/* The program that molly is measured against: Wilson's operator of lattice QCD on even and odd sites in place, written manually for
 * ranks along the first dimension. Each half step sends the sites of the other parity on both border planes, with persistent
 * requests, and works on the interior meanwhile.
 *
 * mpirun -n RANKS dslash SIZE STEPS REPEATS prints the median time of a run in seconds, the norm of all spinors, and the bytes
 * that all ranks together read from memory in a second. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double re, im; } number;
typedef struct { number of[3][3]; } matrix;
typedef struct { number of[4][3]; } spinor;
typedef struct { matrix ahead[4], behind[4]; } links;

/* The upper right quarter of each gamma matrix: a row's column, and its power of i. */
static const int column_of[4][2] = {{1, 0}, {1, 0}, {0, 1}, {0, 1}}, power_of[4][2] = {{3, 3}, {2, 0}, {3, 1}, {0, 0}};

static int size, rows, first;

static inline number turned(number a, int quarters) {
    switch (quarters & 3) {
    case 0: return a;
    case 1: return (number){-a.im, a.re};
    case 2: return (number){-a.re, -a.im};
    default: return (number){a.im, -a.re};
    }
}

static inline __attribute__((always_inline)) void hop(spinor *sum, const matrix *u, const spinor *psi, int direction, int minus) {
#pragma GCC unroll 2
    for (int row = 0; row < 2; row++) {
        int column = column_of[direction][row], power = power_of[direction][row];
        number h[3], moved;
        for (int c = 0; c < 3; c++) {
            number lower = turned(psi->of[2 + column][c], power + minus);
            h[c] = (number){psi->of[row][c].re + lower.re, psi->of[row][c].im + lower.im};
        }
        for (int r = 0; r < 3; r++) {
            moved = (number){0, 0};
            for (int c = 0; c < 3; c++) {
                number a = u->of[r][c];
                moved.re += a.re * h[c].re - a.im * h[c].im;
                moved.im += a.re * h[c].im + a.im * h[c].re;
            }
            sum->of[row][r].re += moved.re;
            sum->of[row][r].im += moved.im;
            moved = turned(moved, 4 - power + minus);
            sum->of[2 + column][r].re += moved.re;
            sum->of[2 + column][r].im += moved.im;
        }
    }
}

/* Planes `from` to `to` of a block whose plane 0 is that of the rank before; sites whose coordinates have the parity. */
static void sweep(const links *restrict all_links, spinor *psi, int from, int to, int parity) {
    long n = size, plane = n * n * n;
    for (int x = from; x < to; x++)
        for (long y = 0; y < n; y++)
            for (long z = 0; z < n; z++)
                for (long t = (first + x - 1 + y + z + parity) & 1; t < n; t += 2) {
                    long line = x * plane + (y * n + z) * n, at = line + t;
                    const links *u = all_links + at - plane;
                    spinor sum;
                    memset(&sum, 0, sizeof sum);
                    hop(&sum, &u->ahead[0], psi + at + plane, 0, 2);
                    hop(&sum, &u->ahead[1], psi + x * plane + ((y + 1 == n ? 0 : y + 1) * n + z) * n + t, 1, 2);
                    hop(&sum, &u->ahead[2], psi + x * plane + (y * n + (z + 1 == n ? 0 : z + 1)) * n + t, 2, 2);
                    hop(&sum, &u->ahead[3], psi + line + (t + 1 == n ? 0 : t + 1), 3, 2);
                    hop(&sum, &u->behind[0], psi + at - plane, 0, 0);
                    hop(&sum, &u->behind[1], psi + x * plane + ((y == 0 ? n - 1 : y - 1) * n + z) * n + t, 1, 0);
                    hop(&sum, &u->behind[2], psi + x * plane + (y * n + (z == 0 ? n - 1 : z - 1)) * n + t, 2, 0);
                    hop(&sum, &u->behind[3], psi + line + (t == 0 ? n - 1 : t - 1), 3, 0);
                    for (int i = 0; i < 12; i++) {
                        psi[at].of[i / 3][i % 3].re = 0.125 * sum.of[i / 3][i % 3].re;
                        psi[at].of[i / 3][i % 3].im = 0.125 * sum.of[i / 3][i % 3].im;
                    }
                }
}

/* Copies the sites of a plane that have the parity to a buffer, or back. */
static void pack(spinor *plane, spinor *buffer, int x, int parity, int is_back) {
    for (int y = 0; y < size; y++)
        for (int z = 0; z < size; z++)
            for (int t = (x + y + z + parity) & 1; t < size; t += 2) {
                spinor *site = plane + ((long)y * size + z) * size + t;
                if (is_back) *site = *buffer++;
                else *buffer++ = *site;
            }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Bytes that a rank reads in a second, the best of some. */
static double bandwidth(const double *words, long count, double *sum) {
    double best = 0;
    for (int repeat = 0; repeat < 5; repeat++) {
        double begun = MPI_Wtime(), parts[16] = {0};
        for (long i = 0; i + 16 <= count; i += 16)
            for (int j = 0; j < 16; j++) parts[j] += words[i + j];
        double took = MPI_Wtime() - begun;
        for (int j = 0; j < 16; j++) *sum += parts[j];
        if (count * 8 / took > best) best = count * 8 / took;
    }
    return best;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4) {
        if (rank == 0) fprintf(stderr, "dslash SIZE STEPS REPEATS\n");
        MPI_Finalize();
        return 2;
    }
    size = atoi(argv[1]);
    int steps = atoi(argv[2]), repeats = atoi(argv[3]);
    first = (int)((long)rank * size / ranks);
    rows = (int)((long)(rank + 1) * size / ranks) - first;
    long plane = (long)size * size * size, half = plane / 2;
    spinor *psi = aligned_alloc(64, (rows + 2) * plane * sizeof *psi), *buffer = aligned_alloc(64, 4 * half * sizeof *psi);
    links *all_links = aligned_alloc(64, rows * plane * sizeof *all_links);
    int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks, doubles = (int)(half * sizeof *psi / sizeof(double));
    MPI_Request requests[4];
    MPI_Recv_init(buffer, doubles, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(buffer + half, doubles, MPI_DOUBLE, after, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(buffer + 2 * half, doubles, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Send_init(buffer + 3 * half, doubles, MPI_DOUBLE, after, 0, MPI_COMM_WORLD, &requests[3]);
    double *times = malloc(repeats * sizeof(double)), norm = 0;
    for (int repeat = -1; repeat < repeats; repeat++) {
        memset(all_links, 0, rows * plane * sizeof *all_links);
        for (long site = 0; site < rows * plane; site++)
            for (int i = 0; i < 8; i++)
                for (int c = 0; c < 3; c++) (i < 4 ? all_links[site].ahead : all_links[site].behind)[i & 3].of[c][c].re = 1;
        for (long i = 0; i < (rows + 2) * plane * 24; i++)
            ((double *)psi)[i] = (double)(((first + size - 1) * plane * 24 + i) % (size * plane * 24) * 17 % 101) / 7.0;
        MPI_Barrier(MPI_COMM_WORLD);
        double begun = MPI_Wtime();
        for (int step = 0; step < 2 * steps; step++) {
            /* This half step updates one parity and needs the other one of the borders. */
            int other = step + 1;
            pack(psi + plane, buffer + 2 * half, first, other, 0);
            pack(psi + rows * plane, buffer + 3 * half, first + rows - 1, other, 0);
            MPI_Startall(4, requests);
            sweep(all_links, psi, 2, rows, step);
            MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
            pack(psi, buffer, first - 1 + 2 * size, other, 1);
            pack(psi + (rows + 1) * plane, buffer + half, first + rows, other, 1);
            sweep(all_links, psi, 1, 2, step);
            if (rows > 1) sweep(all_links, psi, rows, rows + 1, step);
        }
        double took = MPI_Wtime() - begun;
        if (repeat >= 0) times[repeat] = took;
        norm = 0;
        for (long i = plane * 24; i < (rows + 1) * plane * 24; i++) norm += ((double *)psi)[i] * ((double *)psi)[i];
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double sum = 0, rate = bandwidth((const double *)all_links, rows * plane * (long)(sizeof *all_links / 8), &sum);
    double mine[3] = {norm, rate, sum}, all[3];
    MPI_Reduce(mine, all, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    qsort(times, repeats, sizeof(double), by_value);
    /* The sum is used, so that the compiler keeps its loop. */
    if (rank == 0) printf("%.9f %.9g %.9g\n", times[repeats / 2], all[0] + 0 * all[2], all[1]);
    MPI_Finalize();
    return 0;
}
