//! The stand-in for the cluster against its reference model.

mod hers;
mod support;
