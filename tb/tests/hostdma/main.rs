//! The host DMA against its reference models, and each line of its contract.

mod atomics;
mod bars;
mod errors;
mod guard;
mod guard_by_context;
mod random;
mod reads;
mod refused;
mod resets;
mod strobes;
mod support;
mod waiting;
mod writes;
