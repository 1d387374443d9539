//! The host DMA against its reference models, and each line of its contract.

mod errors;
mod guard;
mod resets;
mod support;
mod timing;
mod transfers;
