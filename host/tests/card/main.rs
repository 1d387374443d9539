//! The host library on a card, whose driver is a fake that behaves as the public one, or whose PCI function is a fake.

mod contexts;
mod driver;
mod failures;
mod fake;
mod memory;
mod program;
mod support;
mod vfio;
