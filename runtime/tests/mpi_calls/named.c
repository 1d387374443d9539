/*
 * MPI under its own names: this file compiles for handlers, and for the host with its mpi.h. A function returns 0, or the
 * line where it found something wrong.
 */

/* Without optimisation it would not fit into program memory together with the other variants. */
#ifndef __OPTIMIZE__
#pragma GCC optimize("Os")
#endif
#include "named.h"

#include <stdbool.h>
#include <stddef.h>

#include <EmissaryMPI.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) \
            return __LINE__; \
    } while (false)

int named_message(int rank, int i) {
    MPI_Comm _mpi_comm = MPI_COMM_WORLD;
    MPI_Datatype _mpi_int = MPI_INT;
    int rc = 0;
    int send_recv_buffer = 1;
    if (rank == 0) {
        send_recv_buffer = -i;
        rc = MPI_Send(&send_recv_buffer, 1, _mpi_int, 1, i, _mpi_comm);
    } else {
        MPI_Recv(&send_recv_buffer, 1, _mpi_int, 0, i, _mpi_comm, MPI_STATUS_IGNORE);
        if (send_recv_buffer != -i)
            rc = 1;
    }
    return rc;
}

int named_requests(int i) {
    enum { WORDS = 40 };
    int out[WORDS], in[WORDS + 1], count = 0, flag = 0;
    MPI_Request sent = MPI_REQUEST_NULL, received = MPI_REQUEST_NULL, none = MPI_REQUEST_NULL;
    MPI_Status status;
    for (int word = 0; word < WORDS; ++word)
        out[word] = i + word;
    in[WORDS] = 77;
    CHECK(MPI_Irecv(in, WORDS + 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_SELF, &received) == MPI_SUCCESS);
    CHECK(received != MPI_REQUEST_NULL);
    CHECK(MPI_Isend(out, WORDS, MPI_INT, 0, i, MPI_COMM_SELF, &sent) == MPI_SUCCESS);
    CHECK(MPI_Wait(&received, &status) == MPI_SUCCESS && received == MPI_REQUEST_NULL);
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == i);
    CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == WORDS);
    for (int word = 0; word < WORDS; ++word)
        CHECK(in[word] == i + word);
    CHECK(in[WORDS] == 77);
    while (!flag)
        CHECK(MPI_Test(&sent, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(sent == MPI_REQUEST_NULL && MPI_Wait(&sent, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    /* A receive that has not ended leaves its memory alone. */
    CHECK(MPI_Irecv(in, 1, MPI_INT, 0, i, MPI_COMM_SELF, &received) == MPI_SUCCESS);
    CHECK(MPI_Test(&received, &flag, &status) == MPI_SUCCESS && !flag && in[0] == i);
    CHECK(MPI_Send(&out[1], 1, MPI_INT, 0, i, MPI_COMM_SELF) == MPI_SUCCESS);
    CHECK(MPI_Wait(&received, MPI_STATUS_IGNORE) == MPI_SUCCESS && in[0] == i + 1);
    /* Without data. */
    CHECK(MPI_Isend(NULL, 0, MPI_INT, 0, i, MPI_COMM_SELF, &none) == MPI_SUCCESS);
    CHECK(MPI_Recv(NULL, 0, MPI_INT, 0, i, MPI_COMM_SELF, &status) == MPI_SUCCESS);
    CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == 0);
    return MPI_Wait(&none, MPI_STATUS_IGNORE) == MPI_SUCCESS ? 0 : __LINE__;
}

int named_errors(int i) {
    int pair[2] = {i, i}, one = 5;
    MPI_Request sent = MPI_REQUEST_NULL;
    CHECK(MPI_Send(pair, 1, MPI_INT, 99, i, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Send(pair, 1, MPI_INT, 0, -5, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Send(pair, -1, MPI_INT, 0, i, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Isend(pair, 2, MPI_INT, 0, i, MPI_COMM_SELF, &sent) == MPI_SUCCESS);
    CHECK(MPI_Recv(&one, 1, MPI_INT, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE) == MPI_ERR_TRUNCATE && one == 5);
    CHECK(MPI_Wait(&sent, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    return 0;
}

/* Functions that both ranks call in one order. */
int named_together(int i) {
    int rank = -1, size = -1, all[2] = {0, 0}, mine, count = 0;
    double number;
    unsigned int bits;
    MPI_Status status;
    CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS);
    CHECK(size == 2 && (rank == 0 || rank == 1));
    int peer = 1 - rank;
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    mine = rank == 1 ? i : 0;
    CHECK(MPI_Bcast(&mine, 1, MPI_INT, 1, MPI_COMM_WORLD) == MPI_SUCCESS && mine == i);
    number = rank + 1.5;
    CHECK(MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD) == MPI_SUCCESS && number == 3.75);
    bits = rank == 0 ? 0x80000000u : 1;
    all[0] = 3;
    CHECK(MPI_Reduce(&bits, rank == 1 ? &all[0] : NULL, 1, MPI_UNSIGNED, MPI_MAX, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(all[0] == (rank == 1 ? (int)0x80000000u : 3));
    mine = 10 * i + rank;
    CHECK(MPI_Gather(&mine, 1, MPI_INT, rank == 0 ? all : NULL, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(rank != 0 || (all[0] == 10 * i && all[1] == 10 * i + 1));
    all[0] = 7 * i, all[1] = 8 * i, mine = 0;
    CHECK(MPI_Scatter(rank == 1 ? all : NULL, 1, MPI_INT, &mine, 1, MPI_INT, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(mine == (rank == 0 ? 7 * i : 8 * i));
    CHECK(MPI_Sendrecv(&rank, 1, MPI_INT, peer, i, &mine, 1, MPI_INT, peer, i, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
    CHECK(mine == peer && status.MPI_SOURCE == peer);
    if (rank == 0) {
        CHECK(MPI_Send(all, 2, MPI_INT, 1, 2 * i + 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    } else {
        CHECK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
        CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 2 * i + 1);
        CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == 2);
        CHECK(MPI_Recv(all, 2, MPI_INT, 0, 2 * i + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(all[0] == 7 * i && all[1] == 8 * i);
    }
    return 0;
}
