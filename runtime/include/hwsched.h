/*
 * Registers between an HPU and the scheduler: the task at hand, and commands to the NIC and the host.
 *
 * While there is no task, a read of the handler's address blocks. Any access to the doorbell ends the task; what was
 * written to the error register before says that it failed, and why. The functions of handler.h hide all of this from
 * handlers, which must not touch either.
 */
#ifndef HWSCHED_H
#define HWSCHED_H

#include <stdint.h>

#include "spin_conf.h"

/*
 * The addresses are in spin_map.h. From HWSCHED_HANDLER_MEM_ADDR on lies what task_t describes. A read of CMD_ISSUE
 * issues the command of CMD_INFO (bit 0: event, bits 2:1: type) and CMD_WORD0 to 6, and gives its id; a write of an id to
 * CMD_WAIT blocks until that command is done; CMD_TEST, an id written, reads 1 if it is done, else 0.
 */

/* Types of commands, as CMD_INFO wants them. */
#define CMD_INFO_HOST_COPY (0u << 1)
#define CMD_INFO_NIC_SEND (1u << 1)
#define CMD_INFO_HOST_DIRECT (2u << 1)

#define MMIO_READ(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define MMIO_WRITE(address, value) (*(volatile uint32_t *)(uintptr_t)(address) = (uint32_t)(value))

#endif
