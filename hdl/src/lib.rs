//! The hardware blocks of spinneret.

pub mod catalog;
pub mod ingress;
pub mod stream;
