//! SLMP, the sPIN Lightweight Message Protocol: messages over UDP to handlers on a NIC.
#![forbid(unsafe_code)]

pub mod generate;
pub mod memory;
pub mod wire;
