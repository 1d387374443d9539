//! A NIC that another process simulates, over a Unix socket.
//!
//! The client sends a request and waits for its reply; both are frames of a length (4 bytes, little-endian) and a message.
//! Host memory is shared: the client maps the
//! file that it gets for each context. One client has the NIC at a time. When it goes, by whatever way, the NIC is cleared as a driver would.

mod client;
mod message;
mod peer;
mod server;

pub use client::{Client, ConnectError};
pub use message::VERSION;
pub use peer::Served;
pub use server::Listener;
pub use server::Server;
