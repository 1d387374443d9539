//! The host DMA against its reference models, and each line of its contract.

mod strobes;
mod support;
