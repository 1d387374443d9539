/*
 * Registers of spinneret.
 *
 * Generated from the tables of the crate spinneret-regmap: change those, then run `./dev docs`.
 * Offsets of registers count from the start of the window SPINNERET_BAR_REGISTERS_OFFSET of the application
 * BAR; element i of a register is at its offset + SPINNERET_REGISTER_BYTES * i. Registers are 32-bit
 * little-endian words.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef SPINNERET_REGS_H
#define SPINNERET_REGS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define SPINNERET_REGISTER_BYTES 4u
#define SPINNERET_RULESETS 4u
#define SPINNERET_RULES_PER_RULESET 4u
#define SPINNERET_CONTEXTS 4u
#define SPINNERET_CLUSTERS 2u
#define SPINNERET_MPQS 16u

/* Windows of the application BAR. */
#define SPINNERET_BAR_SIZE 0x1000000u
#define SPINNERET_BAR_HANDLER_MEMORY_OFFSET 0x000000u
#define SPINNERET_BAR_HANDLER_MEMORY_SIZE 0x400000u
#define SPINNERET_BAR_HANDLER_MEMORY_PSPIN_ADDRESS 0x1c000000u
#define SPINNERET_BAR_PROGRAM_MEMORY_OFFSET 0x400000u
#define SPINNERET_BAR_PROGRAM_MEMORY_SIZE 0x400000u
#define SPINNERET_BAR_PROGRAM_MEMORY_PSPIN_ADDRESS 0x1d000000u
#define SPINNERET_BAR_REGISTERS_OFFSET 0x800000u
#define SPINNERET_BAR_REGISTERS_SIZE 0x10000u

/* cl */
/* cl.ctrl (rw): [0] fetch enable, one bit per cluster; [1] bit 0 holds the clusters in auxiliary reset. */
#define SPINNERET_CL_CTRL_OFFSET 0x0000u
#define SPINNERET_CL_CTRL_COUNT 2u
#define SPINNERET_CL_FETCH_ENABLE_OFFSET 0x0000u
#define SPINNERET_CL_FETCH_ENABLE_BITS 0x00000003u
#define SPINNERET_CL_FETCH_ENABLE_RESET 0x00000000u
#define SPINNERET_CL_AUX_RESET_OFFSET 0x0004u
#define SPINNERET_CL_AUX_RESET_BITS 0x00000001u
#define SPINNERET_CL_AUX_RESET_RESET 0x00000001u
/* cl.fifo (r, pops): Standard output of the handler processing units; all ones when it is empty. */
#define SPINNERET_CL_FIFO_OFFSET 0x0008u
#define SPINNERET_CL_FIFO_BITS 0xffffffffu
#define SPINNERET_CL_FIFO_RESET 0xffffffffu
/* cl.status (r): State of the clusters' clock and reset. */
#define SPINNERET_CL_STATUS_OFFSET 0x000cu
#define SPINNERET_CL_STATUS_BITS 0x00000003u
/* the clusters' clock is running (locked) */
#define SPINNERET_CL_STATUS_RUNNING_MASK 0x00000001u
#define SPINNERET_CL_STATUS_RUNNING_SHIFT 0u
/* the clusters or the link to them are held in reset */
#define SPINNERET_CL_STATUS_HELD_MASK 0x00000002u
#define SPINNERET_CL_STATUS_HELD_SHIFT 1u

/* stats */
/* stats.cluster (r): [0] end of computation, [1] busy, which the public cluster is as long as it fetches instructions; one bit per cluster. */
#define SPINNERET_STATS_CLUSTER_OFFSET 0x1000u
#define SPINNERET_STATS_CLUSTER_COUNT 2u
#define SPINNERET_STATS_CLUSTER_BITS 0x00000003u
#define SPINNERET_STATS_END_OF_COMPUTATION_OFFSET 0x1000u
#define SPINNERET_STATS_END_OF_COMPUTATION_BITS 0x00000003u
#define SPINNERET_STATS_BUSY_OFFSET 0x1004u
#define SPINNERET_STATS_BUSY_BITS 0x00000003u
/* stats.mpq (r): Message processing queues that are full, one bit each. */
#define SPINNERET_STATS_MPQ_OFFSET 0x1008u
#define SPINNERET_STATS_MPQ_BITS 0x0000ffffu
/* stats.datapath (r): [0] packets dropped by the allocator, [1] last error of the egress DMA. */
#define SPINNERET_STATS_DATAPATH_OFFSET 0x100cu
#define SPINNERET_STATS_DATAPATH_COUNT 2u
#define SPINNERET_STATS_DROPPED_PACKETS_OFFSET 0x100cu
#define SPINNERET_STATS_DROPPED_PACKETS_BITS 0xffffffffu
#define SPINNERET_STATS_EGRESS_DMA_ERROR_OFFSET 0x1010u
#define SPINNERET_STATS_EGRESS_DMA_ERROR_BITS 0x0000000fu
/* stats.error_clear (w, pulse): Writing 1 clears the last error of the egress DMA. */
#define SPINNERET_STATS_ERROR_CLEAR_OFFSET 0x1014u
#define SPINNERET_STATS_ERROR_CLEAR_BITS 0x00000001u
#define SPINNERET_STATS_ERROR_CLEAR_RESET 0x00000000u
/* clear the last error of the egress DMA */
#define SPINNERET_STATS_ERROR_CLEAR_EGRESS_DMA_MASK 0x00000001u
#define SPINNERET_STATS_ERROR_CLEAR_EGRESS_DMA_SHIFT 0u

