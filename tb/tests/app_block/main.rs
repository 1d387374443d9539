//! The application block at Corundum's ports, with software at the BAR and the stand-in cluster in a clock of its own.

mod bring_up;
mod errors;
mod events;
mod host_dma;
mod passing;
mod random;
mod rates;
mod resets;
mod sessions;
mod support;
mod transmit;
