/* Every name of spin_host.h. */
#include "pspin.h"
#include <handler.h>
#include <packets.h>
#include <spin_dma.h>
#include <spin_host.h>

__handler__ void names_spin_host_ph(handler_args_t *args)
{
    task_t *task = args->task;
    uint8_t *nic_pld_addr = ((uint8_t *)(task->pkt_mem));
    uint16_t pkt_len = task->pkt_mem_size;
    spin_cmd_t dma;
    fpspin_flag_t flag_from_host;

    if (DO_HOST && fpspin_check_host_mem(args)) {
        spin_dma_to_host(HOST_PLD_ADDR(args), (uint32_t)nic_pld_addr, pkt_len, 1, &dma);
        spin_cmd_wait(dma);
        flag_from_host = fpspin_host_req(args, pkt_len);
        pkt_len = flag_from_host.len;
        spin_dma_from_host(HOST_PLD_ADDR(args), (uint32_t)nic_pld_addr, pkt_len, 1, &dma);
        spin_cmd_wait(dma);
    }
    fpspin_flag_t flag = {.dma_id = 1, .len = 2, .hpu_id = HPU_ID(args)};
    uint64_t start = HOST_ADDR(args) + CORE_COUNT * PAGE_SIZE;
    printf("%x %x %x %d\n", (unsigned)flag.data, (unsigned)start, (unsigned)HOST_ADDR_HPU(args), DMA_ALIGN);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem_ptr)
{
    volatile handler_fn handlers[] = {NULL, names_spin_host_ph, NULL};
    *hh = handlers[0];
    *ph = handlers[1];
    *th = handlers[2];
    (void)handler_mem_ptr;
}