/* ingress */
/* ingress.matched (r): Frames that matched a ruleset. */
#define SPINNERET_INGRESS_MATCHED_OFFSET 0x1100u
#define SPINNERET_INGRESS_MATCHED_BITS 0xffffffffu
/* ingress.bypassed (r): Frames that matched nothing and went to the NIC. */
#define SPINNERET_INGRESS_BYPASSED_OFFSET 0x1104u
#define SPINNERET_INGRESS_BYPASSED_BITS 0xffffffffu
/* ingress.hers (r): Handler execution requests that left for the clusters; a reset takes those that have not arrived. */
#define SPINNERET_INGRESS_HERS_OFFSET 0x1108u
#define SPINNERET_INGRESS_HERS_BITS 0xffffffffu
/* ingress.dropped_overload (r): Matched frames that were dropped because bus or clusters did not keep up. */
#define SPINNERET_INGRESS_DROPPED_OVERLOAD_OFFSET 0x110cu
#define SPINNERET_INGRESS_DROPPED_OVERLOAD_BITS 0xffffffffu
/* ingress.dropped_no_slot (r): Matched frames that found no free slot. */
#define SPINNERET_INGRESS_DROPPED_NO_SLOT_OFFSET 0x1110u
#define SPINNERET_INGRESS_DROPPED_NO_SLOT_BITS 0xffffffffu
/* ingress.dropped_oversize (r): Matched frames longer than a large slot. */
#define SPINNERET_INGRESS_DROPPED_OVERSIZE_OFFSET 0x1114u
#define SPINNERET_INGRESS_DROPPED_OVERSIZE_BITS 0xffffffffu
/* ingress.dropped_bad_frame (r): Matched frames with an error bit or gaps. */
#define SPINNERET_INGRESS_DROPPED_BAD_FRAME_OFFSET 0x1118u
#define SPINNERET_INGRESS_DROPPED_BAD_FRAME_BITS 0xffffffffu
/* ingress.dropped_write_error (r): Packets that the packet buffer refused. */
#define SPINNERET_INGRESS_DROPPED_WRITE_ERROR_OFFSET 0x111cu
#define SPINNERET_INGRESS_DROPPED_WRITE_ERROR_BITS 0xffffffffu
/* ingress.dropped_no_context (r): Packets that no enabled context serves. */
#define SPINNERET_INGRESS_DROPPED_NO_CONTEXT_OFFSET 0x1120u
#define SPINNERET_INGRESS_DROPPED_NO_CONTEXT_BITS 0xffffffffu
/* ingress.dropped_reset (r): Packets that a reset of the clusters took away. */
#define SPINNERET_INGRESS_DROPPED_RESET_OFFSET 0x1124u
#define SPINNERET_INGRESS_DROPPED_RESET_BITS 0xffffffffu
/* ingress.refused_no_start (r): Frees of an address at which no slot starts. */
#define SPINNERET_INGRESS_REFUSED_NO_START_OFFSET 0x1128u
#define SPINNERET_INGRESS_REFUSED_NO_START_BITS 0xffffffffu
/* ingress.refused_not_out (r): Frees of slots that were not out. */
#define SPINNERET_INGRESS_REFUSED_NOT_OUT_OFFSET 0x112cu
#define SPINNERET_INGRESS_REFUSED_NOT_OUT_BITS 0xffffffffu
/* ingress.refused_early (r): Frees before all slots were in their lists. */
#define SPINNERET_INGRESS_REFUSED_EARLY_OFFSET 0x1130u
#define SPINNERET_INGRESS_REFUSED_EARLY_BITS 0xffffffffu
/* ingress.large_used (r): Large slots that are in use. */
#define SPINNERET_INGRESS_LARGE_USED_OFFSET 0x1134u
#define SPINNERET_INGRESS_LARGE_USED_BITS 0xffffffffu
/* ingress.large_peak (r): Most large slots that were in use at once. */
#define SPINNERET_INGRESS_LARGE_PEAK_OFFSET 0x1138u
#define SPINNERET_INGRESS_LARGE_PEAK_BITS 0xffffffffu
/* ingress.small_used (r): Small slots that are in use. */
#define SPINNERET_INGRESS_SMALL_USED_OFFSET 0x113cu
#define SPINNERET_INGRESS_SMALL_USED_BITS 0xffffffffu
/* ingress.small_peak (r): Most small slots that were in use at once. */
#define SPINNERET_INGRESS_SMALL_PEAK_OFFSET 0x1140u
#define SPINNERET_INGRESS_SMALL_PEAK_BITS 0xffffffffu
/* ingress.dropped_bound (r): Packets of the context that were dropped because it was at its bound of slots (`slots.bound`). */
#define SPINNERET_INGRESS_DROPPED_BOUND_OFFSET 0x1144u
#define SPINNERET_INGRESS_DROPPED_BOUND_COUNT 4u
#define SPINNERET_INGRESS_DROPPED_BOUND_BITS 0xffffffffu

/* egress */
/* egress.frames (r): Frames that were sent. */
#define SPINNERET_EGRESS_FRAMES_OFFSET 0x1180u
#define SPINNERET_EGRESS_FRAMES_BITS 0xffffffffu
/* egress.read_errors (r): Commands whose data could not be read; nothing was sent. */
#define SPINNERET_EGRESS_READ_ERRORS_OFFSET 0x1184u
#define SPINNERET_EGRESS_READ_ERRORS_BITS 0xffffffffu
/* egress.refused (r): Commands that were refused. */
#define SPINNERET_EGRESS_REFUSED_OFFSET 0x1188u
#define SPINNERET_EGRESS_REFUSED_BITS 0xffffffffu
/* egress.completions (r): Completions of our own frames, which the host does not see. */
#define SPINNERET_EGRESS_COMPLETIONS_OFFSET 0x118cu
#define SPINNERET_EGRESS_COMPLETIONS_BITS 0xffffffffu
/* egress.tag_conflicts (r): Frames of the host with a tag of the cluster's frames. */
#define SPINNERET_EGRESS_TAG_CONFLICTS_OFFSET 0x1190u
#define SPINNERET_EGRESS_TAG_CONFLICTS_BITS 0xffffffffu
/* egress.passed (r): Frames that handlers passed to the host. */
#define SPINNERET_EGRESS_PASSED_OFFSET 0x1194u
#define SPINNERET_EGRESS_PASSED_BITS 0xffffffffu
/* egress.dropped_reset (r): Commands that a reset of the clusters took before their frame was complete. */
#define SPINNERET_EGRESS_DROPPED_RESET_OFFSET 0x1198u
#define SPINNERET_EGRESS_DROPPED_RESET_BITS 0xffffffffu

