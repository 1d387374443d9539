//! What is asked for, generated, written, and measured.

mod board;
mod board_checkout;
mod board_simulation;
mod command;
mod messages;
mod ports;
mod prefix;
mod render;
mod request;
mod store;
mod support;
mod synth_depth;
mod synth_yosys;
mod trees;
