//! What a master was answered.

use crate::axi::answer::Response;
use crate::axi::burst::Burst;

/// A write that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteDone {
    /// The number that [`AxiMaster::write`](super::AxiMaster::write) gave it.
    pub number: u64,
    /// Its address.
    pub burst: Burst,
    /// BRESP.
    pub response: Response,
    /// The cycle of the transfer of its address.
    pub address_cycle: u64,
    /// The cycle of the transfer of its last beat.
    pub data_cycle: u64,
    /// The first cycle in which its response was valid.
    pub valid_cycle: u64,
    /// The cycle of the transfer of its response.
    pub response_cycle: u64,
}

/// A beat that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBeat {
    /// All lanes of the bus.
    pub bytes: Vec<u8>,
    /// RRESP.
    pub response: Response,
}

/// A read that was answered, or what an atomic operation loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadDone {
    /// The number that [`AxiMaster::read`](super::AxiMaster::read) or, for an atomic operation,
    /// [`AxiMaster::write`](super::AxiMaster::write) gave it.
    pub number: u64,
    /// Its address.
    pub burst: Burst,
    /// Whether an atomic operation loaded it.
    pub atomic: bool,
    /// Its beats.
    pub beats: Vec<ReadBeat>,
    /// The cycle of the transfer of its address.
    pub address_cycle: u64,
    /// The first cycle in which its first beat was valid.
    pub valid_cycle: u64,
    /// The cycle of the transfer of its first beat.
    pub first_cycle: u64,
    /// The cycle of the transfer of its last beat.
    pub last_cycle: u64,
}

impl ReadDone {
    /// The worst response of its beats.
    pub fn response(&self) -> Response {
        let worst = self.beats.iter().map(|beat| beat.response).max();
        worst.unwrap_or(Response::Okay)
    }

    /// The bytes that its beats address, beat by beat: those of the memory from its address on, if it is
    /// incrementing.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (number, beat) in (0..).zip(&self.beats) {
            let lanes = self.burst.lane_range(number, beat.bytes.len() as u64);
            bytes.extend_from_slice(&beat.bytes[lanes]);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::{Burst, ReadBeat, ReadDone, Response};
    use crate::axi::burst::BurstKind;

    fn done(address: u64, size: u64, responses: [Response; 3]) -> ReadDone {
        let beat = |response| ReadBeat {
            bytes: (0..8).collect(),
            response,
        };
        ReadDone {
            number: 0,
            burst: Burst {
                id: 0,
                address,
                beats: 3,
                size,
                kind: BurstKind::Incrementing,
            },
            atomic: false,
            beats: responses.map(beat).into(),
            address_cycle: 0,
            valid_cycle: 1,
            first_cycle: 1,
            last_cycle: 3,
        }
    }

    #[test]
    fn only_addressed_bytes_are_returned() {
        let okay = [Response::Okay; 3];
        assert_eq!(done(0x105, 2, okay).bytes(), [5, 6, 7, 0, 1]);
        assert_eq!(done(0x103, 8, okay).bytes().len(), 21);
        assert_eq!(done(0x103, 128, okay).bytes().len(), 21, "as much as the bus has");
    }

    #[test]
    fn the_worst_response_counts() {
        use Response::{DecodeError, Okay, SlaveError};
        assert_eq!(done(0, 8, [Okay; 3]).response(), Okay);
        assert_eq!(
            done(0, 8, [Okay, DecodeError, SlaveError]).response(),
            DecodeError
        );
    }
}
