/* Every name of handler.h, written as handlers for the public runtimes are. */
#include <handler.h>
#include <packets.h>

static spin_lock_t lock;
static spin_rw_lock_t rw_lock;
static uint32_t copy_of_packet[32];

__handler__ void names_handler_ph(handler_args_t *args)
{
    task_t *task = args->task;
    uint8_t *payload;
    uint32_t payload_len;
    GET_IP_UDP_PLD(task->pkt_mem, payload, payload_len);

    spin_lock_init(&lock);
    if (spin_lock_try_lock(&lock))
        spin_lock_unlock(&lock);
    spin_lock_lock(&lock);
    spin_lock_unlock(&lock);

    spin_rw_lock_r_lock(&rw_lock);
    spin_rw_lock_r_unlock(&rw_lock);
    spin_rw_lock_w_lock(&rw_lock);
    spin_rw_lock_w_unlock(&rw_lock);

    spin_dma_t dma;
    uint32_t dma_done = 0;
    if (spin_dma(task->l2_pkt_mem, copy_of_packet, sizeof(copy_of_packet), SPIN_DMA_EXT2LOC, 0, &dma) == SPIN_FAIL)
        return;
    spin_dma_test(dma, &dma_done);
    spin_dma_wait(dma);
    spin_dma(copy_of_packet, task->l2_pkt_mem, 4, SPIN_DMA_LOC2EXT, 0, &dma);

    uint64_t host_address = task->host_mem_high;
    host_address = (host_address << 32) | (task->host_mem_low);
    spin_cmd_t cmd;
    bool completed = false;
    spin_dma_to_host(host_address, (uint32_t) payload, payload_len, 1, &cmd);
    spin_cmd_wait(cmd);
    spin_dma_from_host(host_address, (uint32_t) payload, payload_len, 0, &cmd);
    do {
        spin_cmd_test(cmd, &completed);
    } while (!completed);
    spin_write_to_host(host_address, (uint64_t) 1, &cmd);
    spin_host_write(host_address, (uint64_t) 1, false);
    spin_rdma_put(0, task->pkt_mem, task->pkt_mem_size, &cmd);
    int status = spin_send_packet(task->pkt_mem, task->pkt_mem_size, &cmd);

    printf("%d %p %u %u %u %u %u %u\n", status, task->scratchpad[args->cluster_id],
           (unsigned)task->scratchpad_size[args->cluster_id], (unsigned)task->home_cluster_id, (unsigned)task->flow_id,
           (unsigned)args->hpu_gid, (unsigned)args->hpu_id, (unsigned)task->handler_mem_size);
    printf("%p %u\n", task->handler_mem, (unsigned)task->host_mem_size);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem_ptr)
{
    volatile handler_fn handlers[] = {NULL, names_handler_ph, NULL};
    *hh = handlers[0];
    *ph = handlers[1];
    *th = handlers[2];
    (void)handler_mem_ptr;
}
