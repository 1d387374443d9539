/*
 * Registers of the HPU driver: the current task, and commands to the NIC and the host.
 *
 * While there is no task, a read of the handler's address blocks. Any access to the doorbell ends the task; an earlier write
 * to the error register marks it as failed, with a cause. Handlers use the functions of handler.h, and must not access
 * doorbell and error register.
 */
#ifndef HWSCHED_H
#define HWSCHED_H

#include <stdint.h>

#include "spin_conf.h"

/*
 * The addresses are in spin_map.h. The registers from HWSCHED_HANDLER_MEM_ADDR on have the layout of task_t. A read of
 * CMD_ISSUE issues the command in CMD_INFO (bit 0: event, bits 2:1: type) and CMD_WORD0 to 6, and returns its id. A write of
 * an id to CMD_WAIT blocks until that command is done. After a write of an id, CMD_TEST reads 1 if it is done, else 0.
 */

/* Command types in CMD_INFO. */
#define CMD_INFO_HOST_COPY (0u << 1)
#define CMD_INFO_NIC_SEND (1u << 1)
#define CMD_INFO_HOST_DIRECT (2u << 1)

#define MMIO_READ(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define MMIO_WRITE(address, value) (*(volatile uint32_t *)(uintptr_t)(address) = (uint32_t)(value))

#endif
