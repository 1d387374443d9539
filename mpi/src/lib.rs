//! MPI's datatypes on the NIC.
//!
//! [`Layout`] says where the bytes of a message belong: it is made of how a type was made, and is the same for all types that
//! mean the same. From it, any part of a message is placed by its offset alone.

#![deny(unsafe_code)]

pub mod layout;
pub mod library;
pub mod nic;
pub mod rank;

pub use layout::{Layout, LayoutError, Overlap, Piece};
pub use library::Library;
pub use rank::Rank;
