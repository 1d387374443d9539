/*
 * The Host+FPsPIN mode of the paper: the NIC receives and sends, the host computes. The HPU gives the whole frame to
 * the host through its page of host memory, waits for the answer, and sends what the host has put there. It shows the
 * handshake of spin_host.h, and what it costs compared with icmp_ping.
 */
#include <handler.h>
#include <packets.h>
#include <spin_host.h>

/* Counters of __host_data: cycles at the host, and frames that could not be answered. */
enum { AT_HOST, UNANSWERED };

__handler__ void host_ping_ph(handler_args_t *args) {
    task_t *task = args->task;
    uint32_t bytes = task->pkt_mem_size;
    if (!fpspin_check_host_mem(args) || bytes > PAGE_SIZE - DMA_ALIGN) {
        push_counter(&__host_data.counters[UNANSWERED], bytes);
        return;
    }
    uint32_t frame = (uint32_t)(uintptr_t)task->pkt_mem;
    uint32_t start = cycles();

    /* The flag must not overtake the frame, so this copy is waited for. */
    spin_cmd_t copy;
    spin_dma_to_host(HOST_PLD_ADDR(args), frame, bytes, true, &copy);
    spin_cmd_wait(copy);

    /* The host answers with a length; 0 is no reply, and more than the frame had does not fit into its memory. */
    fpspin_flag_t answer = fpspin_host_req(args, bytes);
    if (answer.len == 0 || answer.len > bytes) {
        push_counter(&__host_data.counters[UNANSWERED], bytes);
        return;
    }

    spin_dma_from_host(HOST_PLD_ADDR(args), frame, answer.len, true, &copy);
    spin_cmd_wait(copy);
    push_counter(&__host_data.counters[AT_HOST], cycles() - start);

    spin_send_packet(task->pkt_mem, answer.len, NULL);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = host_ping_ph;
    *th = NULL;
    *handler_mem = NULL;
}
