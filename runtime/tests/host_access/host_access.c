/*
 * Writes and reads host memory at any address that the packet names, which no real handler must do. For tests of the
 * host windows: handlers must neither change nor read memory outside of the context's own window.
 */
#include <handler.h>
#include <packets.h>

/* The packet with its payload: the operation, the address, and the bytes to write or the room for the bytes read. */
typedef struct {
    pkt_hdr_t headers;
    uint8_t what;
    uint64_t address;
    uint8_t data[];
} __attribute__((packed)) request_t;

/* The packet goes back when the command is done, however it was answered, with what was read. */
__handler__ void host_access_ph(handler_args_t *args) {
    task_t *task = args->task;
    request_t *request = task->pkt_mem;
    if (task->pkt_mem_size <= sizeof(*request)) {
        return;
    }
    uint32_t bytes = task->pkt_mem_size - sizeof(*request);
    uint32_t data = (uint32_t)(uintptr_t)request->data;
    uint64_t word = 0;
    spin_cmd_t command;
    switch (request->what) {
    case 'w': spin_dma_to_host(request->address, data, bytes, false, &command); break;
    case 'd':
        memcpy(&word, request->data, bytes < sizeof(word) ? bytes : sizeof(word));
        spin_write_to_host_nonblk(request->address, word, &command);
        break;
    case 'r': spin_dma_from_host(request->address, data, bytes, false, &command); break;
    default: return;
    }
    spin_cmd_wait(command);
    spin_send_packet(request, task->pkt_mem_size, NULL);
}
