/*
 * What a handler is, and what it may ask the NIC for: this is the header that handlers include.
 *
 * Functions give SPIN_OK, or SPIN_FAIL if they refuse. Commands return at once and give a handle; the packet's buffer
 * is kept until all commands of its handler are done, so a handler need not wait for the last ones. At most four
 * are in flight for each HPU: a fifth waits in its call. Handles may be NULL for whoever does not want them.
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

/* Handlers are called by the NIC alone, so the compiler must not drop what nobody seems to use. */
#define __handler__ __attribute__((used))

#define SPIN_OK 0
#define SPIN_FAIL 1

/* The directions that spin_dma takes, for the reader only: the addresses say it all. */
#define PLP_DMA_LOC2EXT 0
#define PLP_DMA_EXT2LOC 1
#define SPIN_DMA_LOC2EXT PLP_DMA_LOC2EXT
#define SPIN_DMA_EXT2LOC PLP_DMA_EXT2LOC

/* Clusters that a task has room to describe, however many there are. */
#define SPIN_TASK_CLUSTERS 4

/* The packet and the memories of a task. It is read from the scheduler's registers, word by word. */
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

typedef struct handler_args {
    task_t *task;
    uint32_t hpu_gid;    /* this HPU among all */
    uint32_t cluster_id; /* its cluster */
    uint32_t hpu_id;     /* this HPU among those of its cluster */
} handler_args_t;

typedef void (*handler_fn)(handler_args_t *);

/* Defined by the application: names its handlers (NULL for none), and may prepare memory. HPU 0 calls it once. */
void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem);

/* ---- Copies inside the NIC ---- */

typedef dma_t spin_dma_t;

/* Starts a copy of `size` bytes; nothing is copied and SPIN_FAIL returned if that is 0. */
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

/* Issues the command whose words have been written. Whatever the handler wrote to memory comes before it. */
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
 * Whether the command is done: after it has waited, always. The public cluster's register for the question looks at the
 * data of the read, which a program cannot choose, and so may answer about another command.
 */
static inline int spin_cmd_test(spin_cmd_t handle, bool *completed) {
    spin_cmd_wait(handle);
    *completed = true;
    return SPIN_OK;
}

/* A send to node `nid` on flow `fid`; flow 0 is raw frames. */
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

/* Sends on a flow of a reliable transport, for NICs that have one; ours sends raw frames only. */
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

/* Writes 8 bytes to host memory out of the command, at an address that is a multiple of SPIN_HOST_LINE and nowhere else. */
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
 * Writes 8 bytes to host memory. At a multiple of SPIN_HOST_LINE it is cheaper than a copy. The cluster puts the bytes of a
 * direct write into the first lanes of the bus whatever the address, so elsewhere this copies them from the stack, and waits.
 */
static inline int spin_write_to_host(uint64_t host_addr, uint64_t user_data, spin_cmd_t *xfer) {
    if ((uint32_t)host_addr % SPIN_HOST_LINE == 0) {
        return spin_host_direct(host_addr, user_data, xfer);
    }
    spin_cmd_t copy;
    spin_dma_to_host(host_addr, (uint32_t)(uintptr_t)&user_data, sizeof(user_data), false, &copy);
    if (xfer != NULL) {
        *xfer = copy;
    }
    return spin_cmd_wait(copy);
}

/* Its old name. */
#define spin_host_write spin_write_to_host

/* ---- Locks, in L2 handler memory, or in L1 for the HPUs of one cluster; a word that is 0 is a free lock ---- */

typedef futex_t spin_lock_t;

static inline int spin_lock_init(spin_lock_t *lock) {
    futex_init(lock);
    return SPIN_OK;
}

/* 1 if the lock is ours now, 0 if somebody has it. */
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
 * Many readers or one writer. Writers go first: who waits to write keeps new readers out.
 *
 * The first reader takes `glock` for all, and the last one gives it back; writers take it for themselves. The counter
 * of readers holds the writers that wait as well. As in the public runtime, a counter that does not begin with 0 makes a
 * lock that keeps writers from each other only.
 */
typedef struct spin_rw_lock {
    spin_lock_t glock;
    volatile int32_t num_readers;
} spin_rw_lock_t;

#define SPIN_RW_READERS 0xffff
#define SPIN_RW_WRITER 0x10000
#define SPIN_RW_WRITERS 0xff0000

/* Whether readers may come in. */
static inline bool spin_rw_lock_is_open(spin_rw_lock_t *lock) {
    int32_t count = lock->num_readers;
    return (count & SPIN_RW_WRITERS) == 0 && ((count & SPIN_RW_READERS) != 0 || lock->glock == 0);
}

/* Counts, inside the guard. */
static inline void spin_rw_lock_add(spin_rw_lock_t *lock, int32_t value) {
    SPIN_CHANGE("amoadd.w", &lock->num_readers, value, lock->num_readers + value);
}

/* Writers add to the counter at any time, so it is added to here as well. Who waits keeps nobody from the guard. */
static inline int spin_rw_lock_r_lock(spin_rw_lock_t *lock) {
    bool is_in = false;
    while (!is_in) {
        while (!spin_rw_lock_is_open(lock)) {
            rt_time_wait_cycles(32);
        }
        spin_guard_enter();
        is_in = spin_rw_lock_is_open(lock);
        if (is_in) {
            if ((lock->num_readers & SPIN_RW_READERS) == 0) {
                lock->glock = 1;
            }
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
