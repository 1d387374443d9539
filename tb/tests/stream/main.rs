//! The stream primitives against reference models in plain Rust, on the generated text.
//!
//! Every test has the block's reference model beside the block: it predicts all outputs in every cycle, so
//! latency, throughput and backpressure are checked in all traffic and not in directed cases alone.

mod fifo;
mod frame_arbiter;
mod frame_demux;
mod frame_fifo;
mod frames;
mod rate_limiter;

use spinneret_tb::reference;
