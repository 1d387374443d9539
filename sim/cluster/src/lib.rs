//! A model of the PsPIN cluster in plain Rust: what runs handlers behind the generated hardware.
//!
//! [`rv`] is one RV32IMAC_Zicsr hart, the core of a handler processing unit. It knows no addresses: all it sees of the
//! world is a [`rv::Bus`].

pub mod rv;
