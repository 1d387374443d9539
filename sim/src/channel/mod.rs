//! Channels: buses with valid and ready that carry items, such as `packet_meta` of the matcher.
//!
//! ```text
//! Item --> Source<Payload> --> s [design] m --> Sink<Payload> --> Item
//!                    Monitor            Monitor
//! ```
//!
//! A [`Payload`] says which ports a beat has and how items become beats; a source, a sink and their queues are the same
//! for all. [`Fields`] is an item of one beat, a value for each named field, and what they mean is up to the
//! design; [streams](crate::stream) carry frames. The rules of valid and ready are always checked.

mod fields;
mod monitor;
mod payload;
mod sink;
mod source;

pub use crate::handshake::{Counts, Handshake};
pub use crate::pause::Pause;
pub use fields::{Fields, Item};
pub use monitor::ChannelMonitor;
pub use payload::{Incoming, Outgoing, Payload};
pub use sink::Sink;
pub use source::Source;

use crate::model::Model;
use crate::simulation::Simulation;

/// Sends items into a channel of the design, in order; clones share one queue.
pub type ChannelSource = Source<Fields>;
/// Receives items from a channel of the design; clones share one queue.
pub type ChannelSink = Sink<Fields>;

impl<M: Model> Simulation<M> {
    /// Puts a source on the channel with that prefix and these fields.
    ///
    /// # Panics
    /// If there is no such channel into the design; [`ChannelSource::attach`] returns an error instead.
    pub fn channel_source(&mut self, prefix: &str, fields: &[&str], pause: Pause) -> ChannelSource {
        ChannelSource::attach(self, prefix, fields, pause).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Puts a sink on the channel with that prefix and these fields.
    ///
    /// # Panics
    /// If there is no such channel out of the design; [`ChannelSink::attach`] returns an error instead.
    pub fn channel_sink(&mut self, prefix: &str, fields: &[&str], pause: Pause) -> ChannelSink {
        ChannelSink::attach(self, prefix, fields, pause).unwrap_or_else(|error| panic!("{error}"))
    }
}
