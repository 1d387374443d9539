//! Figures of generated blocks: resources and depth, measured with yosys.
//!
//! [`yosys`] synthesises a block for UltraScale+ and hands back a [`netlist`]; [`cells`] knows what
//! each primitive is; [`resources`] counts them and [`depth`] finds the longest paths in LUT
//! levels. [`figures`] holds what the public reference design takes, [`report`] puts both side by
//! side, [`record`] keeps them in the documentation, and [`cli`] is the command. The method and
//! its limits are described in `docs/synthesis.md`.

pub mod cells;
pub mod cli;
pub mod depth;
mod error;
pub mod figures;
pub mod netlist;
pub mod record;
pub mod report;
pub mod resources;
pub mod yosys;

pub use error::Error;
