//! The hart against the manual, against an independent simulator, with compiled programs, and with noise.

mod compressed;
mod computation;
mod cost;
mod hpu;
mod memory;
mod privileged;
mod programs;
mod reference;
mod rules;
mod support;
