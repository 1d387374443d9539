//! Host memory: what lies between the cluster and Corundum's segmented DMA.

pub mod psdpram;
