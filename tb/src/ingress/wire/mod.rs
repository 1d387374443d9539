//! The packets' way in and, for those that do not match, out again: beat by beat, sound or not.

mod sink;
mod source;

pub use sink::BypassSink;
pub use source::PacketSource;

use spinneret_sim::model::{Direction, Instance, PortHandle};

/// A stream with all its side band.
#[derive(Debug)]
pub(super) struct Ports {
    pub(super) valid: PortHandle,
    pub(super) ready: PortHandle,
    pub(super) data: PortHandle,
    pub(super) keep: PortHandle,
    pub(super) last: PortHandle,
    pub(super) id: PortHandle,
    pub(super) dest: PortHandle,
    pub(super) user: PortHandle,
}

impl Ports {
    /// Looks them up.
    ///
    /// # Panics
    /// If one is missing.
    pub(super) fn find(dut: &Instance, prefix: &str, forward: Direction) -> Self {
        let backward = match forward {
            Direction::Input => Direction::Output,
            Direction::Output => Direction::Input,
        };
        let port = |signal: &str, direction| {
            let port = dut.port(&format!("{prefix}_{signal}"), direction);
            port.unwrap_or_else(|error| panic!("{error}"))
        };
        Self {
            valid: port("tvalid", forward),
            ready: port("tready", backward),
            data: port("tdata", forward),
            keep: port("tkeep", forward),
            last: port("tlast", forward),
            id: port("tid", forward),
            dest: port("tdest", forward),
            user: port("tuser", forward),
        }
    }
}
