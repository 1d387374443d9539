//! The bus models, captures, rules and references, in one program: each links all models.

#[path = "../support/mod.rs"]
mod support;

mod axi;
mod axi_reads;
mod axil;
mod capture_reader;
mod capture_shipped;
mod capture_writer;
mod channels;
mod ip_payload;
mod models;
mod port_trace;
mod rules_file;
mod rules_reference;
mod rules_relative;
mod streams;
mod test_frame;
