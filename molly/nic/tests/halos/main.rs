//! Ranks with a simulated NIC each, whose handlers put all that comes from others into place, give what the serial
//! function gives.
//!
//! With `MOLLY_NIC_STEPS=100` there are as many steps, more programs, grids and bad cables, and tables of times;
//! docs/molly.md has what that prints.

mod heat;
mod life;
mod overlap;
mod refusals;
mod support;
