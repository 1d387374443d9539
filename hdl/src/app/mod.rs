//! What joins the blocks to Corundum and to the cluster.

pub mod stub;
