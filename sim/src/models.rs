//! The designs that this crate was built with, one typed struct each.
//!
//! The list is in the crate's build script.

include!(concat!(env!("OUT_DIR"), "/models.rs"));
