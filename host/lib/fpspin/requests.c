/* Requests and counters of handlers, and their memory. */
#include "internal.h"

/* ---- Requests ---- */

volatile void *fpspin_pop_req(fpspin_ctx_t *ctx, int hpu_id, fpspin_flag_t *f) {
    if (f == NULL || !fpspin_is_below(__func__, "HPU", hpu_id, NUM_HPUS)) {
        return NULL;
    }
    struct context *context = fpspin_lock_loaded(__func__, ctx);
    if (context == NULL) {
        return NULL;
    }
    size_t page = (size_t)hpu_id * PAGE_SIZE;
    uint8_t *found = NULL;
    if (ctx->mmap_len < page + PAGE_SIZE) {
        if (!context->told_pages) {
            fpspin_fail(__func__, "HPU %d has no page in %zu bytes of host memory: ask for %d pages", hpu_id, ctx->mmap_len, NUM_HPUS);
        }
        context->told_pages = true;
    } else {
        uint8_t *at = (uint8_t *)ctx->cpu_addr + page;
        f->data = __atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE);
        if (f->dma_id != ctx->dma_idx[hpu_id]) {
            ctx->dma_idx[hpu_id] = f->dma_id;
            found = at + DMA_ALIGN;
        }
    }
    fpspin_unlock();
    return found;
}

/* An HPU waits for the word with dma_id, so that is written last. */
void fpspin_push_resp(fpspin_ctx_t *ctx, int hpu_id, fpspin_flag_t flag) {
    struct context *context = fpspin_is_below(__func__, "HPU", hpu_id, NUM_HPUS) ? fpspin_enter(__func__, ctx) : NULL;
    if (context == NULL) {
        return;
    }
    flag.dma_id = ctx->dma_idx[hpu_id];
    flag.hpu_id = (uint16_t)hpu_id;
    uint32_t words[2] = {(uint32_t)flag.data, (uint32_t)(flag.data >> 32)};
    for (int word = 1; word >= 0; word--) {
        uint32_t offset = (uint32_t)(hpu_id * (int)sizeof(flag) + 4 * word);
        if (!fpspin_succeeds(__func__, spinneret_variable_write(context->handle, "__host_data", offset, &words[word], 4))) {
            break;
        }
    }
    fpspin_leave(context);
}

/* ---- Counters ---- */

fpspin_counter_t fpspin_get_counter(fpspin_ctx_t *ctx, int id) {
    fpspin_counter_t counter = {0, 0};
    struct context *context = fpspin_is_below(__func__, "counter", id, MAX_COUNTERS) ? fpspin_enter(__func__, ctx) : NULL;
    if (context != NULL) {
        fpspin_succeeds(__func__, spinneret_handler_counter(context->handle, (uint32_t)id, &counter.sum, &counter.count));
        fpspin_leave(context);
    }
    return counter;
}

void fpspin_clear_counter(fpspin_ctx_t *ctx, int id) {
    struct context *context = fpspin_is_below(__func__, "counter", id, MAX_COUNTERS) ? fpspin_enter(__func__, ctx) : NULL;
    if (context != NULL) {
        fpspin_succeeds(__func__, spinneret_clear_counter(context->handle, (uint32_t)id));
        fpspin_leave(context);
    }
}

double fpspin_get_cycles(fpspin_ctx_t *ctx, int id) {
    fpspin_counter_t counter = fpspin_get_counter(ctx, id);
    return counter.count == 0 ? 0 : (double)counter.sum / counter.count;
}

uint32_t fpspin_get_avg_cycles(fpspin_ctx_t *ctx) {
    fpspin_counter_t counter = fpspin_get_counter(ctx, 0);
    return counter.count == 0 ? 0 : counter.sum / counter.count;
}

int fpspin_pop_counter(fpspin_ctx_t *ctx, int id, uint32_t *value) {
    struct context *context = fpspin_is_below(__func__, "counter", id, MAX_COUNTERS) ? fpspin_enter(__func__, ctx) : NULL;
    int found = SPINNERET_ERROR_ARGUMENT;
    if (context != NULL) {
        found = spinneret_pop_counter(context->handle, (uint32_t)id, value);
        fpspin_succeeds(__func__, found);
        fpspin_leave(context);
    }
    return found < 0 ? -1 : found;
}

uint64_t fpspin_lost_values(fpspin_ctx_t *ctx) {
    uint64_t lost = 0;
    struct context *context = fpspin_enter(__func__, ctx);
    if (context != NULL) {
        fpspin_succeeds(__func__, spinneret_lost_values(context->handle, &lost));
        fpspin_leave(context);
    }
    return lost;
}

/* ---- Memory ---- */

void fpspin_write_memory(fpspin_ctx_t *ctx, fpspin_addr_t pspin_addr, void *host_addr, size_t len) {
    struct context *context = fpspin_enter(__func__, ctx);
    if (context == NULL) {
        return;
    }
    struct mem_area area = ctx->handler_mem;
    uint32_t offset = pspin_addr - area.addr;
    if (pspin_addr < area.addr || offset > area.size || len > area.size - offset) {
        fpspin_fail(__func__, "%zu bytes at %#x are not within the handler memory of context %d: %u bytes at %#x", len, pspin_addr,
             ctx->ctx_id, area.size, area.addr);
    } else {
        fpspin_succeeds(__func__, spinneret_handler_write(context->handle, offset, host_addr, len));
    }
    fpspin_leave(context);
}

void hexdump(const volatile void *data, size_t size) {
    const volatile uint8_t *bytes = data;
    for (size_t line = 0; line < size; line += 16) {
        char text[17] = "";
        for (size_t place = 0; place < 16; place++) {
            if (line + place < size) {
                uint8_t byte = bytes[line + place];
                text[place] = byte >= ' ' && byte <= '~' ? (char)byte : '.';
                printf("%02X ", byte);
            } else {
                printf("   ");
            }
        }
        printf(" %s\n", text);
    }
}
