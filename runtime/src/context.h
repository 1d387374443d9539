/* The runtime's data for each HPU in L1, in the layout of start.S. */
#ifndef CONTEXT_H
#define CONTEXT_H

#define SPIN_CONTEXT_SHIFT 5 /* a context has 32 bytes: SPIN_CONTEXT_SIZE */

#define CONTEXT_SAVED 0   /* room for one register during a trap */
#define CONTEXT_RETURN 4  /* where handlers return to */
#define CONTEXT_TP 8      /* thread-local variables */
#define CONTEXT_GID 12    /* number of the HPU among all */
#define CONTEXT_CLUSTER 16
#define CONTEXT_HPU 20
#define CONTEXT_INSIDE 24 /* what the end of a task has to look at, in one word: INSIDE_..., IS_PUBLIC */

/* Whether the guard has let this HPU in, and for whom. */
#define INSIDE_HANDLER 1
#define INSIDE_RUNTIME 2  /* the resident runtime, to start a program */
#define INSIDE (INSIDE_HANDLER | INSIDE_RUNTIME)
#define IS_PUBLIC_SHIFT 2 /* the bit above: this is an HPU of the PULP cluster */

#define CONTEXT_GP 28     /* gp of handlers */

/* The resident runtime keeps this instead of CONTEXT_RETURN. */
#define CONTEXT_PROGRAM 4 /* id of the program whose thread-local variables are in the area; 0: none */

/* The guard, in each cluster's L1: HPUs of the cluster take turns by tickets, clusters by numbers. */
#define GUARD_TICKET 0   /* the next one to be taken */
#define GUARD_TURN 4     /* whose turn it is */
#define GUARD_CLUSTERS 8 /* clusters that there are, which need not be NB_CLUSTERS */
#define GUARD_WANTS 12   /* a byte of each HPU: whether it is about to take a ticket */
#define GUARD_NUMBER 20  /* state of each cluster: GUARD_IDLE, GUARD_CHOOSING, or an odd number */
#define GUARD_LOADS 52   /* loads that the cluster's instruction cache knows; the resident runtime alone has it */
#define GUARD_MAX_CLUSTERS 8
#define GUARD_IDLE 0
#define GUARD_CHOOSING 2

#define ARGS_SIZE 16 /* sizeof(handler_args_t) */

#endif
