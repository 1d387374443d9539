//! The requests that a master takes.

use crate::axi::answer::Response;
use crate::axi::burst::{Burst, BurstKind, Request};
use crate::axi::rules::WriteBeat;

/// A burst to write.
///
/// A request that breaks a rule of the bus has to be marked with [`illegal`](Self::illegal), so that no test does so
/// by mistake. Of atomic operations only the number of beats of a compare is checked, and of exclusive accesses
/// nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteRequest {
    /// Its address; the number of beats is that of `beats`.
    pub burst: Burst,
    /// AWLOCK.
    pub exclusive: bool,
    /// AWATOP; 0 for a plain write.
    pub atop: u8,
    /// AWPROT; without, it has any value.
    pub protection: Option<u8>,
    /// AWUSER; without, it has any value.
    pub user: Option<u64>,
    /// The data, as many beats as the burst has.
    pub beats: Vec<WriteBeat>,
    /// Whether it breaks a rule on purpose.
    pub illegal: bool,
}

/// A burst to read.
///
/// A request that breaks a rule of the bus has to be marked with [`illegal`](Self::illegal).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// Its address.
    pub burst: Burst,
    /// ARLOCK.
    pub exclusive: bool,
    /// ARPROT; without, it has any value.
    pub protection: Option<u8>,
    /// ARUSER; without, it has any value.
    pub user: Option<u64>,
    /// Whether it breaks a rule on purpose.
    pub illegal: bool,
}

/// The signals of an address that writes and reads have.
macro_rules! with_signals {
    ($request:ident) => {
        impl $request {
            /// The same as an exclusive access.
            #[must_use]
            pub fn exclusive(mut self) -> Self {
                self.exclusive = true;
                self
            }

            /// The same with that AxUSER.
            #[must_use]
            pub fn with_user(mut self, user: u64) -> Self {
                self.user = Some(user);
                self
            }

            /// Marks a request that breaks a rule on purpose.
            #[must_use]
            pub fn illegal(mut self) -> Self {
                self.illegal = true;
                self
            }
        }
    };
}

with_signals!(WriteRequest);
with_signals!(ReadRequest);

impl WriteRequest {
    /// A burst of lanes and their strobes, beat by beat, with WLAST in the last.
    pub fn new(burst: Burst, beats: impl IntoIterator<Item = (Vec<u8>, u128)>) -> Self {
        let beat = |(bytes, strobes)| WriteBeat {
            bytes,
            strobes,
            last: false,
        };
        let mut beats: Vec<_> = beats.into_iter().map(beat).collect();
        if let Some(beat) = beats.last_mut() {
            beat.last = true;
        }
        Self {
            burst,
            exclusive: false,
            atop: 0,
            protection: None,
            user: None,
            beats,
            illegal: false,
        }
    }

    /// An incrementing burst of full-width beats on a bus with that many bytes, which writes exactly these bytes from
    /// any address on. Without bytes it is one beat without strobes.
    pub fn bytes(id: u64, address: u64, bytes: &[u8], bus_bytes: usize) -> Self {
        let burst = span(id, address, bytes.len(), bus_bytes);
        let mut lane = (address % bus_bytes as u64) as usize;
        let mut left = bytes;
        let beat = |_| {
            let (now, later) = left.split_at(left.len().min(bus_bytes - lane));
            let mut lanes = vec![0; bus_bytes];
            lanes[lane..lane + now.len()].copy_from_slice(now);
            let strobes = ones(now.len()) << lane;
            (left, lane) = (later, 0);
            (lanes, strobes)
        };
        Self::new(burst, (0..burst.beats).map(beat).collect::<Vec<_>>())
    }

    /// The same as an atomic operation.
    #[must_use]
    pub fn atomic(self, atop: u8) -> Self {
        Self { atop, ..self }
    }

    /// The beat of the address channel.
    pub(super) fn request(&self) -> Request {
        Request {
            burst: self.burst,
            exclusive: self.exclusive,
            atop: self.atop,
            protection: self.protection,
            user: self.user,
        }
    }

    /// Rejects what cannot be sent at all and, unless it is marked illegal, what breaks a rule of the bus.
    pub(super) fn check(&self, bus_bytes: usize) -> Result<(), String> {
        check_encoding(&self.burst)?;
        let beats = self.beats.len();
        if beats as u64 != self.burst.beats {
            return Err(format!(
                "a burst of {} beats has data for {beats}",
                self.burst.beats
            ));
        }
        let wrong = self
            .beats
            .iter()
            .find(|beat| beat.bytes.len() != bus_bytes || beat.strobes & !ones(bus_bytes) != 0);
        if let Some(beat) = wrong {
            return Err(format!(
                "a beat has {} bytes and strobes {:#x}, on a bus of {bus_bytes} bytes",
                beat.bytes.len(),
                beat.strobes
            ));
        }
        if self.illegal {
            return Ok(());
        }
        let data = || {
            let mut beats = (0..).zip(&self.beats);
            beats.try_for_each(|(number, beat)| beat.check(&self.burst, number))
        };
        self.burst
            .check(bus_bytes as u64)
            .and_then(|()| self.request().check_comparison())
            .and_then(|()| data())
            .map_err(unmarked)
    }
}

impl ReadRequest {
    /// A plain read.
    pub fn new(burst: Burst) -> Self {
        Self {
            burst,
            exclusive: false,
            protection: None,
            user: None,
            illegal: false,
        }
    }

    /// An incrementing burst of full-width beats on a bus with that many bytes, which reads `len` bytes from any
    /// address on; one beat if `len` is 0.
    pub fn bytes(id: u64, address: u64, count: usize, bus_bytes: usize) -> Self {
        Self::new(span(id, address, count, bus_bytes))
    }

