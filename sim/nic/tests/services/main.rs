//! Handlers that call the host.

mod calls;
mod harm;
mod ranks;
mod run;
mod sample;
mod support;
mod tutorial;
mod typed;
