/* MPI under its own names. */
#ifndef NAMED_H
#define NAMED_H

/* A message from rank 0 to rank 1, as a region of Emissary APIs sends it. */
int named_message(int rank, int i);

/* Messages by requests, of a rank to itself. */
int named_requests(int i);

/* Calls that MPI refuses. */
int named_errors(int i);

/* Functions that two ranks call together. */
int named_together(int i);

#endif