    /// The beat of the address channel.
    pub(super) fn request(&self) -> Request {
        Request {
            burst: self.burst,
            exclusive: self.exclusive,
            atop: 0,
            protection: self.protection,
            user: self.user,
        }
    }

    /// Rejects what cannot be sent at all and, unless it is marked illegal, what breaks a rule of the bus.
    pub(super) fn check(&self, bus_bytes: usize) -> Result<(), String> {
        check_encoding(&self.burst)?;
        if self.illegal {
            return Ok(());
        }
        self.burst.check(bus_bytes as u64).map_err(unmarked)
    }
}

/// That many ones.
fn ones(count: usize) -> u128 {
    match count {
        0 => 0,
        _ => u128::MAX >> (128 - count.min(128)),
    }
}

/// The burst of whole beats around some bytes.
fn span(id: u64, address: u64, count: usize, bus_bytes: usize) -> Burst {
    let bus = bus_bytes as u64;
    let beats = (address % bus + count as u64).div_ceil(bus).max(1);
    Burst {
        id,
        address,
        beats,
        size: bus,
        kind: BurstKind::Incrementing,
    }
}

/// Whether AxLEN and AxSIZE can encode the burst.
fn check_encoding(burst: &Burst) -> Result<(), String> {
    if !(1..=256).contains(&burst.beats) {
        return Err(format!("a burst has {} beats, not 1 to 256", burst.beats));
    }
    if !burst.size.is_power_of_two() || burst.size > 128 {
        return Err(format!("a beat of {} bytes is not 1, 2, 4 to 128", burst.size));
    }
    Ok(())
}

fn unmarked(rule: String) -> String {
    format!("{rule}; mark it as illegal if that is intended")
}

/// A completed write.
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

/// One beat of read data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBeat {
    /// All lanes of the bus.
    pub bytes: Vec<u8>,
    /// RRESP.
    pub response: Response,
}

/// A completed read, or the data that an atomic operation returned.
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
    use super::{Burst, BurstKind, ReadBeat, ReadDone, ReadRequest, Response, WriteRequest};

    #[test]
    fn bytes_get_their_lanes() {
        let write = WriteRequest::bytes(3, 0x106, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 8);
        assert_eq!(
            (write.burst.id, write.burst.address, write.burst.beats),
            (3, 0x106, 3)
        );
        let strobes: Vec<_> = write.beats.iter().map(|beat| beat.strobes).collect();
        assert_eq!(strobes, [0xc0, 0xff, 0x01]);
        assert_eq!(write.beats[0].bytes, [0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(write.beats[2].bytes, [11, 0, 0, 0, 0, 0, 0, 0]);
        let last: Vec<_> = write.beats.iter().map(|beat| beat.last).collect();
        assert_eq!(last, [false, false, true]);
        write.check(8).unwrap();
        let nothing = WriteRequest::bytes(3, 7, &[], 8);
        assert_eq!((nothing.beats.len(), nothing.beats[0].strobes), (1, 0));
        let whole = WriteRequest::bytes(0, 0, &[1; 128], 128);
        assert_eq!((whole.beats.len(), whole.beats[0].strobes), (1, u128::MAX));
        let read = ReadRequest::bytes(3, 0x106, 11, 8);
        assert_eq!(read.burst, write.burst);
        read.check(8).unwrap();
    }

    #[test]
    fn rules_are_broken_only_on_purpose() {
        let mut write = WriteRequest::bytes(0, 0xff8, &[0; 16], 8);
        let expected = "a burst of 2 beats of 8 bytes at 0xff8 crosses a 4 KiB boundary; mark it as illegal \
                        if that is intended";
        assert_eq!(write.check(8).unwrap_err(), expected);
        write.clone().illegal().check(8).unwrap();
        let read = ReadRequest::bytes(0, 0xff8, 16, 8);
        assert_eq!(read.check(8).unwrap_err(), expected);
        read.illegal().check(8).unwrap();
        write.burst.address = 0;
        write.beats[0].last = true;
        assert!(write.check(8).unwrap_err().contains("comes with WLAST"));
        write.beats[0].last = false;
        write.clone().atomic(0x31).check(8).unwrap();
        let odd = WriteRequest::bytes(0, 0, &[0; 24], 8);
        odd.clone().atomic(0x30).check(8).unwrap();
        let message = odd.atomic(0x31).check(8).unwrap_err();
        assert!(message.starts_with("an atomic comparison has 3 beats, not 1 or an even number"));
        write.burst.address = 1;
        assert!(write.check(8).unwrap_err().contains("outside of the bytes"));
    }

    #[test]
    fn bursts_without_encoding_are_rejected() {
        let text = |beats, size| {
            let burst = Burst {
                id: 0,
                address: 0,
                beats,
                size,
                kind: BurstKind::Fixed,
            };
            ReadRequest::new(burst).illegal().check(8).unwrap_err()
        };
        assert_eq!(text(257, 8), "a burst has 257 beats, not 1 to 256");
        assert_eq!(text(0, 8), "a burst has 0 beats, not 1 to 256");
        assert_eq!(text(1, 3), "a beat of 3 bytes is not 1, 2, 4 to 128");
        assert_eq!(text(1, 256), "a beat of 256 bytes is not 1, 2, 4 to 128");
        let mut write = WriteRequest::bytes(0, 0, &[0; 16], 8).illegal();
        write.beats.pop();
        assert_eq!(write.check(8).unwrap_err(), "a burst of 2 beats has data for 1");
        let narrow = WriteRequest::bytes(0, 0, &[0; 4], 4).illegal();
        assert_eq!(
            narrow.check(8).unwrap_err(),
            "a beat has 4 bytes and strobes 0xf, on a bus of 8 bytes"
        );
    }

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
