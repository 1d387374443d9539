//! The ports of an AXI4-Stream.

use crate::handshake::{Handshake, Side};
use crate::model::{Direction, Instance, ModelError, PortHandle};
use crate::names::Names;

/// The ports of an AXI4-Stream with a common prefix; all but data, valid and ready are optional.
#[derive(Clone, Debug)]
pub struct StreamPorts {
    pub(super) handshake: Handshake,
    data: PortHandle,
    pub(super) keep: Option<PortHandle>,
    last: Option<PortHandle>,
    pub(super) id: Option<PortHandle>,
    pub(super) dest: Option<PortHandle>,
    pub(super) user: Option<PortHandle>,
    /// Bytes in a beat.
    pub(super) bytes: usize,
}

/// All signals of a beat but its data; 0 for those that a stream lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamBeat {
    /// `tkeep`; all ones on a stream without.
    pub keep: u128,
    /// `tlast`; true on a stream without.
    pub last: bool,
    /// `tid`.
    pub id: u64,
    /// `tdest`.
    pub dest: u64,
    /// `tuser`.
    pub user: u128,
}

impl StreamPorts {
    /// Looks up the ports of a stream of that direction, seen from the design.
    ///
    /// # Errors
    /// If the design has no such stream.
    pub fn attach(dut: &Instance, prefix: &str, direction: Direction) -> Result<Self, ModelError> {
        let side = match direction {
            Direction::Input => Side::IntoDesign,
            Direction::Output => Side::OutOfDesign,
        };
        Self::find(dut, prefix, Some(side))
    }

    /// Looks up the ports and checks that their directions and widths make a stream; without a side it is
    /// the one that the direction of `tvalid` gives.
    pub(super) fn find(dut: &Instance, prefix: &str, side: Option<Side>) -> Result<Self, ModelError> {
        let names = Names {
            dut,
            prefix,
            bus: "a stream",
        };
        let data = names.port("tdata")?;
        let [keep, last, id, dest, user] =
            ["tkeep", "tlast", "tid", "tdest", "tuser"].map(|signal| names.optional(signal));
        let payload = [Some(data), keep, last, id, dest, user]
            .into_iter()
            .flatten()
            .collect();
        let side = match side {
            Some(side) => side,
            None => Side::of(dut, names.port("tvalid")?),
        };
        let mut handshake = names.channel("t", payload, side)?;
        prefix.clone_into(&mut handshake.bus);
        let bytes = data.width() / 8;
        let mut needs = vec![(
            data,
            data.width() % 8 == 0 && bytes <= 128,
            "whole bytes, and at most 1024 bits",
        )];
        needs.extend(keep.map(|port| (port, port.width() == bytes, "one bit per byte of tdata")));
        needs.extend(last.map(|port| (port, port.width() == 1, "1 bit")));
        let narrow = [id, dest].into_iter().flatten();
        needs.extend(narrow.map(|port| (port, port.width() <= 64, "at most 64 bits")));
        needs.extend(user.map(|port| (port, port.width() <= 128, "at most 128 bits")));
        names.check_widths(&needs)?;
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

    /// Valid, ready and the name of the stream.
    pub fn bus(&self) -> &Handshake {
        &self.handshake
    }

    /// Drives a beat; as many lanes as the stream has bytes.
    pub fn drive(&self, dut: &mut Instance, lanes: &[u8], beat: &StreamBeat) {
        dut.set_bytes(self.data, lanes);
        let values = [
            (self.keep, beat.keep),
            (self.last, u128::from(beat.last)),
            (self.id, u128::from(beat.id)),
            (self.dest, u128::from(beat.dest)),
            (self.user, beat.user),
        ];
        for (port, value) in values {
            if let Some(port) = port {
                dut.set_value(port, value);
            }
        }
    }

    /// The lanes of the beat on the stream.
    pub fn lanes<'a>(&self, dut: &'a Instance) -> &'a [u8] {
        &dut.bytes(self.data)[..self.bytes]
    }

    /// All other signals of the beat on the stream.
    pub fn read(&self, dut: &Instance) -> StreamBeat {
        StreamBeat {
            keep: self.keep(dut),
            last: self.is_last(dut),
            id: value64(dut, self.id),
            dest: value64(dut, self.dest),
            user: self.user.map_or(0, |port| dut.value(port)),
        }
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
