/*
 * Copies between the NIC's memories (L1 and L2) with the DMA engine of the cluster.
 *
 * Each HPU has its own registers of the engine at SPIN_DMA_ADDR. Ids count up from 1 for each HPU, transfers complete in
 * order, and `done` holds the id of the last completed one.
 */
#ifndef SPIN_DMA_H
#define SPIN_DMA_H

#include <stdint.h>

#include "pspin.h"
#include "spin_conf.h"

struct spin_dma_engine {
    uint32_t source;      /* +0x00 */
    uint32_t source_high; /* +0x04, unused: addresses have 32 bits */
    uint32_t dest;        /* +0x08 */
    uint32_t dest_high;   /* +0x0c, unused */
    uint32_t bytes;       /* +0x10 */
    uint32_t reserved0;
    uint32_t start; /* +0x18, a read starts the transfer and gives its id */
    uint32_t reserved1;
    uint32_t done; /* +0x20 */
};
#define SPIN_DMA_ENGINE ((volatile struct spin_dma_engine *)(uintptr_t)SPIN_DMA_ADDR)

/* Starts a copy, and returns its id. */
static inline uint32_t spin__memcpy_nonblk(void *source, void *dest, uint32_t bytes) {
    SPIN_DMA_ENGINE->source = (uint32_t)(uintptr_t)source;
    SPIN_DMA_ENGINE->dest = (uint32_t)(uintptr_t)dest;
    SPIN_DMA_ENGINE->bytes = bytes;
    asm_mem_fence();
    return SPIN_DMA_ENGINE->start;
}

/* Returns 1 if the copy is complete, also when ids have wrapped around. */
static inline char spin__tf_completed(uint32_t id) {
    char completed = (int32_t)(SPIN_DMA_ENGINE->done - id) >= 0;
    asm_mem_fence();
    return completed;
}

static inline void spin__wait_for_tf_completion(uint32_t id) {
    while (!spin__tf_completed(id)) {
    }
}

/* Copies, and returns when it is done. */
static inline void spin__memcpy(void *source, void *dest, uint32_t bytes) {
    if (bytes != 0) {
        spin__wait_for_tf_completion(spin__memcpy_nonblk(source, dest, bytes));
    }
}

#endif
