//! The attribute that turns a hardware kernel written in Rust into rust-hdl's syntax tree.
