/*
 * Addresses of the cluster.
 *
 * Generated from the tables of the crate spinneret-regmap: change those, then run `./dev docs`.
 */
#ifndef SPIN_MAP_H
#define SPIN_MAP_H

/* Registers of the HPU that runs the code: each HPU sees its own at these addresses. */
#define SPIN_TERMINATE_ADDR 0x1b200000
#define SPIN_DMA_ADDR 0x1b204400
#define SPIN_HPU_ADDR 0x1b205000

/* Registers of the cluster's instruction cache: a word to +0 turns it on, 1 to +4 empties it. */
#define SPIN_ICACHE_ADDR 0x1b201400

/* Standard output: each HPU stores the words of its characters at an address with its cluster and its number. */
#define SPIN_STDOUT_ADDR 0x1a104000
#define SPIN_STDOUT_CLUSTER_SHIFT 7
#define SPIN_STDOUT_HPU_SHIFT 3

/* HWSCHED_PACKET_SUM: bits of the packet's size, above which its payload's sum is (packets.h). */
#define SPIN_PACKET_SIZE_BITS 15

/* L2 handler memory. */
#define SPIN_L2_ADDR 0x1c000000

/* The L1 memory of cluster c starts at SPIN_L1_ADDR + (c << SPIN_L1_SHIFT), from every place that accesses it. */
#define SPIN_L1_ADDR 0x10000000
#define SPIN_L1_SHIFT 22

/* Inside it: the runtime's contexts, its guard, one area for each HPU, with stack and thread-local variables, and scratchpads. */
#define SPIN_CONTEXT_OFFSET 0x400
#define SPIN_CONTEXT_SIZE 32
#define SPIN_GUARD_OFFSET 0x600
#define SPIN_GUARD_SIZE 64
#define SPIN_AREA_OFFSET 0x800
#ifndef SPIN_AREA_SIZE
#define SPIN_AREA_SIZE 0x780
#endif
#define SPIN_SCRATCHPADS_OFFSET 0x14400
#define SPIN_SCRATCHPADS_SIZE 0x2bc00

/* The table of the resident runtime, and its entry for each context. */
#define SPIN_RESIDENT_ADDR 0x1c0fff00
#define SPIN_RESIDENT_STATE 0
#define SPIN_RESIDENT_CLUSTERS 4
#define SPIN_RESIDENT_LOADS 8
#define SPIN_RESIDENT_ENTRIES 64
#define SPIN_RESIDENT_ENTRY_SHIFT 5
#define SPIN_RESIDENT_CONTEXT_BITS 2
#define SPIN_RESIDENT_ID 0
#define SPIN_RESIDENT_GP 4
#define SPIN_RESIDENT_LOCALS 8
#define SPIN_RESIDENT_LOCALS_SIZE 12
#define SPIN_RESIDENT_INIT 16
#define SPIN_RESIDENT_PROGRAM_STATE 20
#define SPIN_RESIDENT_INIT_DONE 24
#define SPIN_RESIDENT_ID_SHIFT 16
#define SPIN_RESIDENT_STARTING 1
#define SPIN_RESIDENT_READY 2
#define SPIN_RESIDENT_FAILED 3
#define SPIN_RESIDENT_CLEARING 4
#define SPIN_RESIDENT_NOT_LOADED 30

/* The task at hand, its doorbell, the cause of its failure, size and sum of its packet, and a handler's arguments. */
#define HWSCHED_HANDLER_FUN_ADDR 0x1b205000
#define HWSCHED_HANDLER_FUN_SIZE 0x1b205004
#define HWSCHED_HANDLER_MEM_ADDR 0x1b205008
#define HWSCHED_HANDLER_MEM_SIZE 0x1b20500c
#define HWSCHED_PKT_ADDR 0x1b205010
#define HWSCHED_PKT_SIZE 0x1b205014
#define HWSCHED_SCRATCHPAD_0_ADDR 0x1b205018
#define HWSCHED_SCRATCHPAD_1_ADDR 0x1b20501c
#define HWSCHED_SCRATCHPAD_2_ADDR 0x1b205020
#define HWSCHED_SCRATCHPAD_3_ADDR 0x1b205024
#define HWSCHED_SCRATCHPAD_0_SIZE 0x1b205028
#define HWSCHED_SCRATCHPAD_1_SIZE 0x1b20502c
#define HWSCHED_SCRATCHPAD_2_SIZE 0x1b205030
#define HWSCHED_SCRATCHPAD_3_SIZE 0x1b205034
#define HWSCHED_HOST_MEM_ADDR_HIGH 0x1b205038
#define HWSCHED_HOST_MEM_ADDR_LOW 0x1b20503c
#define HWSCHED_HOST_MEM_SIZE 0x1b205040
#define HWSCHED_HOST_L2_PKT_ADDR 0x1b205044
#define HWSCHED_HOME_CLUSTER_ID 0x1b205048
#define HWSCHED_FLOW_ID 0x1b20504c
#define HWSCHED_DOORBELL 0x1b205050
#define HWSCHED_ERROR 0x1b205054
#define HWSCHED_PACKET_SUM 0x1b205058
#define HWSCHED_ARGS 0x1b205060

/* Commands: hwsched.h says what they do. */
#define CMD_ISSUE 0x1b205080
#define CMD_WAIT 0x1b205084
#define CMD_TEST 0x1b205088
#define CMD_INFO 0x1b20508c
#define CMD_WORD0 0x1b205090
#define CMD_WORD1 0x1b205094
#define CMD_WORD2 0x1b205098
#define CMD_WORD3 0x1b20509c
#define CMD_WORD4 0x1b2050a0
#define CMD_WORD5 0x1b2050a4
#define CMD_WORD6 0x1b2050a8

/* Flow id of a send to the host's network stack, with the address of the packet's slot in the lower bits. */
#define CMD_FLOW_PASS 0x80000000u

#endif
