//! The stand-in for the cluster against its reference model.

mod bursts;
mod hers;
mod support;