/* host_write */
/* host_write.bursts (r): Bursts that were answered. */
#define SPINNERET_HOST_WRITE_BURSTS_OFFSET 0x1200u
#define SPINNERET_HOST_WRITE_BURSTS_BITS 0xffffffffu
/* host_write.refused (r): Bursts that could not be done. */
#define SPINNERET_HOST_WRITE_REFUSED_OFFSET 0x1204u
#define SPINNERET_HOST_WRITE_REFUSED_BITS 0xffffffffu
/* host_write.outside (r): Bursts with bytes outside of all host windows. */
#define SPINNERET_HOST_WRITE_OUTSIDE_OFFSET 0x1208u
#define SPINNERET_HOST_WRITE_OUTSIDE_BITS 0xffffffffu
/* host_write.stray_status (r): Statuses for tags that were not in flight. */
#define SPINNERET_HOST_WRITE_STRAY_STATUS_OFFSET 0x120cu
#define SPINNERET_HOST_WRITE_STRAY_STATUS_BITS 0xffffffffu
/* host_write.errors (r): Transfers that failed, by Corundum's error code: element `i` is code `i` + 1; codes without a meaning count as 3. */
#define SPINNERET_HOST_WRITE_ERRORS_OFFSET 0x1210u
#define SPINNERET_HOST_WRITE_ERRORS_COUNT 11u
#define SPINNERET_HOST_WRITE_ERRORS_BITS 0xffffffffu

/* host_read */
/* host_read.bursts (r): Bursts that were answered. */
#define SPINNERET_HOST_READ_BURSTS_OFFSET 0x1280u
#define SPINNERET_HOST_READ_BURSTS_BITS 0xffffffffu
/* host_read.refused (r): Bursts that could not be done. */
#define SPINNERET_HOST_READ_REFUSED_OFFSET 0x1284u
#define SPINNERET_HOST_READ_REFUSED_BITS 0xffffffffu
/* host_read.outside (r): Bursts with bytes outside of all host windows. */
#define SPINNERET_HOST_READ_OUTSIDE_OFFSET 0x1288u
#define SPINNERET_HOST_READ_OUTSIDE_BITS 0xffffffffu
/* host_read.stray_status (r): Statuses for tags that were not in flight. */
#define SPINNERET_HOST_READ_STRAY_STATUS_OFFSET 0x128cu
#define SPINNERET_HOST_READ_STRAY_STATUS_BITS 0xffffffffu
/* host_read.errors (r): Transfers that failed, by Corundum's error code: element `i` is code `i` + 1; codes without a meaning count as 3. */
#define SPINNERET_HOST_READ_ERRORS_OFFSET 0x1290u
#define SPINNERET_HOST_READ_ERRORS_COUNT 11u
#define SPINNERET_HOST_READ_ERRORS_BITS 0xffffffffu

/* bar */
/* bar.outside (r): Accesses outside of all windows. */
#define SPINNERET_BAR_OUTSIDE_OFFSET 0x1300u
#define SPINNERET_BAR_OUTSIDE_BITS 0xffffffffu
/* bar.held (r): Accesses to the clusters while they were held in reset. */
#define SPINNERET_BAR_HELD_OFFSET 0x1304u
#define SPINNERET_BAR_HELD_BITS 0xffffffffu
/* bar.timeouts (r): Accesses that the clusters did not answer in time. */
#define SPINNERET_BAR_TIMEOUTS_OFFSET 0x1308u
#define SPINNERET_BAR_TIMEOUTS_BITS 0xffffffffu
/* bar.errors (r): Accesses that the clusters answered with an error. */
#define SPINNERET_BAR_ERRORS_OFFSET 0x130cu
#define SPINNERET_BAR_ERRORS_BITS 0xffffffffu

/* me */
/* me.valid (rw): Rules are latched and match while 1: write 0, change the rules, write 1. */
#define SPINNERET_ME_VALID_OFFSET 0x2000u
#define SPINNERET_ME_VALID_BITS 0x00000001u
#define SPINNERET_ME_VALID_RESET 0x00000000u
/* me.mode (rw): How the rules of each ruleset are joined. */
#define SPINNERET_ME_MODE_OFFSET 0x2004u
#define SPINNERET_ME_MODE_COUNT 4u
#define SPINNERET_ME_MODE_BITS 0x00000001u
#define SPINNERET_ME_MODE_RESET 0x00000000u
/* me.idx (rw): The word that the rule looks at: bytes 4*idx to 4*idx+3 of the frame; ruleset-major. */
#define SPINNERET_ME_IDX_OFFSET 0x2014u
#define SPINNERET_ME_IDX_COUNT 16u
#define SPINNERET_ME_IDX_BITS 0xffffffffu
#define SPINNERET_ME_IDX_RESET 0x00000000u
/* me.mask (rw): Bits of the word that are compared. */
#define SPINNERET_ME_MASK_OFFSET 0x2054u
#define SPINNERET_ME_MASK_COUNT 16u
#define SPINNERET_ME_MASK_BITS 0xffffffffu
#define SPINNERET_ME_MASK_RESET 0x00000000u
/* me.start (rw): Smallest masked value that matches; the reset value is above end, which matches nothing. */
#define SPINNERET_ME_START_OFFSET 0x2094u
#define SPINNERET_ME_START_COUNT 16u
#define SPINNERET_ME_START_BITS 0xffffffffu
#define SPINNERET_ME_START_RESET 0x00000001u
/* me.end (rw): Largest masked value that matches. */
#define SPINNERET_ME_END_OFFSET 0x20d4u
#define SPINNERET_ME_END_COUNT 16u
#define SPINNERET_ME_END_BITS 0xffffffffu
#define SPINNERET_ME_END_RESET 0x00000000u
/* me.relative (rw): The word index counts from the start of the IPv4 or IPv6 payload, if the engine has the option ip_relative. */
#define SPINNERET_ME_RELATIVE_OFFSET 0x2114u
#define SPINNERET_ME_RELATIVE_COUNT 16u
#define SPINNERET_ME_RELATIVE_BITS 0x00000001u
#define SPINNERET_ME_RELATIVE_RESET 0x00000000u

