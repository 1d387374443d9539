//! The clock that generated blocks reach, by place and route.
//!
//! LUT levels, which [`crate::synth`] counts, hide long nets and carry chains. [`nextpnr`] places and routes a block for an
//! ECP5, whose open tools know its delays, [`report`] shows what came of it, and [`cli`] is the command. The method and its
//! limits are described in `docs/synthesis.md`.

pub mod cli;
pub mod nextpnr;
pub mod report;
