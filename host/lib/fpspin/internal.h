/* Shared by the files of libfpspin: NICs and open contexts of this process. */
#ifndef FPSPIN_INTERNAL_H
#define FPSPIN_INTERNAL_H

#include <pthread.h>
#include <spinneret.h>
#include <stdatomic.h>

#include "fpspin.h"

/* A NIC of this process. */
struct card {
    char *name;
    spinneret_nic *nic;
    unsigned contexts;
    bool has_clock;
    pthread_t clock;
    atomic_bool is_over;
    atomic_int callers; /* that wait for their turn, or have it */
    struct card *next;
};

/* An open context. */
struct context {
    int number; /* fd of its fpspin_ctx_t */
    int id;
    const fpspin_ctx_t *ctx; /* of fpspin_init; copies are as good */
    struct card *card;
    spinneret_context *handle; /* NULL: unloaded */
    fpspin_ruleset_t rules;
    bool told_pages;
    struct context *next;
};

/* ---- errors.c: one sentence each, on standard error ---- */

__attribute__((format(printf, 2, 3))) void fpspin_fail(const char *call, const char *format, ...);
/* Whether a call of spinneret's library succeeded. */
bool fpspin_succeeds(const char *call, int result);
/* Whether a number is from 0 to count - 1. */
bool fpspin_is_below(const char *call, const char *what, int number, int count);

/* ---- card.c ---- */

/* Returns the NIC of a device, which is opened if it is not yet. */
struct card *fpspin_open_card(const char *call, const char *dev);
/* Closes a NIC that has no contexts. */
void fpspin_close_card(struct card *card);
/* Calls of one thread at a time, between turns of the NIC's clock. */
void fpspin_begin_turn(struct card *card);
void fpspin_end_turn(struct card *card);

/* ---- context.c ---- */

/* Returns the context with handlers of an fpspin_ctx_t, and takes the lock until fpspin_unlock; NULL: takes nothing. */
struct context *fpspin_lock_loaded(const char *call, const fpspin_ctx_t *ctx);
void fpspin_unlock(void);
/* The same with a turn on the NIC, until fpspin_leave. */
struct context *fpspin_enter(const char *call, const fpspin_ctx_t *ctx);
void fpspin_leave(struct context *context);

#endif