/* her */
/* her.valid (rw): Execution contexts are latched and active while 1: write 0, change them, write 1. */
#define SPINNERET_HER_VALID_OFFSET 0x3000u
#define SPINNERET_HER_VALID_BITS 0x00000001u
#define SPINNERET_HER_VALID_RESET 0x00000000u
/* her.ctx_enabled (rw): Whether the execution context starts handlers. */
#define SPINNERET_HER_CTX_ENABLED_OFFSET 0x3004u
#define SPINNERET_HER_CTX_ENABLED_COUNT 4u
#define SPINNERET_HER_CTX_ENABLED_BITS 0x00000001u
#define SPINNERET_HER_CTX_ENABLED_RESET 0x00000000u

/* her_meta */
/* her_meta.handler_mem_addr (rw): Handler memory of the context. */
#define SPINNERET_HER_META_HANDLER_MEM_ADDR_OFFSET 0x4000u
#define SPINNERET_HER_META_HANDLER_MEM_ADDR_COUNT 4u
#define SPINNERET_HER_META_HANDLER_MEM_ADDR_BITS 0xffffffffu
#define SPINNERET_HER_META_HANDLER_MEM_ADDR_RESET 0x00000000u
/* her_meta.handler_mem_size (rw): Size of the handler memory. */
#define SPINNERET_HER_META_HANDLER_MEM_SIZE_OFFSET 0x4010u
#define SPINNERET_HER_META_HANDLER_MEM_SIZE_COUNT 4u
#define SPINNERET_HER_META_HANDLER_MEM_SIZE_BITS 0xffffffffu
#define SPINNERET_HER_META_HANDLER_MEM_SIZE_RESET 0x00000000u
/* her_meta.host_mem_addr_0 (rw): Host memory of the context, low word of its address. */
#define SPINNERET_HER_META_HOST_MEM_ADDR_0_OFFSET 0x4020u
#define SPINNERET_HER_META_HOST_MEM_ADDR_0_COUNT 4u
#define SPINNERET_HER_META_HOST_MEM_ADDR_0_BITS 0xffffffffu
#define SPINNERET_HER_META_HOST_MEM_ADDR_0_RESET 0x00000000u
/* her_meta.host_mem_addr_1 (rw): Host memory of the context, high word of its address. */
#define SPINNERET_HER_META_HOST_MEM_ADDR_1_OFFSET 0x4030u
#define SPINNERET_HER_META_HOST_MEM_ADDR_1_COUNT 4u
#define SPINNERET_HER_META_HOST_MEM_ADDR_1_BITS 0xffffffffu
#define SPINNERET_HER_META_HOST_MEM_ADDR_1_RESET 0x00000000u
/* her_meta.host_mem_size (rw): Size of the host memory. */
#define SPINNERET_HER_META_HOST_MEM_SIZE_OFFSET 0x4040u
#define SPINNERET_HER_META_HOST_MEM_SIZE_COUNT 4u
#define SPINNERET_HER_META_HOST_MEM_SIZE_BITS 0xffffffffu
#define SPINNERET_HER_META_HOST_MEM_SIZE_RESET 0x00000000u
/* her_meta.hh_addr (rw): Entry point of the header handler. */
#define SPINNERET_HER_META_HH_ADDR_OFFSET 0x4050u
#define SPINNERET_HER_META_HH_ADDR_COUNT 4u
#define SPINNERET_HER_META_HH_ADDR_BITS 0xffffffffu
#define SPINNERET_HER_META_HH_ADDR_RESET 0x00000000u
/* her_meta.hh_size (rw): Size of the header handler. */
#define SPINNERET_HER_META_HH_SIZE_OFFSET 0x4060u
#define SPINNERET_HER_META_HH_SIZE_COUNT 4u
#define SPINNERET_HER_META_HH_SIZE_BITS 0xffffffffu
#define SPINNERET_HER_META_HH_SIZE_RESET 0x00000000u
/* her_meta.ph_addr (rw): Entry point of the packet handler. */
#define SPINNERET_HER_META_PH_ADDR_OFFSET 0x4070u
#define SPINNERET_HER_META_PH_ADDR_COUNT 4u
#define SPINNERET_HER_META_PH_ADDR_BITS 0xffffffffu
#define SPINNERET_HER_META_PH_ADDR_RESET 0x00000000u
/* her_meta.ph_size (rw): Size of the packet handler. */
#define SPINNERET_HER_META_PH_SIZE_OFFSET 0x4080u
#define SPINNERET_HER_META_PH_SIZE_COUNT 4u
#define SPINNERET_HER_META_PH_SIZE_BITS 0xffffffffu
#define SPINNERET_HER_META_PH_SIZE_RESET 0x00000000u
/* her_meta.th_addr (rw): Entry point of the tail handler. */
#define SPINNERET_HER_META_TH_ADDR_OFFSET 0x4090u
#define SPINNERET_HER_META_TH_ADDR_COUNT 4u
#define SPINNERET_HER_META_TH_ADDR_BITS 0xffffffffu
#define SPINNERET_HER_META_TH_ADDR_RESET 0x00000000u
/* her_meta.th_size (rw): Size of the tail handler. */
#define SPINNERET_HER_META_TH_SIZE_OFFSET 0x40a0u
#define SPINNERET_HER_META_TH_SIZE_COUNT 4u
#define SPINNERET_HER_META_TH_SIZE_BITS 0xffffffffu
#define SPINNERET_HER_META_TH_SIZE_RESET 0x00000000u
/* her_meta.scratchpad_0_addr (rw): Scratchpad in the L1 memory of cluster 0: offset in its scratchpads, which begin at 0x14400. */
#define SPINNERET_HER_META_SCRATCHPAD_0_ADDR_OFFSET 0x40b0u
#define SPINNERET_HER_META_SCRATCHPAD_0_ADDR_COUNT 4u
#define SPINNERET_HER_META_SCRATCHPAD_0_ADDR_BITS 0xffffffffu
#define SPINNERET_HER_META_SCRATCHPAD_0_ADDR_RESET 0x00000000u
/* her_meta.scratchpad_0_size (rw): Size of the scratchpad of cluster 0. */
#define SPINNERET_HER_META_SCRATCHPAD_0_SIZE_OFFSET 0x40c0u
#define SPINNERET_HER_META_SCRATCHPAD_0_SIZE_COUNT 4u
#define SPINNERET_HER_META_SCRATCHPAD_0_SIZE_BITS 0xffffffffu
#define SPINNERET_HER_META_SCRATCHPAD_0_SIZE_RESET 0x00000000u
/* her_meta.scratchpad_1_addr (rw): Scratchpad in the L1 memory of cluster 1: offset in its scratchpads, which begin at 0x14400. */
#define SPINNERET_HER_META_SCRATCHPAD_1_ADDR_OFFSET 0x40d0u
#define SPINNERET_HER_META_SCRATCHPAD_1_ADDR_COUNT 4u
#define SPINNERET_HER_META_SCRATCHPAD_1_ADDR_BITS 0xffffffffu
#define SPINNERET_HER_META_SCRATCHPAD_1_ADDR_RESET 0x00000000u
/* her_meta.scratchpad_1_size (rw): Size of the scratchpad of cluster 1. */
#define SPINNERET_HER_META_SCRATCHPAD_1_SIZE_OFFSET 0x40e0u
#define SPINNERET_HER_META_SCRATCHPAD_1_SIZE_COUNT 4u
#define SPINNERET_HER_META_SCRATCHPAD_1_SIZE_BITS 0xffffffffu
#define SPINNERET_HER_META_SCRATCHPAD_1_SIZE_RESET 0x00000000u
/* her_meta.scratchpad_2_addr (rw): Scratchpad in the L1 memory of cluster 2. */
#define SPINNERET_HER_META_SCRATCHPAD_2_ADDR_OFFSET 0x40f0u
#define SPINNERET_HER_META_SCRATCHPAD_2_ADDR_COUNT 4u
#define SPINNERET_HER_META_SCRATCHPAD_2_ADDR_BITS 0xffffffffu
#define SPINNERET_HER_META_SCRATCHPAD_2_ADDR_RESET 0x00000000u
/* her_meta.scratchpad_2_size (rw): Size of the scratchpad of cluster 2. */
#define SPINNERET_HER_META_SCRATCHPAD_2_SIZE_OFFSET 0x4100u
#define SPINNERET_HER_META_SCRATCHPAD_2_SIZE_COUNT 4u
#define SPINNERET_HER_META_SCRATCHPAD_2_SIZE_BITS 0xffffffffu
#define SPINNERET_HER_META_SCRATCHPAD_2_SIZE_RESET 0x00000000u
/* her_meta.scratchpad_3_addr (rw): Scratchpad in the L1 memory of cluster 3. */
#define SPINNERET_HER_META_SCRATCHPAD_3_ADDR_OFFSET 0x4110u
#define SPINNERET_HER_META_SCRATCHPAD_3_ADDR_COUNT 4u
#define SPINNERET_HER_META_SCRATCHPAD_3_ADDR_BITS 0xffffffffu
#define SPINNERET_HER_META_SCRATCHPAD_3_ADDR_RESET 0x00000000u
/* her_meta.scratchpad_3_size (rw): Size of the scratchpad of cluster 3. */
#define SPINNERET_HER_META_SCRATCHPAD_3_SIZE_OFFSET 0x4120u
#define SPINNERET_HER_META_SCRATCHPAD_3_SIZE_COUNT 4u
#define SPINNERET_HER_META_SCRATCHPAD_3_SIZE_BITS 0xffffffffu
#define SPINNERET_HER_META_SCRATCHPAD_3_SIZE_RESET 0x00000000u

