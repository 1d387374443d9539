//! The host library on a card, whose driver is a fake that behaves as the public one.

mod contexts;
mod driver;
mod failures;
mod fake;
mod memory;
mod program;
mod support;
