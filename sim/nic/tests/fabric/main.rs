//! `spinneret fabric`: many NICs on one clock.

mod applications;
mod refusals;
mod results;
mod support;
