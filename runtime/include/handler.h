/*
 * The interface of handlers. Handlers include this header.
 *
 * Functions return SPIN_OK or SPIN_FAIL. Commands return immediately with a handle, which may be NULL. The NIC keeps the
 * packet's buffer until all commands of its handler are done, so a handler need not wait for the last ones. Each HPU can
 * have four commands in flight; a fifth blocks.
 */
#ifndef HANDLER_H
#define HANDLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hwsched.h"
#include "pspin.h"
#include "spin_conf.h"
#include "spin_dma.h"
#include "util.h"

/* Only the NIC calls handlers, so the compiler must not remove them as unused. */
#define __handler__ __attribute__((used))

#define SPIN_OK 0
#define SPIN_FAIL 1

/* Directions of spin_dma. They are ignored, because the addresses determine the direction. */
#define PLP_DMA_LOC2EXT 0
#define PLP_DMA_EXT2LOC 1
#define SPIN_DMA_LOC2EXT PLP_DMA_LOC2EXT
#define SPIN_DMA_EXT2LOC PLP_DMA_EXT2LOC

/* Maximum number of clusters in the description of a task. */
#define SPIN_TASK_CLUSTERS 4

/* The packet and the memories of a task, read from the scheduler's registers word by word. */
typedef struct task {
    void *handler_mem; /* L2, shared by all packets of the context */
    size_t handler_mem_size;
    void *pkt_mem; /* the packet's copy in L1 */
    size_t pkt_mem_size;
    void *scratchpad[SPIN_TASK_CLUSTERS]; /* L1 of each cluster, for all packets of the message */
    size_t scratchpad_size[SPIN_TASK_CLUSTERS];
    uint32_t host_mem_high;
    uint32_t host_mem_low;
    size_t host_mem_size;
    void *l2_pkt_mem; /* the packet itself */
    uint32_t home_cluster_id;
    uint32_t flow_id; /* the queue of the message */
} task_t;

static_assert(sizeof(task_t) == HWSCHED_DOORBELL - HWSCHED_HANDLER_MEM_ADDR, "task_t is not what the scheduler shows");
static_assert(offsetof(task_t, host_mem_high) == HWSCHED_HOST_MEM_ADDR_HIGH - HWSCHED_HANDLER_MEM_ADDR,
              "task_t is not what the scheduler shows");

/*
 * The scratchpad of a cluster, and its size. A task names those of four clusters; on spinneret's own, the scratchpad of a further
 * cluster is at the offset of the one that is named four clusters before.
 */
static inline void *spin_scratchpad(const task_t *task, uint32_t cluster) {
    uint32_t beyond = cluster / SPIN_TASK_CLUSTERS * SPIN_TASK_CLUSTERS;
    return (uint8_t *)task->scratchpad[cluster % SPIN_TASK_CLUSTERS] + (beyond << SPIN_L1_SHIFT);
}

static inline size_t spin_scratchpad_size(const task_t *task, uint32_t cluster) {
    return task->scratchpad_size[cluster % SPIN_TASK_CLUSTERS];
}

typedef struct handler_args {
    task_t *task;
    uint32_t hpu_gid;    /* this HPU among all */
    uint32_t cluster_id; /* its cluster */
    uint32_t hpu_id;     /* this HPU among those of its cluster */
} handler_args_t;

typedef void (*handler_fn)(handler_args_t *);

/* Defined by the application: returns its handlers (NULL for none), and may initialise memory. HPU 0 calls it once. */
void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem);

/* ---- Copies inside the NIC ---- */

typedef dma_t spin_dma_t;

/* Starts a copy of `size` bytes. Returns SPIN_FAIL if `size` is 0. */
static inline int spin_dma(void *source, void *dest, size_t size, int direction, int options, spin_dma_t *xfer) {
    (void)direction;
    (void)options;
    if (size == 0) {
        return SPIN_FAIL;
    }
    uint32_t id = spin__memcpy_nonblk(source, dest, size);
    if (xfer != NULL) {
        *xfer = id;
    }
    return SPIN_OK;
}

static inline int spin_dma_wait(spin_dma_t xfer) {
    spin__wait_for_tf_completion(xfer);
    return SPIN_OK;
}

static inline int spin_dma_test(spin_dma_t xfer, uint32_t *completed) {
    *completed = spin__tf_completed(xfer);
    return SPIN_OK;
}

/* ---- Commands ---- */

typedef uint32_t spin_cmd_t;

/* Issues the command in the command registers, after all earlier writes to memory. */
static inline int spin_cmd_issue(uint32_t info, spin_cmd_t *handle) {
    MMIO_WRITE(CMD_INFO, info);
    asm_mem_fence();
    uint32_t id = MMIO_READ(CMD_ISSUE);
    if (handle != NULL) {
        *handle = id;
    }
    return SPIN_OK;
}

