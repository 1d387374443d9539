//! The blocks of the catalog and the application block as Verilator models, one typed struct each.
//!
//! They take minutes to compile, so they are apart from what simulates them (`spinneret-sim`) and from the `spinneret`
//! command, which has the few models that it needs of its own.

include!(concat!(env!("OUT_DIR"), "/models.rs"));