/* guard */
/* guard.enforce (rw): 1: the windows confine the host DMA as `guard.by_context` says; 0: it is not limited. */
#define SPINNERET_GUARD_ENFORCE_OFFSET 0x5000u
#define SPINNERET_GUARD_ENFORCE_BITS 0x00000001u
#define SPINNERET_GUARD_ENFORCE_RESET 0x00000000u
/* the windows confine the host DMA */
#define SPINNERET_GUARD_ENFORCE_ENFORCE_MASK 0x00000001u
#define SPINNERET_GUARD_ENFORCE_ENFORCE_SHIFT 0u
/* guard.enabled (rw): Whether the window of the context is open. */
#define SPINNERET_GUARD_ENABLED_OFFSET 0x5004u
#define SPINNERET_GUARD_ENABLED_COUNT 4u
#define SPINNERET_GUARD_ENABLED_BITS 0x00000001u
#define SPINNERET_GUARD_ENABLED_RESET 0x00000000u
/* guard.base_0 (rw): First byte of the window, low word of its address. */
#define SPINNERET_GUARD_BASE_0_OFFSET 0x5014u
#define SPINNERET_GUARD_BASE_0_COUNT 4u
#define SPINNERET_GUARD_BASE_0_BITS 0xffffffffu
#define SPINNERET_GUARD_BASE_0_RESET 0x00000000u
/* guard.base_1 (rw): First byte of the window, high word of its address. */
#define SPINNERET_GUARD_BASE_1_OFFSET 0x5024u
#define SPINNERET_GUARD_BASE_1_COUNT 4u
#define SPINNERET_GUARD_BASE_1_BITS 0xffffffffu
#define SPINNERET_GUARD_BASE_1_RESET 0x00000000u
/* guard.size (rw): Size of the window; 0: it contains nothing. */
#define SPINNERET_GUARD_SIZE_OFFSET 0x5034u
#define SPINNERET_GUARD_SIZE_COUNT 4u
#define SPINNERET_GUARD_SIZE_BITS 0xffffffffu
#define SPINNERET_GUARD_SIZE_RESET 0x00000000u
/* guard.by_context (rw): 1: a transfer must be in the window of its context, which the lowest bits of AWUSER or ARUSER name; 0: in any window, for clusters that do not say who asks. */
#define SPINNERET_GUARD_BY_CONTEXT_OFFSET 0x5044u
#define SPINNERET_GUARD_BY_CONTEXT_BITS 0x00000001u
#define SPINNERET_GUARD_BY_CONTEXT_RESET 0x00000000u
/* the window of its context confines a transfer */
#define SPINNERET_GUARD_BY_CONTEXT_BY_CONTEXT_MASK 0x00000001u
#define SPINNERET_GUARD_BY_CONTEXT_BY_CONTEXT_SHIFT 0u

