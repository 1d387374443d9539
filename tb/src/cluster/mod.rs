//! Blocks of the clusters: what their testbenches share.

pub mod lines;
