//! Blocks of the clusters: what their testbenches share.

pub mod driver;
pub mod lines;
