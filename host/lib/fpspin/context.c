/* Contexts of libfpspin: their rules, opening and closing. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "internal.h"

/* Values of fd: closed, never opened, and the number before that of the first context. */
enum { FD_EXITED = -1, FD_FAILED = -2, FD_FIRST = 0x40000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context *contexts;
static int last_number = FD_FIRST;
static const char *regs_base;

/* ---- Open contexts ---- */

/* Returns the context of an fpspin_ctx_t, and takes the lock; NULL: takes nothing. */
static struct context *lock_context(const char *call, const fpspin_ctx_t *ctx) {
    pthread_mutex_lock(&lock);
    struct context *context = ctx == NULL ? NULL : contexts;
    while (context != NULL && context->number != ctx->fd) {
        context = context->next;
    }
    if (context == NULL) {
        fpspin_unlock();
        fpspin_fail(call, "%s", ctx == NULL ? "the context is a null pointer"
                                            : "the context is not open: call fpspin_init first, and nothing after fpspin_exit");
    }
    return context;
}

void fpspin_unlock(void) { pthread_mutex_unlock(&lock); }

struct context *fpspin_lock_loaded(const char *call, const fpspin_ctx_t *ctx) {
    struct context *context = lock_context(call, ctx);
    if (context != NULL && context->handle == NULL) {
        fpspin_unlock();
        fpspin_fail(call, "context %d has no handlers: call fpspin_load", ctx->ctx_id);
        return NULL;
    }
    return context;
}

struct context *fpspin_enter(const char *call, const fpspin_ctx_t *ctx) {
    struct context *context = fpspin_lock_loaded(call, ctx);
    if (context != NULL) {
        fpspin_begin_turn(context->card);
    }
    return context;
}

void fpspin_leave(struct context *context) {
    fpspin_end_turn(context->card);
    fpspin_unlock();
}

/* ---- Rules ---- */

static spinneret_rule to_rule(const struct fpspin_rule *rule) {
    return (spinneret_rule){.word = (uint32_t)rule->idx, .mask = rule->mask, .first = rule->start, .last = rule->end};
}

static bool set_rules(const char *call, struct context *context, const fpspin_ruleset_t *rs) {
    if (rs->mode != FPSPIN_MODE_AND && rs->mode != FPSPIN_MODE_OR) {
        fpspin_fail(call, "mode %d of ruleset %d must be FPSPIN_MODE_AND or FPSPIN_MODE_OR", (int)rs->mode, context->id);
        return false;
    }
    spinneret_ruleset rules = {
        .join = rs->mode == FPSPIN_MODE_AND ? SPINNERET_ALL : SPINNERET_ANY,
        .count = SPINNERET_RULES,
        .has_messages = 1,
        .end_of_message = to_rule(&rs->r[SPINNERET_RULES]),
    };
    for (int rule = 0; rule < SPINNERET_RULES; rule++) {
        rules.rules[rule] = to_rule(&rs->r[rule]);
    }
    if (context->handle != NULL && !fpspin_succeeds(call, spinneret_set_rules(context->handle, &rules))) {
        return false;
    }
    context->rules = *rs;
    return true;
}

/* Rulesets of the contexts on a NIC, or on all. */
static bool set_all_rules(const char *call, const struct card *card, const fpspin_ruleset_t *rs, int num_rs) {
    fpspin_ruleset_t nothing;
    fpspin_ruleset_bypass(&nothing);
    bool are_set = true;
    for (struct context *context = contexts; are_set && context != NULL; context = context->next) {
        if (card == NULL || context->card == card) {
            fpspin_begin_turn(context->card);
            are_set = set_rules(call, context, context->id < num_rs ? &rs[context->id] : &nothing);
            fpspin_end_turn(context->card);
        }
    }
    return are_set;
}

static bool are_rulesets(const char *call, const fpspin_ruleset_t *rs, int num_rs) {
    if (num_rs < 0 || num_rs > NUM_RULESETS || (rs == NULL && num_rs > 0)) {
        fpspin_fail(call, "there must be 0 to %d rulesets, not %d%s", NUM_RULESETS, num_rs, rs == NULL ? " at a null pointer" : "");
        return false;
    }
    return true;
}

void fpspin_prog_me(const fpspin_ruleset_t *rs, int num_rs) {
    if (are_rulesets(__func__, rs, num_rs)) {
        pthread_mutex_lock(&lock);
        set_all_rules(__func__, NULL, rs, num_rs);
        fpspin_unlock();
    }
}

void fpspin_set_me_ruleset(int ctx_id, const fpspin_ruleset_t *rs) {
    if (rs == NULL) {
        fpspin_fail(__func__, "the ruleset is a null pointer");
        return;
    }
    pthread_mutex_lock(&lock);
    bool is_open = false;
    for (struct context *context = contexts; context != NULL; context = context->next) {
        if (context->id == ctx_id) {
            is_open = true;
            fpspin_begin_turn(context->card);
            set_rules(__func__, context, rs);
            fpspin_end_turn(context->card);
        }
    }
    fpspin_unlock();
    if (!is_open) {
        fpspin_fail(__func__, "context %d is not open in this process", ctx_id);
    }
}

static void fill(fpspin_ruleset_t *rs, struct fpspin_rule a, struct fpspin_rule b, struct fpspin_rule c, struct fpspin_rule end) {
    *rs = (fpspin_ruleset_t){.r = {a, b, c, end}, .mode = FPSPIN_MODE_AND};
}

void fpspin_ruleset_bypass(fpspin_ruleset_t *rs) {
    fill(rs, FPSPIN_RULE_FALSE, FPSPIN_RULE_FALSE, FPSPIN_RULE_FALSE, FPSPIN_RULE_FALSE);
}

void fpspin_ruleset_match(fpspin_ruleset_t *rs) {
    fill(rs, FPSPIN_RULE_EMPTY, FPSPIN_RULE_EMPTY, FPSPIN_RULE_EMPTY, FPSPIN_RULE_EMPTY);
}

void fpspin_ruleset_udp(fpspin_ruleset_t *rs) {
    fill(rs, FPSPIN_RULE_IP, FPSPIN_RULE_IP_PROTO(17), FPSPIN_RULE_EMPTY, FPSPIN_RULE_FALSE);
}

/* The flags of SLMP are in the lower half of word 10. */
void fpspin_ruleset_slmp(fpspin_ruleset_t *rs) {
    fill(rs, FPSPIN_RULE_IP, FPSPIN_RULE_IP_PROTO(17), FPSPIN_RULE_UDP_DPORT(SLMP_PORT),
         (struct fpspin_rule){10, MKEOM, MKEOM, MKEOM});
}

/* ---- Opening and closing ---- */

/* The last requests and values of the HPUs, before packets come: handlers go on counting from there. */
static void read_requests(fpspin_ctx_t *ctx, spinneret_context *handle) {
    memset(ctx->dma_idx, 0, sizeof(ctx->dma_idx));
    uint32_t bytes = 0;
    if (spinneret_variable(handle, "dma_idx", NULL, &bytes) == SPINNERET_OK) {
        bytes = bytes < sizeof(ctx->dma_idx) ? bytes : sizeof(ctx->dma_idx);
        spinneret_variable_read(handle, "dma_idx", 0, ctx->dma_idx, bytes);
    }
    /* Values that are overwritten from now on are counted. */
    uint64_t lost;
    spinneret_lost_values(handle, &lost);
}

/* Addresses of an open context. */
static bool describe(const char *call, fpspin_ctx_t *ctx, spinneret_program *program, spinneret_context *handle) {
    spinneret_code codes[3];
    uint32_t host_data = 0, host_bytes = 0;
    if (!fpspin_succeeds(call, spinneret_handlers(program, NULL, codes)) ||
        !fpspin_succeeds(call, spinneret_host_pointer(handle, &ctx->cpu_addr)) ||
        !fpspin_succeeds(call, spinneret_host_memory(handle, NULL, &host_bytes)) ||
        !fpspin_succeeds(call, spinneret_handler_memory(handle, &ctx->handler_mem.addr, &ctx->handler_mem.size)) ||
        !fpspin_succeeds(call, spinneret_variable(handle, "__host_data", &host_data, NULL))) {
        return false;
    }
    struct mem_area *areas[3] = {&ctx->hh, &ctx->ph, &ctx->th};
    for (int stage = 0; stage < 3; stage++) {
        *areas[stage] = (struct mem_area){.addr = codes[stage].address, .size = codes[stage].bytes};
    }
    ctx->mmap_len = host_bytes;
    ctx->host_data_ptr = host_data;
    read_requests(ctx, handle);
    return true;
}

/* The program of a path, or of the path with .elf. */
static bool open_program(const char *call, const char *img, spinneret_program **program) {
    char path[PATH_MAX];
    struct stat status;
    bool is_there = stat(img, &status) == 0;
    if (snprintf(path, sizeof(path), "%s%s", img, is_there ? "" : ".elf") >= (int)sizeof(path)) {
        fpspin_fail(call, "the path of the program has more than %d bytes", PATH_MAX - 1);
        return false;
    }
    return fpspin_succeeds(call, spinneret_program_open(path, program));
}

/* Loads handlers of a context that has none. They get no packets yet. */
static bool load(const char *call, struct context *context, fpspin_ctx_t *ctx, const char *img, uint32_t host_bytes) {
    spinneret_program *program;
    if (!open_program(call, img, &program)) {
        return false;
    }
    spinneret_ruleset nothing = {.join = SPINNERET_ANY};
    spinneret_options options = {.host_bytes = host_bytes};
    bool is_open = fpspin_succeeds(
        call, spinneret_open_context(context->card->nic, program, NULL, &nothing, &options, &context->handle));
    bool is_described = is_open && describe(call, ctx, program, context->handle);
    if (is_open && !is_described) {
        spinneret_close_context(context->handle);
    }
    if (!is_described) {
        context->handle = NULL;
    }
    spinneret_program_close(program);
    return is_described;
}

static bool unload(const char *call, struct context *context, fpspin_ctx_t *ctx) {
    spinneret_context *handle = context->handle;
    context->handle = NULL;
    ctx->cpu_addr = NULL;
    ctx->mmap_len = 0;
    fpspin_begin_turn(context->card);
    bool is_closed = handle == NULL || fpspin_succeeds(call, spinneret_close_context(handle));
    fpspin_end_turn(context->card);
    return is_closed;
}

/* Ends a context, and its NIC if it was the last one. */
static void forget(struct context *context) {
    for (struct context **place = &contexts; *place != NULL; place = &(*place)->next) {
        if (*place == context) {
            *place = context->next;
            break;
        }
    }
    context->card->contexts--;
    fpspin_close_card(context->card);
    free(context);
}

/* Adds a context without handlers to a NIC. */
static struct context *add(const char *call, struct card *card, const fpspin_ctx_t *ctx) {
    for (const struct context *other = contexts; other != NULL; other = other->next) {
        if (other->card == card && other->id == ctx->ctx_id) {
            fpspin_fail(call, "context %d is in use: call fpspin_exit for it, or choose another one", ctx->ctx_id);
            return NULL;
        }
    }
    struct context *context = calloc(1, sizeof(*context));
    if (context == NULL) {
        fpspin_fail(call, "there is no memory for a context");
        return NULL;
    }
    context->number = ++last_number;
    context->id = ctx->ctx_id;
    context->ctx = ctx;
    context->card = card;
    context->next = contexts;
    contexts = context;
    card->contexts++;
    return context;
}

/* Whether the arguments of fpspin_init can be. */
static bool are_possible(const char *call, const fpspin_ctx_t *ctx, const char *dev, const char *img, int pages) {
    const int most = (int)(UINT32_MAX / PAGE_SIZE);
    if (dev == NULL || img == NULL) {
        fpspin_fail(call, "the %s is a null pointer", dev == NULL ? "device" : "program");
    } else if (pages < 1 || pages > most) {
        fpspin_fail(call, "%d pages of host memory cannot be: there must be 1 to %d", pages, most);
    } else {
        return fpspin_is_below(call, "context", ctx->ctx_id, NUM_RULESETS);
    }
    return false;
}

/* Whether the structure is that of an open context, which would be lost. */
static bool is_open_already(const fpspin_ctx_t *ctx) {
    const struct context *context = contexts;
    while (context != NULL && context->ctx != ctx) {
        context = context->next;
    }
    return context != NULL;
}

/* Opens a context on a NIC, and the NIC. */
static bool open_context(const char *call, fpspin_ctx_t *ctx, const char *dev, const char *img, const fpspin_ruleset_t *rs,
                         int num_rs, int pages) {
    struct card *card = fpspin_open_card(call, dev);
    if (card == NULL) {
        return false;
    }
    struct context *context = add(call, card, ctx);
    if (context == NULL) {
        fpspin_close_card(card);
        return false;
    }
    fpspin_begin_turn(card);
    bool is_loaded = load(call, context, ctx, img, (uint32_t)pages * PAGE_SIZE);
    bool is_open = is_loaded && set_all_rules(call, card, rs, num_rs);
    fpspin_end_turn(card);
    if (is_open) {
        ctx->fd = context->number;
        return true;
    }
    unload(call, context, ctx);
    forget(context);
    return false;
}

bool fpspin_init(fpspin_ctx_t *ctx, const char *dev, const char *img, int dest_ctx, const fpspin_ruleset_t *rs, int num_rs,
                 int hostdma_pages) {
    pthread_mutex_lock(&lock);
    bool is_open = false;
    if (ctx == NULL || is_open_already(ctx)) {
        fpspin_fail(__func__, ctx == NULL ? "the context is a null pointer" : "the context is open: call fpspin_exit first");
    } else {
        *ctx = (fpspin_ctx_t){.ctx_id = dest_ctx, .fd = FD_FAILED, .app_data = ctx->app_data};
        is_open = are_possible(__func__, ctx, dev, img, hostdma_pages) && are_rulesets(__func__, rs, num_rs) &&
                  open_context(__func__, ctx, dev, img, rs, num_rs, hostdma_pages);
    }
    fpspin_unlock();
    return is_open;
}

void fpspin_exit(fpspin_ctx_t *ctx) {
    if (ctx != NULL && ctx->fd == FD_FAILED) {
        return;
    }
    struct context *context = lock_context(__func__, ctx);
    if (context != NULL) {
        ctx->fd = FD_EXITED;
        unload(__func__, context, ctx);
        forget(context);
        fpspin_unlock();
    }
}

void fpspin_load(fpspin_ctx_t *ctx, const char *elf, uint64_t hostmem_ptr, uint32_t hostmem_size) {
    struct context *context = lock_context(__func__, ctx);
    if (context == NULL) {
        return;
    }
    fpspin_begin_turn(context->card);
    uint64_t present = 0;
    if (context->handle != NULL) {
        spinneret_host_memory(context->handle, &present, NULL);
    }
    if (elf == NULL || hostmem_size == 0) {
        fpspin_fail(__func__, elf == NULL ? "the program is a null pointer" : "there must be 1 byte of host memory or more");
    } else if (hostmem_ptr != 0 && hostmem_ptr != present) {
        fpspin_fail(__func__, "host memory cannot be at %#llx: the library chooses the address",
                    (unsigned long long)hostmem_ptr);
    } else if (unload(__func__, context, ctx) && load(__func__, context, ctx, elf, hostmem_size)) {
        fpspin_ruleset_t rules = context->rules;
        set_rules(__func__, context, &rules);
    }
    fpspin_leave(context);
}

void fpspin_unload(fpspin_ctx_t *ctx) {
    struct context *context = lock_context(__func__, ctx);
    if (context != NULL) {
        unload(__func__, context, ctx);
        fpspin_unlock();
    }
}

void fpspin_set_regs_base(const char *rbase) { regs_base = rbase; }

const char *fpspin_get_regs_base(void) { return regs_base; }
