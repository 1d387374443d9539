//! The matching engine behind a serial line against its model, and each line of its contract.

mod commands;
mod faults;
mod support;