/* slots */
/* slots.bound (rw): Most slots that the clusters have of the context at a time; its packets beyond them are dropped; 0: no bound. */
#define SPINNERET_SLOTS_BOUND_OFFSET 0x5100u
#define SPINNERET_SLOTS_BOUND_COUNT 4u
#define SPINNERET_SLOTS_BOUND_BITS 0x0000ffffu
#define SPINNERET_SLOTS_BOUND_RESET 0x00000000u
/* slots.used (r): Slots that the clusters have of the context. */
#define SPINNERET_SLOTS_USED_OFFSET 0x5110u
#define SPINNERET_SLOTS_USED_COUNT 4u
#define SPINNERET_SLOTS_USED_BITS 0x0000ffffu

/* events */
/* events.pending (rw, 1 clears): Lines whose event has happened since their bit was cleared. */
#define SPINNERET_EVENTS_PENDING_OFFSET 0x6000u
#define SPINNERET_EVENTS_PENDING_BITS 0x0000003fu
#define SPINNERET_EVENTS_PENDING_RESET 0x00000000u
/* something of the context has arrived in host memory, a bit for each */
#define SPINNERET_EVENTS_PENDING_CONTEXTS_MASK 0x0000000fu
#define SPINNERET_EVENTS_PENDING_CONTEXTS_SHIFT 0u
/* standard output is not empty */
#define SPINNERET_EVENTS_PENDING_STDOUT_MASK 0x00000010u
#define SPINNERET_EVENTS_PENDING_STDOUT_SHIFT 4u
/* a counter of errors or dropped packets moved */
#define SPINNERET_EVENTS_PENDING_ERRORS_MASK 0x00000020u
#define SPINNERET_EVENTS_PENDING_ERRORS_SHIFT 5u
/* events.enable (rw): Lines that send a message while they are pending, one for each time that they begin to be both. */
#define SPINNERET_EVENTS_ENABLE_OFFSET 0x6004u
#define SPINNERET_EVENTS_ENABLE_BITS 0x0000003fu
#define SPINNERET_EVENTS_ENABLE_RESET 0x00000000u
/* something of the context has arrived in host memory, a bit for each */
#define SPINNERET_EVENTS_ENABLE_CONTEXTS_MASK 0x0000000fu
#define SPINNERET_EVENTS_ENABLE_CONTEXTS_SHIFT 0u
/* standard output is not empty */
#define SPINNERET_EVENTS_ENABLE_STDOUT_MASK 0x00000010u
#define SPINNERET_EVENTS_ENABLE_STDOUT_SHIFT 4u
/* a counter of errors or dropped packets moved */
#define SPINNERET_EVENTS_ENABLE_ERRORS_MASK 0x00000020u
#define SPINNERET_EVENTS_ENABLE_ERRORS_SHIFT 5u
/* events.moderation (rw): Clocks of the core that pass at least between two messages of one line. */
#define SPINNERET_EVENTS_MODERATION_OFFSET 0x6008u
#define SPINNERET_EVENTS_MODERATION_BITS 0x0000ffffu
#define SPINNERET_EVENTS_MODERATION_RESET 0x00000000u
/* events.sent (r): Messages that were sent, of all lines. */
#define SPINNERET_EVENTS_SENT_OFFSET 0x600cu
#define SPINNERET_EVENTS_SENT_BITS 0xffffffffu

