/* The shape of the machine. The build may override the numbers of clusters and HPUs (`make CLUSTERS=4`). */
#ifndef SPIN_CONF_H
#define SPIN_CONF_H

/* HPUs of one cluster. */
#ifndef NB_CORES
#define NB_CORES 8
#endif

/* Clusters. */
#ifndef NB_CLUSTERS
#define NB_CLUSTERS 2
#endif

#if NB_CLUSTERS < 1 || NB_CLUSTERS > 8 || NB_CORES < 1 || NB_CORES > 8
#error "spin_conf.h: there may be 1 to 8 clusters (NB_CLUSTERS) of 1 to 8 HPUs (NB_CORES)"
#endif

#define NUM_CLUSTER_HPUS NB_CORES
#define CORE_COUNT (NB_CORES * NB_CLUSTERS)

/* A packet size that handlers may assume; nothing in the runtime depends on it. */
#ifndef PKT_SIZE
#define PKT_SIZE 1024
#endif

/* Registers of the HPU that runs the code: each HPU sees its own at these addresses. */
#define SPIN_TERMINATE_ADDR 0x1b200000
#define SPIN_DMA_ADDR 0x1b204400
#define SPIN_HPU_ADDR 0x1b205000

/* Registers of the cluster's instruction cache: a word to +0 turns it on, 1 to +4 empties it. */
#define SPIN_ICACHE_ADDR 0x1b201400

/* Standard output: each HPU stores the words of its characters at SPIN_STDOUT_ADDR + cluster * 128 + HPU * 8. */
#define SPIN_STDOUT_ADDR 0x1a104000
#define SPIN_STDOUT_CLUSTER_SHIFT 7
#define SPIN_STDOUT_HPU_SHIFT 3

/* L2 handler memory. */
#define SPIN_L2_ADDR 0x1c000000

/* The L1 memory of cluster c starts at SPIN_L1_ADDR + (c << SPIN_L1_SHIFT), from wherever it is looked at. */
#define SPIN_L1_ADDR 0x10000000
#define SPIN_L1_SHIFT 22

/*
 * Inside it: the runtime's contexts, its guard, then one area for each HPU, with its stack and its thread-local variables.
 */
#define SPIN_CONTEXT_OFFSET 0x400
#define SPIN_CONTEXT_SIZE 32
#define SPIN_GUARD_OFFSET 0x600
#define SPIN_GUARD_SIZE 64
#define SPIN_AREA_OFFSET 0x800
#define SPIN_AREA_SIZE 0x780

#endif
