//! AXI4-Stream bus models: a source, a sink and the monitor that checks the rules.
//!
//! ```text
//! Frame --> StreamSource --> s_axis [design] m_axis --> StreamSink --> Received
//!                    StreamMonitor      StreamMonitor
//! ```
//!
//! The streams carry at most 1024 bits of data, with `tvalid` and `tready`; `tkeep`, `tlast`, `tid`,
//! `tdest` and `tuser` where the design has them.

mod frame;
mod frames;
mod monitor;
mod ports;

pub use crate::handshake::Counts;
pub use crate::pause::{Pause, Pauses};
pub use frame::{Beat, Frame, Received, Span};
pub use frames::{FramesIn, FramesOut};
pub use monitor::StreamMonitor;
pub use ports::{StreamBeat, StreamPorts};

use crate::channel::{Sink, Source};
use crate::model::Model;
use crate::simulation::Simulation;

/// Sends frames into a stream of the design, in order; clones share one queue.
///
/// The bytes that `tkeep` masks are random, so that a design that uses them does not work by luck.
pub type StreamSource = Source<FramesOut>;
/// Receives frames from a stream of the design; clones share one queue.
pub type StreamSink = Sink<FramesIn>;

impl<M: Model> Simulation<M> {
    /// Puts a source and a monitor on the stream with that prefix, such as `s_axis`.
    ///
    /// # Panics
    /// If there is no such stream into the design; [`StreamSource::attach`] returns an error instead.
    pub fn source(&mut self, prefix: &str, pause: Pause) -> StreamSource {
        StreamSource::attach(self, prefix, pause).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Puts a sink and a monitor on the stream with that prefix, such as `m_axis`.
    ///
    /// # Panics
    /// If there is no such stream out of the design; [`StreamSink::attach`] returns an error instead.
    pub fn sink(&mut self, prefix: &str, pause: Pause) -> StreamSink {
        StreamSink::attach(self, prefix, pause).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Puts a monitor on the stream with that prefix, which something else drives.
    ///
    /// # Panics
    /// If there is no such stream; [`StreamMonitor::attach`] returns an error instead.
    pub fn monitor(&mut self, prefix: &str) -> StreamMonitor {
        StreamMonitor::attach(self, prefix).unwrap_or_else(|error| panic!("{error}"))
    }
}
