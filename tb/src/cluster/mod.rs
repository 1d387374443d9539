//! Blocks of the clusters: what their testbenches share.

pub mod driver;
pub mod her;
pub mod lines;
