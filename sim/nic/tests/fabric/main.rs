//! `spinneret fabric`: many NICs on one clock.

mod applications;
mod linux;
mod refusals;
mod results;
mod support;
