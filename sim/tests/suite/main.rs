//! The bus models and the loop around them, in one program: each links all models.

#[path = "../support/mod.rs"]
mod support;

mod axi;
mod axi_reads;
mod axil;
mod channels;
mod cocotb;
mod models;
mod port_trace;
mod streams;
mod test_frame;
