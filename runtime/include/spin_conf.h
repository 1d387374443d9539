/* Configuration of the NIC. The build may override the numbers of clusters and HPUs (`make CLUSTERS=4`). */
#ifndef SPIN_CONF_H
#define SPIN_CONF_H

#include "spin_map.h"

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

#endif
