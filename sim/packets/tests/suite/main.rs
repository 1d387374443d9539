//! Captures, rules and the reference of the matching engine.

mod capture_reader;
mod capture_shipped;
mod capture_writer;
mod ip_payload;
mod rules_file;
mod rules_reference;
