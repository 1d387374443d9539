/*
 * From a segment's offset to places in host memory, and the copies there: a division for each level, then a few
 * additions for each run.
 */
#ifndef PLACE_H
#define PLACE_H

#include "record.h"

/* A part of a payload on its way to the host. */
typedef struct {
    uint32_t low;  /* of the host address of the context's memory */
    uint32_t high;
    uint32_t nic;  /* the next byte of the payload */
    uint32_t left; /* bytes of it */
} payload_t;

/* Writes the words that all commands share once: registers keep them. */
static inline void begin_copies(void) {
    MMIO_WRITE(CMD_WORD4, 1);
    MMIO_WRITE(CMD_INFO, CMD_INFO_HOST_COPY);
}

/* Copies bytes to `offset` in the host memory, modulo 2^32: a bit for the command. */
static inline uint32_t copy_run(payload_t payload, uint32_t offset, uint32_t bytes) {
    uint32_t low = payload.low + offset;
    MMIO_WRITE(CMD_WORD0, low);
    MMIO_WRITE(CMD_WORD1, payload.high + (low < payload.low));
    MMIO_WRITE(CMD_WORD2, payload.nic);
    MMIO_WRITE(CMD_WORD3, bytes);
    asm_mem_fence();
    return 1u << MMIO_READ(CMD_ISSUE);
}

/* Waits for all commands that have a bit. */
static inline void wait_for_copies(uint32_t open) {
#pragma GCC unroll 4
    for (uint32_t command = 0; command < 4; ++command) {
        if ((open & 1u << command) != 0) {
            MMIO_WRITE(CMD_WAIT, command);
        }
    }
    asm_mem_fence();
}

/* Runs in `levels` levels of strides; the number of levels is known at compile time. */
static inline __attribute__((always_inline)) uint32_t place_strided(const struct mpi_types_request *request,
                                                                    payload_t payload, uint32_t offset,
                                                                    const uint32_t levels) {
    uint32_t run = request->run, number = divide(offset, request->run_reciprocal, request->run_shift);
    uint32_t within = offset - number * run, start = request->base, left[MPI_TYPES_LEVELS] = {0};
#pragma GCC unroll 4
    for (uint32_t i = 0; i < levels; ++i) {
        const struct mpi_types_level *level = &request->level[i];
        uint32_t next = i + 1 < levels ? divide(number, level->reciprocal, level->shift) : 0;
        uint32_t index = number - next * level->count;
        start += index * level->stride;
        left[i] = level->count - index;
        number = next;
    }
    uint32_t bytes = MIN(run - within, payload.left), step = request->level[0].step, open;
    open = copy_run(payload, start + within, bytes);
    while ((payload.left -= bytes) != 0) {
        payload.nic += bytes;
        bytes = MIN(run, payload.left);
        start += step;
        if (!likely(--left[0] != 0)) {
            /* Not the step of the lowest level, but that of the lowest one that has a next run. */
            start -= step;
            left[0] = request->level[0].count;
            if (levels <= 2 || --left[1] != 0) {
                start += request->level[1].step;
            } else {
                left[1] = request->level[1].count;
                if (levels <= 3 || --left[2] != 0) {
                    start += request->level[2].step;
                } else {
                    left[2] = request->level[2].count;
                    start += request->level[3].step;
                }
            }
        }
        open |= copy_run(payload, start, bytes);
    }
    return open;
}

/* Runs of a table that are copied to L1 at once. */
#define CHUNK 24

/* Runs of a table in L2, which is copied into L1 in parts. */
static __attribute__((noinline)) uint32_t place_table(const struct mpi_types_request *request, payload_t payload,
                                                      uint32_t offset, const uint8_t *memory) {
    struct mpi_types_run part[CHUNK + 1];
    uint32_t element = divide(offset, request->run_reciprocal, request->run_shift), open = 0;
    uint32_t within = offset - element * request->run, base = request->base + element * request->extent;
    const uint32_t *index = (const uint32_t *)(const void *)(memory + request->index) + (within >> request->index_shift);
    uint32_t low = index[0], high = index[1] + 1;
    const struct mpi_types_run *table = (const struct mpi_types_run *)(const void *)(memory + request->table);
    /* The run that holds the byte is in low .. high - 1. */
    while (high - low > CHUNK) {
        uint32_t middle = low + (high - low) / 2;
        if (table[middle].before <= within) {
            low = middle;
        } else {
            high = middle;
        }
    }
    for (;;) {
        uint32_t runs = MIN(request->runs - low, CHUNK), run = 0;
        spin_dma_t copy;
        spin_dma((void *)(uintptr_t)&table[low], part, (runs + 1) * sizeof(part[0]), SPIN_DMA_EXT2LOC, 0, &copy);
        spin_dma_wait(copy);
        asm_mem_fence();
        while (part[run + 1].before <= within && run + 1 < runs) {
            ++run;
        }
        for (; run < runs; ++run) {
            uint32_t bytes = MIN(part[run + 1].before - within, payload.left);
            open |= copy_run(payload, base + part[run].start + (within - part[run].before), bytes);
            payload.left -= bytes;
            if (payload.left == 0) {
                return open;
            }
            payload.nic += bytes;
            within += bytes;
        }
        low += runs;
        if (low == request->runs) {
            low = 0;
            within = 0;
            base += request->extent;
        }
    }
}

/* Starts the copies of a segment: a bit for each command. */
static inline __attribute__((always_inline)) uint32_t place(const struct mpi_types_request *request,
                                                            payload_t payload, uint32_t offset,
                                                            const uint8_t *memory) {
    begin_copies();
    switch (request->kind) {
    case 0: return copy_run(payload, request->base + offset, payload.left);
    case 1: return place_strided(request, payload, offset, 1);
    case 2: return place_strided(request, payload, offset, 2);
    case 3: return place_strided(request, payload, offset, 3);
    case 4: return place_strided(request, payload, offset, 4);
    default: return place_table(request, payload, offset, memory);
    }
}

#endif
