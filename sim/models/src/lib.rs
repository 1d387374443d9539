//! The blocks of the catalog and the application block as Verilator models, one typed struct each.
//!
//! They take minutes to compile, so they are separate from the simulation (`spinneret-sim`) and from the `spinneret`
//! command, which builds its own few models.

include!(concat!(env!("OUT_DIR"), "/models.rs"));
