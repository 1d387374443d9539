//! The ports of an AXI4-Stream.

use crate::handshake::{Handshake, Side};
use crate::model::{Instance, ModelError, PortHandle};

/// The ports of an AXI4-Stream with a common prefix; all but data, valid and ready are optional.
#[derive(Clone, Debug)]
pub(super) struct StreamPorts {
    pub(super) handshake: Handshake,
    pub(super) data: PortHandle,
    pub(super) keep: Option<PortHandle>,
    pub(super) last: Option<PortHandle>,
    pub(super) id: Option<PortHandle>,
    pub(super) dest: Option<PortHandle>,
    pub(super) user: Option<PortHandle>,
    /// Bytes in a beat.
    pub(super) bytes: usize,
}

impl StreamPorts {
    /// Looks up the ports and checks that their directions and widths make a stream; without a side it is
    /// the one that the direction of `tvalid` gives.
    pub(super) fn find(dut: &Instance, prefix: &str, side: Option<Side>) -> Result<Self, ModelError> {
        let name = |signal: &str| format!("{prefix}_{signal}");
        let optional = |signal: &str| dut.find(&name(signal));
        let data = optional("tdata").ok_or_else(|| dut.unknown(&name("tdata")))?;
        let [keep, last, id, dest, user] = ["tkeep", "tlast", "tid", "tdest", "tuser"].map(optional);
        let payload = [Some(data), keep, last, id, dest, user]
            .into_iter()
            .flatten()
            .collect();
        let handshake = Handshake::find(dut, prefix, [&name("tvalid"), &name("tready")], payload, side)?;
        let bytes = data.width() / 8;
        let widths = [
            (
                Some(data),
                data.width() % 8 == 0 && bytes <= 128,
                "needs whole bytes, and at most 1024 bits",
            ),
            (
                keep,
                keep.is_none_or(|port| port.width() == bytes),
                "needs one bit per byte of tdata",
            ),
            (last, last.is_none_or(|port| port.width() == 1), "needs 1 bit"),
            (
                id,
                id.is_none_or(|port| port.width() <= 64),
                "needs at most 64 bits",
            ),
            (
                dest,
                dest.is_none_or(|port| port.width() <= 64),
                "needs at most 64 bits",
            ),
            (
                user,
                user.is_none_or(|port| port.width() <= 128),
                "needs at most 128 bits",
            ),
        ];
        for (port, fits, need) in widths {
            if let Some(port) = port.filter(|_| !fits) {
                let reason = format!("is {} bits wide; a stream {need}", port.width());
                let port = dut.info(port).name.to_owned();
                return Err(ModelError::UnfitPort {
                    model: dut.name(),
                    port,
                    reason,
                });
            }
        }
        Ok(Self {
            handshake,
            data,
            keep,
            last,
            id,
            dest,
            user,
            bytes,
        })
    }

    /// `tkeep`; all ones on a stream without.
    pub(super) fn keep(&self, dut: &Instance) -> u128 {
        self.keep
            .map_or_else(|| super::frame::low_bits(self.bytes), |port| dut.value(port))
    }

    /// `tlast`; on a stream without, every beat is a frame.
    pub(super) fn is_last(&self, dut: &Instance) -> bool {
        self.last.is_none_or(|port| dut.is_high(port))
    }
}

/// The value of an optional port of at most 64 bits.
pub(super) fn value64(dut: &Instance, port: Option<PortHandle>) -> u64 {
    // The width was checked when the ports were looked up.
    port.map_or(0, |port| dut.value(port) as u64)
}
