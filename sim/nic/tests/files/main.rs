//! `spinneret send` and `spinneret receive` as users call them, and what users do to them.

mod handlers;
mod refusals;
mod support;
mod trouble;
mod udp;
