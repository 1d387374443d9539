//! Channels: buses with valid, ready and a few named fields, such as `packet_meta` of the matcher.
//!
//! A channel carries items, one value for each field, and has no frames. What its fields mean is up to
//! the design; the rules of valid and ready are those of a stream and are always checked.

mod ports;
mod sink;
mod source;

pub use crate::handshake::Counts;
pub use crate::pause::Pause;
pub use sink::{ChannelSink, Item};
pub use source::ChannelSource;

use crate::model::Model;
use crate::simulation::Simulation;

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
