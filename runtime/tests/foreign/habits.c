/*
 * Habits of public handlers that a stricter runtime would break: three handlers, a global without a header, a static
 * handler, floating point, a function table, inputs cast to whatever is read, and a NULL in place of a handle.
 */
#include <handler.h>
#include <packets.h>
#include <spin_conf.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t start_file;
static float weight[4] = {0.5f, 1, 2, 3};
static char text[32];

static void one(void) { start_file += 1; }
static void two(void) { start_file += 2; }
static void (*const table[])(void) = {one, two};

__handler__ void habits_hh(handler_args_t *args)
{
    start_file = cycles();
    memset(args->task->scratchpad[args->cluster_id], 0, args->task->scratchpad_size[args->cluster_id]);
}

__handler__ static void habits_ph(handler_args_t *args)
{
    uint32_t *pkt_info = args->task->pkt_mem;
    float dot = 0;
    for (int i = 0; i < 4; ++i) {
        dot += weight[i] * (float)pkt_info[i];
    }
    table[pkt_info[0] & 1]();
    snprintf(text, sizeof(text), "%d", (int)dot);
    int32_t *local_mem = (int32_t *)(args->task->scratchpad[args->cluster_id]);
    amo_add(&local_mem[strlen(text) % 16], 1);
}

__handler__ void habits_th(handler_args_t *args)
{
    uint64_t host_address = args->task->host_mem_high;
    host_address = (host_address << 32) | (args->task->host_mem_low);
    spin_host_write(host_address, (uint64_t) abs((int)start_file), false);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem_ptr)
{
    volatile handler_fn handlers[] = {habits_hh, habits_ph, habits_th};
    *hh = handlers[0];
    *ph = handlers[1];
    *th = handlers[2];
    (void)handler_mem_ptr;
}
