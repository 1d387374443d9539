//! The application block at Corundum's ports, with software at the BAR and the stand-in cluster in a clock of its own.

mod faults;
mod host;
mod support;
mod traffic;