/* caps */
/* caps.magic (r): "SPIN", first letter in the lowest byte. */
#define SPINNERET_CAPS_MAGIC_OFFSET 0xf000u
#define SPINNERET_CAPS_MAGIC_BITS 0xffffffffu
#define SPINNERET_CAPS_MAGIC_RESET 0x4e495053u
/* caps.version (r): Version of the register map. */
#define SPINNERET_CAPS_VERSION_OFFSET 0xf004u
#define SPINNERET_CAPS_VERSION_BITS 0xffffffffu
#define SPINNERET_CAPS_VERSION_RESET 0x00010300u
/* changes of the description only */
#define SPINNERET_CAPS_VERSION_PATCH_MASK 0x000000ffu
#define SPINNERET_CAPS_VERSION_PATCH_SHIFT 0u
/* registers that were added */
#define SPINNERET_CAPS_VERSION_MINOR_MASK 0x0000ff00u
#define SPINNERET_CAPS_VERSION_MINOR_SHIFT 8u
/* changes that software has to know of */
#define SPINNERET_CAPS_VERSION_MAJOR_MASK 0xffff0000u
#define SPINNERET_CAPS_VERSION_MAJOR_SHIFT 16u
/* caps.features (r): Options that the hardware was generated with. */
#define SPINNERET_CAPS_FEATURES_OFFSET 0xf008u
#define SPINNERET_CAPS_FEATURES_BITS 0xffffffffu
/* rules can count from the IP payload (`me.relative`) */
#define SPINNERET_CAPS_FEATURES_IP_RELATIVE_MASK 0x00000001u
#define SPINNERET_CAPS_FEATURES_IP_RELATIVE_SHIFT 0u
/* windows can confine the host DMA (`guard.*`) */
#define SPINNERET_CAPS_FEATURES_GUARD_MASK 0x00000002u
#define SPINNERET_CAPS_FEATURES_GUARD_SHIFT 1u
/* atomic operations to host memory are answered, with an error */
#define SPINNERET_CAPS_FEATURES_ATOMICS_ANSWERED_MASK 0x00000004u
#define SPINNERET_CAPS_FEATURES_ATOMICS_ANSWERED_SHIFT 2u
/* host transfers in flight outlive a reset of the clusters */
#define SPINNERET_CAPS_FEATURES_DRAIN_MASK 0x00000008u
#define SPINNERET_CAPS_FEATURES_DRAIN_SHIFT 3u
/* the context is part of a request's message id */
#define SPINNERET_CAPS_FEATURES_CONTEXT_IN_MESSAGE_ID_MASK 0x00000010u
#define SPINNERET_CAPS_FEATURES_CONTEXT_IN_MESSAGE_ID_SHIFT 4u
/* a stand-in is there instead of the PsPIN clusters */
#define SPINNERET_CAPS_FEATURES_STUB_CLUSTER_MASK 0x00000020u
#define SPINNERET_CAPS_FEATURES_STUB_CLUSTER_SHIFT 5u
/* events of the hardware are gathered (`events.*`) */
#define SPINNERET_CAPS_FEATURES_EVENTS_MASK 0x00000040u
#define SPINNERET_CAPS_FEATURES_EVENTS_SHIFT 6u
/* caps.rulesets (r): Rulesets of the matching engine. */
#define SPINNERET_CAPS_RULESETS_OFFSET 0xf00cu
#define SPINNERET_CAPS_RULESETS_BITS 0xffffffffu
/* caps.rules (r): Rules of a ruleset, the end-of-message rule among them. */
#define SPINNERET_CAPS_RULES_OFFSET 0xf010u
#define SPINNERET_CAPS_RULES_BITS 0xffffffffu
/* caps.contexts (r): Execution contexts. */
#define SPINNERET_CAPS_CONTEXTS_OFFSET 0xf014u
#define SPINNERET_CAPS_CONTEXTS_BITS 0xffffffffu
/* caps.clusters (r): PsPIN clusters. */
#define SPINNERET_CAPS_CLUSTERS_OFFSET 0xf018u
#define SPINNERET_CAPS_CLUSTERS_BITS 0xffffffffu
/* caps.mpqs (r): Message processing queues. */
#define SPINNERET_CAPS_MPQS_OFFSET 0xf01cu
#define SPINNERET_CAPS_MPQS_BITS 0xffffffffu
/* caps.data_width (r): Width of a beat of the packet streams. */
#define SPINNERET_CAPS_DATA_WIDTH_OFFSET 0xf020u
#define SPINNERET_CAPS_DATA_WIDTH_BITS 0xffffffffu
/* caps.mtu (r): Longest frame that the matching engine takes. */
#define SPINNERET_CAPS_MTU_OFFSET 0xf024u
#define SPINNERET_CAPS_MTU_BITS 0xffffffffu
/* caps.inspected_bytes (r): Bytes of a frame, from its start, that rules can look at. */
#define SPINNERET_CAPS_INSPECTED_BYTES_OFFSET 0xf028u
#define SPINNERET_CAPS_INSPECTED_BYTES_BITS 0xffffffffu
/* caps.buffer_base (r): Address of the packet buffer in PsPIN. */
#define SPINNERET_CAPS_BUFFER_BASE_OFFSET 0xf02cu
#define SPINNERET_CAPS_BUFFER_BASE_BITS 0xffffffffu
/* caps.buffer_size (r): Size of the packet buffer. */
#define SPINNERET_CAPS_BUFFER_SIZE_OFFSET 0xf030u
#define SPINNERET_CAPS_BUFFER_SIZE_BITS 0xffffffffu
/* caps.large_slots (r): Large slots of the packet buffer. */
#define SPINNERET_CAPS_LARGE_SLOTS_OFFSET 0xf034u
#define SPINNERET_CAPS_LARGE_SLOTS_BITS 0xffffffffu
/* caps.large_slot_size (r): Size of a large slot. */
#define SPINNERET_CAPS_LARGE_SLOT_SIZE_OFFSET 0xf038u
#define SPINNERET_CAPS_LARGE_SLOT_SIZE_BITS 0xffffffffu
/* caps.small_slots (r): Small slots of the packet buffer. */
#define SPINNERET_CAPS_SMALL_SLOTS_OFFSET 0xf03cu
#define SPINNERET_CAPS_SMALL_SLOTS_BITS 0xffffffffu
/* caps.small_slot_size (r): Size of a small slot. */
#define SPINNERET_CAPS_SMALL_SLOT_SIZE_OFFSET 0xf040u
#define SPINNERET_CAPS_SMALL_SLOT_SIZE_BITS 0xffffffffu
/* caps.message_id_width (r): Width of the message id in a request. */
#define SPINNERET_CAPS_MESSAGE_ID_WIDTH_OFFSET 0xf044u
#define SPINNERET_CAPS_MESSAGE_ID_WIDTH_BITS 0xffffffffu
/* caps.host_tags (r): Transfers to host memory, and from it, that can be in flight. */
#define SPINNERET_CAPS_HOST_TAGS_OFFSET 0xf048u
#define SPINNERET_CAPS_HOST_TAGS_BITS 0xffffffffu
/* caps.core_clock_khz (r): Frequency of the NIC's clock. */
#define SPINNERET_CAPS_CORE_CLOCK_KHZ_OFFSET 0xf04cu
#define SPINNERET_CAPS_CORE_CLOCK_KHZ_BITS 0xffffffffu
/* caps.cluster_clock_khz (r): Frequency of the clusters' clock. */
#define SPINNERET_CAPS_CLUSTER_CLOCK_KHZ_OFFSET 0xf050u
#define SPINNERET_CAPS_CLUSTER_CLOCK_KHZ_BITS 0xffffffffu

/* Values of SPINNERET_CAPS_MAGIC_OFFSET and SPINNERET_CAPS_VERSION_OFFSET. */
#define SPINNERET_MAGIC 0x4e495053u
#define SPINNERET_VERSION 0x00010300u

