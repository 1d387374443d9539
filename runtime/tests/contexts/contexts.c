/* Handlers of four contexts in one program, for tests of software on the host. */
#include <handler.h>
#include <packets.h>
#include <spin_host.h>
#include <spin_reply.h>

/* All contexts of the program share it. */
volatile uint32_t total;
/* A variable of 8 bytes that the host may change. */
volatile uint64_t step = 1;

static uint8_t *payload(const task_t *task) { return (uint8_t *)task->pkt_mem + sizeof(pkt_hdr_t); }

static uint32_t payload_bytes(const task_t *task) { return task->pkt_mem_size - sizeof(pkt_hdr_t); }

/* Counts packets in its handler memory, and prints the number. */
__handler__ void count_ph(handler_args_t *args) {
    uint32_t before = (uint32_t)amo_add((volatile int32_t *)args->task->handler_mem, (int32_t)step);
    amo_send_add((volatile int32_t *)&total, 1);
    push_counter(&__host_data.counters[2], 10);
    printf("packet %u\n", (unsigned)before);
}

/* Copies what it gets to host memory, 64 bytes behind its beginning. */
__handler__ void copy_ph(handler_args_t *args) {
    task_t *task = args->task;
    spin_dma_to_host(HOST_ADDR(args) + 64, (uint32_t)(uintptr_t)payload(task), payload_bytes(task), true, NULL);
}

/* Sends a byte from host memory back, in place of the first one. */
__handler__ void fetch_ph(handler_args_t *args) {
    spin_cmd_t fetch;
    spin_dma_from_host(HOST_ADDR(args), (uint32_t)(uintptr_t)payload(args->task), 1, true, &fetch);
    spin_cmd_wait(fetch);
    spin_send_packet(args->task->pkt_mem, args->task->pkt_mem_size, NULL);
}

/* Writes to where the packet says: 8 bytes at the host address in its payload, which may be anybody's. */
__handler__ void stray_ph(handler_args_t *args) {
    uint64_t address;
    memcpy(&address, payload(args->task), sizeof(address));
    spin_write_to_host(address, 0x5354524159ull, NULL);
    amo_send_add((volatile int32_t *)args->task->handler_mem, 1);
}