/* Returns when the command is done. */
static inline int spin_cmd_wait(spin_cmd_t handle) {
    MMIO_WRITE(CMD_WAIT, handle);
    asm_mem_fence();
    return SPIN_OK;
}

/*
 * Waits for the command, and returns true. The test register of the PULP cluster takes the command id from the data of a
 * read, which a program cannot set, so it may report another command.
 */
static inline int spin_cmd_test(spin_cmd_t handle, bool *completed) {
    spin_cmd_wait(handle);
    *completed = true;
    return SPIN_OK;
}

/* Sends to node `nid` on flow `fid`; flow 0 is for raw frames. */
static inline int spin_nic_send(uint32_t nid, uint32_t fid, void *data, uint32_t length, spin_cmd_t *handle) {
    MMIO_WRITE(CMD_WORD0, nid);
    MMIO_WRITE(CMD_WORD1, fid);
    MMIO_WRITE(CMD_WORD2, (uintptr_t)data);
    MMIO_WRITE(CMD_WORD3, 0);
    MMIO_WRITE(CMD_WORD4, length);
    return spin_cmd_issue(CMD_INFO_NIC_SEND, handle);
}

/* Sends `length` bytes from L1 or L2 as one Ethernet frame. */
static inline int spin_send_packet(void *data, uint32_t length, spin_cmd_t *handle) {
    return spin_nic_send(0, 0, data, length, handle);
}

/*
 * Passes `length` bytes from L1 or L2 to the host's network stack as the frame of this task, as if no rule had matched its
 * packet: with the packet's receive time, queue and port. The bytes may be changed. The command is done when they are read;
 * frames reach the host in the order of the commands. The public NIC has no such path, and sends the frame.
 */
static inline int spin_pass(const task_t *task, void *data, uint32_t length, spin_cmd_t *handle) {
    return spin_nic_send(0, CMD_FLOW_PASS | (uintptr_t)task->l2_pkt_mem, data, length, handle);
}

/* Sends on a flow of a reliable transport. Not supported by this NIC, which sends raw frames only. */
static inline int spin_rdma_put(uint32_t dest, void *data, uint32_t length, spin_cmd_t *handle) {
    return spin_nic_send(dest, 1, data, length, handle);
}

static inline int spin_host_copy(uint64_t host, uint32_t nic, uint32_t length, bool to_host, bool event,
                                 spin_cmd_t *xfer) {
    MMIO_WRITE(CMD_WORD0, host);
    MMIO_WRITE(CMD_WORD1, host >> 32);
    MMIO_WRITE(CMD_WORD2, nic);
    MMIO_WRITE(CMD_WORD3, length);
    MMIO_WRITE(CMD_WORD4, to_host);
    return spin_cmd_issue(CMD_INFO_HOST_COPY | event, xfer);
}

/* Copies from the NIC to host memory, any addresses and length. */
static inline int spin_dma_to_host(uint64_t host_addr, uint32_t nic_addr, uint32_t length, bool generate_event,
                                   spin_cmd_t *xfer) {
    return spin_host_copy(host_addr, nic_addr, length, true, generate_event, xfer);
}

/* Copies from host memory to the NIC. */
static inline int spin_dma_from_host(uint64_t host_addr, uint32_t nic_addr, uint32_t length, bool generate_event,
                                     spin_cmd_t *xfer) {
    return spin_host_copy(host_addr, nic_addr, length, false, generate_event, xfer);
}

/* Writes 8 bytes in the command itself to host memory. The address must be a multiple of SPIN_HOST_LINE. */
#define SPIN_HOST_LINE 64

static inline int spin_host_direct(uint64_t host_addr, uint64_t user_data, spin_cmd_t *xfer) {
    MMIO_WRITE(CMD_WORD0, host_addr);
    MMIO_WRITE(CMD_WORD1, host_addr >> 32);
    MMIO_WRITE(CMD_WORD2, sizeof(user_data) << 1 | 1);
    MMIO_WRITE(CMD_WORD3, user_data);
    MMIO_WRITE(CMD_WORD4, user_data >> 32);
    return spin_cmd_issue(CMD_INFO_HOST_DIRECT, xfer);
}

/*
 * Writes 8 bytes to host memory, and returns when they are there. At a multiple of SPIN_HOST_LINE this is cheaper than a copy.
 * The cluster puts the bytes of a direct write into the first lanes of the bus whatever the address, so at other addresses this
 * copies from the stack. The handle is that of a command that is done.
 */
