//! Handlers that call the host.

mod calls;
mod harm;
mod opcodes;
mod run;
mod sample;
mod support;
mod tutorial;
mod typed;
