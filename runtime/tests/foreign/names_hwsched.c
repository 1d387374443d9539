/* Every name of hwsched.h. */
#include <hwsched.h>
#include <handler.h>

__handler__ void names_hwsched_ph(handler_args_t *args)
{
    uint32_t sum = MMIO_READ(HWSCHED_HANDLER_FUN_ADDR) + MMIO_READ(HWSCHED_HANDLER_FUN_SIZE)
        + MMIO_READ(HWSCHED_HANDLER_MEM_ADDR) + MMIO_READ(HWSCHED_HANDLER_MEM_SIZE)
        + MMIO_READ(HWSCHED_PKT_ADDR) + MMIO_READ(HWSCHED_PKT_SIZE)
        + MMIO_READ(HWSCHED_SCRATCHPAD_0_ADDR) + MMIO_READ(HWSCHED_SCRATCHPAD_0_SIZE)
        + MMIO_READ(HWSCHED_SCRATCHPAD_1_ADDR) + MMIO_READ(HWSCHED_SCRATCHPAD_1_SIZE)
        + MMIO_READ(HWSCHED_SCRATCHPAD_2_ADDR) + MMIO_READ(HWSCHED_SCRATCHPAD_2_SIZE)
        + MMIO_READ(HWSCHED_SCRATCHPAD_3_ADDR) + MMIO_READ(HWSCHED_SCRATCHPAD_3_SIZE)
        + MMIO_READ(HWSCHED_HOST_MEM_ADDR_HIGH) + MMIO_READ(HWSCHED_HOST_MEM_ADDR_LOW)
        + MMIO_READ(HWSCHED_HOST_MEM_SIZE) + MMIO_READ(HWSCHED_HOST_L2_PKT_ADDR)
        + MMIO_READ(HWSCHED_HOME_CLUSTER_ID) + MMIO_READ(HWSCHED_FLOW_ID);
    MMIO_WRITE(CMD_WORD0, 0);
    MMIO_WRITE(CMD_WORD1, 0);
    MMIO_WRITE(CMD_WORD2, (uint32_t)args->task->pkt_mem);
    MMIO_WRITE(CMD_WORD3, 0);
    MMIO_WRITE(CMD_WORD4, args->task->pkt_mem_size);
    MMIO_WRITE(CMD_WORD5, 0);
    MMIO_WRITE(CMD_WORD6, sum);
    MMIO_WRITE(CMD_INFO, 2);
    uint32_t id = MMIO_READ(CMD_ISSUE);
    MMIO_WRITE(CMD_TEST, id);
    if (MMIO_READ(CMD_TEST) != 1)
        MMIO_WRITE(CMD_WAIT, id);
    if (HWSCHED_DOORBELL > HWSCHED_ERROR)
        printf("never\n");
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem_ptr)
{
    volatile handler_fn handlers[] = {NULL, names_hwsched_ph, NULL};
    *hh = handlers[0];
    *ph = handlers[1];
    *th = handlers[2];
    (void)handler_mem_ptr;
}