static inline int spin_write_to_host(uint64_t host_addr, uint64_t user_data, spin_cmd_t *xfer) {
    spin_cmd_t write;
    if ((uint32_t)host_addr % SPIN_HOST_LINE == 0) {
        spin_host_direct(host_addr, user_data, &write);
    } else {
        spin_dma_to_host(host_addr, (uint32_t)(uintptr_t)&user_data, sizeof(user_data), false, &write);
    }
    if (xfer != NULL) {
        *xfer = write;
    }
    return spin_cmd_wait(write);
}

/* The same without waiting, at a multiple of SPIN_HOST_LINE. At other addresses it waits, because the stack is the source. */
static inline int spin_write_to_host_nonblk(uint64_t host_addr, uint64_t user_data, spin_cmd_t *xfer) {
    if ((uint32_t)host_addr % SPIN_HOST_LINE == 0) {
        return spin_host_direct(host_addr, user_data, xfer);
    }
    return spin_write_to_host(host_addr, user_data, xfer);
}

/* Its old name. */
#define spin_host_write spin_write_to_host

/* ---- Locks, in L2 handler memory, or in L1 for the HPUs of one cluster; a word that is 0 is a free lock ---- */

typedef futex_t spin_lock_t;

static inline int spin_lock_init(spin_lock_t *lock) {
    futex_init(lock);
    return SPIN_OK;
}

/* Returns 1 if it has taken the lock, 0 if the lock is held. */
static inline int spin_lock_try_lock(spin_lock_t *lock) { return futex_try_lock(lock); }

static inline int spin_lock_lock(spin_lock_t *lock) {
    futex_lock_s(lock);
    return SPIN_OK;
}

static inline int spin_lock_unlock(spin_lock_t *lock) {
    futex_unlock(lock);
    return SPIN_OK;
}

/*
 * A reader-writer lock with priority for writers: a waiting writer blocks new readers.
 *
 * The first reader takes `glock` for all readers, and the last one releases it; writers take it for themselves. The counter
 * of readers also counts waiting writers. As in FPsPIN's runtime, a counter that does not start at 0 gives a lock that only
 * excludes writers from each other.
 */
typedef struct spin_rw_lock {
    spin_lock_t glock;
    volatile int32_t num_readers;
} spin_rw_lock_t;

#define SPIN_RW_READERS 0xffff
#define SPIN_RW_WRITER 0x10000
#define SPIN_RW_WRITERS 0xff0000

/* Whether readers may enter. */
static inline bool spin_rw_lock_is_open(spin_rw_lock_t *lock) {
    int32_t count = lock->num_readers;
    return (count & SPIN_RW_WRITERS) == 0 && ((count & SPIN_RW_READERS) != 0 || lock->glock == 0);
}

/* Counts, inside the guard. */
static inline void spin_rw_lock_add(spin_rw_lock_t *lock, int32_t value) {
    SPIN_CHANGE("amoadd.w", &lock->num_readers, value, lock->num_readers + value);
}

/* Takes the free lock for the first reader, inside the guard. Writers take it without the guard on spinneret's own HPU. */
static inline bool spin_rw_lock_begin(spin_rw_lock_t *lock) {
    if (spin_is_own_hpu()) {
        return spin_lock_try_lock(&lock->glock);
    }
    lock->glock = 1;
    return true;
}

/* Writers add to the counter at any time, so this adds as well. Waiting readers stay outside of the guard. */
static inline int spin_rw_lock_r_lock(spin_rw_lock_t *lock) {
    bool is_in = false;
    while (!is_in) {
        while (!spin_rw_lock_is_open(lock)) {
            rt_time_wait_cycles(32);
        }
        spin_guard_enter();
        is_in = spin_rw_lock_is_open(lock) &&
                ((lock->num_readers & SPIN_RW_READERS) != 0 || spin_rw_lock_begin(lock));
        if (is_in) {
            spin_rw_lock_add(lock, 1);
        }
        spin_guard_leave();
    }
    return SPIN_OK;
}

static inline int spin_rw_lock_r_unlock(spin_rw_lock_t *lock) {
    spin_guard_enter();
    if ((lock->num_readers & SPIN_RW_READERS) == 1) {
        spin_lock_unlock(&lock->glock);
    }
    spin_rw_lock_add(lock, -1);
    spin_guard_leave();
    return SPIN_OK;
}

static inline int spin_rw_lock_w_lock(spin_rw_lock_t *lock) {
    amo_send_add(&lock->num_readers, SPIN_RW_WRITER);
    spin_lock_lock(&lock->glock);
    amo_send_add(&lock->num_readers, -SPIN_RW_WRITER);
    return SPIN_OK;
}

static inline int spin_rw_lock_w_unlock(spin_rw_lock_t *lock) { return spin_lock_unlock(&lock->glock); }

#endif