/* Registers of a context in spinneret's own clusters, from its first address on. */
#define SPINNERET_SHARES_BASE 0x1d200000u
#define SPINNERET_SHARES_STRIDE 0x40u
/* shares.weight (rw): Share of HPU time, host DMA and packets that are sent, relative to the weights of other contexts: 1 to 15. A write of 0 changes nothing. */
#define SPINNERET_SHARES_WEIGHT_OFFSET 0x0000u
#define SPINNERET_SHARES_WEIGHT_BITS 0x0000000fu
#define SPINNERET_SHARES_WEIGHT_RESET 0x00000001u
/* shares.budget (rw): Clocks after which a handler is stopped; 0: never. */
#define SPINNERET_SHARES_BUDGET_OFFSET 0x0004u
#define SPINNERET_SHARES_BUDGET_BITS 0xffffffffu
#define SPINNERET_SHARES_BUDGET_RESET 0x000f4240u
/* shares.egress_rate (rw): Bytes of packets that handlers may send in a clock of the clusters, in units of 1/256; 0: no limit. */
#define SPINNERET_SHARES_EGRESS_RATE_OFFSET 0x0008u
#define SPINNERET_SHARES_EGRESS_RATE_BITS 0x0000ffffu
#define SPINNERET_SHARES_EGRESS_RATE_RESET 0x00000000u
/* shares.host_written (r): [0] low and [1] high word of the bytes that handlers copied to the host. */
#define SPINNERET_SHARES_HOST_WRITTEN_OFFSET 0x0010u
#define SPINNERET_SHARES_HOST_WRITTEN_COUNT 2u
#define SPINNERET_SHARES_HOST_WRITTEN_BITS 0xffffffffu
#define SPINNERET_SHARES_HOST_WRITTEN_LOW_OFFSET 0x0010u
#define SPINNERET_SHARES_HOST_WRITTEN_LOW_BITS 0xffffffffu
#define SPINNERET_SHARES_HOST_WRITTEN_HIGH_OFFSET 0x0014u
#define SPINNERET_SHARES_HOST_WRITTEN_HIGH_BITS 0xffffffffu
/* shares.host_read (r): [0] low and [1] high word of the bytes that handlers copied from the host. */
#define SPINNERET_SHARES_HOST_READ_OFFSET 0x0018u
#define SPINNERET_SHARES_HOST_READ_COUNT 2u
#define SPINNERET_SHARES_HOST_READ_BITS 0xffffffffu
#define SPINNERET_SHARES_HOST_READ_LOW_OFFSET 0x0018u
#define SPINNERET_SHARES_HOST_READ_LOW_BITS 0xffffffffu
#define SPINNERET_SHARES_HOST_READ_HIGH_OFFSET 0x001cu
#define SPINNERET_SHARES_HOST_READ_HIGH_BITS 0xffffffffu
/* shares.tasks (r): Handlers that have ended. */
#define SPINNERET_SHARES_TASKS_OFFSET 0x0020u
#define SPINNERET_SHARES_TASKS_BITS 0xffffffffu
/* shares.clocks (r): [0] low and [1] high word of the clocks that they took on HPUs, at most 2^20 - 1 each. */
#define SPINNERET_SHARES_CLOCKS_OFFSET 0x0024u
#define SPINNERET_SHARES_CLOCKS_COUNT 2u
#define SPINNERET_SHARES_CLOCKS_BITS 0xffffffffu
#define SPINNERET_SHARES_CLOCKS_LOW_OFFSET 0x0024u
#define SPINNERET_SHARES_CLOCKS_LOW_BITS 0xffffffffu
#define SPINNERET_SHARES_CLOCKS_HIGH_OFFSET 0x0028u
#define SPINNERET_SHARES_CLOCKS_HIGH_BITS 0xffffffffu
/* shares.budget_ends (r): Handlers that were stopped because they used up their budget. */
#define SPINNERET_SHARES_BUDGET_ENDS_OFFSET 0x002cu
#define SPINNERET_SHARES_BUDGET_ENDS_BITS 0xffffffffu
/* shares.failures (r): Handlers that failed, those that used up their budget among them. */
#define SPINNERET_SHARES_FAILURES_OFFSET 0x0030u
#define SPINNERET_SHARES_FAILURES_BITS 0xffffffffu
/* shares.sent (r): [0] low and [1] high word of the bytes of packets that left for the egress path. */
#define SPINNERET_SHARES_SENT_OFFSET 0x0038u
#define SPINNERET_SHARES_SENT_COUNT 2u
#define SPINNERET_SHARES_SENT_BITS 0xffffffffu
#define SPINNERET_SHARES_SENT_LOW_OFFSET 0x0038u
#define SPINNERET_SHARES_SENT_LOW_BITS 0xffffffffu
#define SPINNERET_SHARES_SENT_HIGH_OFFSET 0x003cu
#define SPINNERET_SHARES_SENT_HIGH_BITS 0xffffffffu

/* The PCI function of a NIC that has one to itself. */
/* vendor id */
#define SPINNERET_PCI_VENDOR 0x1234u
/* device id */
#define SPINNERET_PCI_DEVICE 0x5350u
/* vendor id of the subsystem */
#define SPINNERET_PCI_SUBSYSTEM_VENDOR 0x1234u
/* subsystem id */
#define SPINNERET_PCI_SUBSYSTEM 0x1u
/* revision */
#define SPINNERET_PCI_REVISION 0x1u
/* class: processing accelerator */
#define SPINNERET_PCI_CLASS 0x120000u
/* number of the application BAR: 64 bits, not prefetchable */
#define SPINNERET_PCI_APPLICATION_BAR 0x0u
/* number of the BAR with the table of MSI-X: 32 bits */
#define SPINNERET_PCI_MSIX_BAR 0x2u
/* its size in bytes */
#define SPINNERET_PCI_MSIX_BAR_SIZE 0x1000u
/* where the table begins in it */
#define SPINNERET_PCI_MSIX_TABLE 0x0u
/* where its pending bits begin */
#define SPINNERET_PCI_MSIX_PENDING 0x800u
/* vectors of MSI-X: vector n is that of bit n of `events.pending` */
#define SPINNERET_PCI_VECTORS 0x6u

/* Element of me.idx, me.mask, me.start, me.end and me.relative of a rule. */
static inline uint32_t spinneret_rule_element(uint32_t ruleset, uint32_t rule)
{
    return ruleset * SPINNERET_RULES_PER_RULESET + rule;
}

/* Offset of element `index` of a register. */
static inline uint32_t spinneret_element(uint32_t offset, uint32_t index)
{
    return offset + SPINNERET_REGISTER_BYTES * index;
}

/* A mask, start or end of a rule as its register holds it, and back: the bytes in the other order. */
static inline uint32_t spinneret_rule_bytes(uint32_t value)
{
    return (value & 0xffu) << 24 | (value & 0xff00u) << 8 | (value >> 8 & 0xff00u) | value >> 24;
}

#endif
