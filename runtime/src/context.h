/* What the runtime keeps for each HPU in L1, as start.S lays it out. */
#ifndef CONTEXT_H
#define CONTEXT_H

#define SPIN_CONTEXT_SHIFT 5 /* a context has 32 bytes: SPIN_CONTEXT_SIZE */

#define CONTEXT_SAVED 0   /* room for one register during a trap */
#define CONTEXT_SP 4      /* stack pointer of a fresh task; the handler's arguments lie at it */
#define CONTEXT_TP 8      /* thread-local variables */
#define CONTEXT_GID 12    /* number of the HPU among all */
#define CONTEXT_CLUSTER 16
#define CONTEXT_HPU 20

#define ARGS_SIZE 16 /* sizeof(handler_args_t) */

#endif
