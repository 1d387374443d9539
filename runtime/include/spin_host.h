/*
 * Requests to the host: each HPU owns a page of the context's host memory, with a flag word at its start and the payload 64
 * bytes after it. The HPU copies the payload, writes the flag with a new dma_id, and waits until the host writes the same
 * dma_id to __host_data.flag[hpu].
 */
#ifndef SPIN_HOST_H
#define SPIN_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "handler.h"

/* If this is 1, FPsPIN's example handlers use the host: build with SPIN_CFLAGS=-DDO_HOST=1. */
#ifndef DO_HOST
#define DO_HOST 0
#endif

/* Line size of host memory. */
#define DMA_BUS_WIDTH 512
#define DMA_ALIGN (DMA_BUS_WIDTH / 8)

typedef struct {
    union {
        struct {
            uint8_t dma_id;  /* a new one for each request of an HPU */
            uint32_t len;    /* payload bytes */
            uint16_t hpu_id; /* hpu_gid of the HPU that asks */
        } __attribute__((packed));
        uint64_t data;
    };
} fpspin_flag_t;
static_assert(sizeof(fpspin_flag_t) == sizeof(uint64_t), "the flag is one 64-bit word");

#define HPU_ID(args) ((args)->hpu_gid)
#define HOST_ADDR(args) ((uint64_t)(args)->task->host_mem_high << 32 | (args)->task->host_mem_low)
#define HOST_ADDR_HPU(args) (HOST_ADDR(args) + HPU_ID(args) * PAGE_SIZE)
#define HOST_PLD_ADDR(args) (HOST_ADDR_HPU(args) + DMA_ALIGN)

/* The last dma_id of each HPU. */
extern volatile uint8_t dma_idx[CORE_COUNT];

/* Whether the context has host memory with a page for every HPU. */
static inline bool fpspin_check_host_mem(handler_args_t *args) {
    return HOST_ADDR(args) != 0 && args->task->host_mem_size >= CORE_COUNT * PAGE_SIZE;
}

/* Sends a request of `length` bytes in this HPU's page to the host, waits for the answer, and returns its flag. */
static inline fpspin_flag_t fpspin_host_req(handler_args_t *args, uint32_t length) {
    uint32_t hpu = HPU_ID(args);
    uint8_t id = (uint8_t)(dma_idx[hpu] + 1);
    dma_idx[hpu] = id;
    fpspin_flag_t request = {.data = 0};
    request.dma_id = id;
    request.len = length;
    request.hpu_id = (uint16_t)hpu;

    spin_write_to_host(HOST_ADDR_HPU(args), request.data, NULL);

    /* The host writes 8 bytes atomically, but this reads two words: read the one with the id first, or the other may be stale. */
    volatile uint32_t *word = (volatile uint32_t *)&__host_data.flag[hpu];
    fpspin_flag_t answer;
    do {
        uint32_t low = word[0];
        answer.data = (uint64_t)word[1] << 32 | low;
    } while (answer.dma_id != id);
    asm_mem_fence();

    if (answer.hpu_id != hpu) {
        printf("the host answered HPU %u to HPU %u\n", (unsigned)answer.hpu_id, (unsigned)hpu);
    }
    return answer;
}

#endif
