//! Bursts: which bytes each beat addresses, and which bursts are legal.

use std::ops::Range;

/// No burst may touch two blocks of this size (AMBA IHI 0022, section A3.4.1).
const BOUNDARY: u64 = 4096;

/// The bit of AWATOP that marks operations which return the old value.
const LOADS: u8 = 0b10_0000;
/// AWATOP of atomic compare, the only operation that writes twice as much data as it returns.
const COMPARE: u8 = 0b11_0001;

/// How the address changes from beat to beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BurstKind {
    /// Every beat at the same address.
    Fixed,
    /// Each beat follows the one before.
    Incrementing,
    /// Like incrementing, but wraps around at the end of an aligned block.
    Wrapping,
    /// The encoding that no master may use.
    Reserved,
    /// The whole aligned word that contains the address: a beat of AXI4-Lite, which has no burst types.
    Word,
}

impl BurstKind {
    /// From AWBURST or ARBURST.
    pub fn from_code(code: u64) -> Self {
        match code {
            0 => Self::Fixed,
            1 => Self::Incrementing,
            2 => Self::Wrapping,
            _ => Self::Reserved,
        }
    }

    /// For AWBURST or ARBURST.
    pub fn code(self) -> u8 {
        match self {
            Self::Fixed => 0,
            Self::Incrementing | Self::Word => 1,
            Self::Wrapping => 2,
            Self::Reserved => 3,
        }
    }
}

/// A burst, as its address channel describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// AWID or ARID.
    pub id: u64,
    /// Address of the first byte.
    pub address: u64,
    /// Number of beats, 1 to 256 (AxLEN + 1).
    pub beats: u64,
    /// Bytes that a beat can carry (2 to the power of AxSIZE).
    pub size: u64,
    /// How the address changes.
    pub kind: BurstKind,
}

/// A beat of an address channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) burst: Burst,
    /// AxLOCK; false where the design has none.
    pub(super) exclusive: bool,
    /// AWATOP; 0 where the design has none.
    pub(super) atop: u8,
    /// AxPROT. `None`: the design has none, or the master may choose any value.
    pub(super) protection: Option<u8>,
    /// AxUSER. `None`: the master may choose any value.
    pub(super) user: Option<u64>,
}

impl Request {
    /// An incrementing burst of beats of 8 bytes, neither exclusive nor atomic.
    #[cfg(test)]
    pub(super) fn words(id: u64, address: u64, beats: u64) -> Self {
        Self {
            burst: Burst::words(id, address, beats),
            exclusive: false,
            atop: 0,
            protection: None,
            user: None,
        }
    }

    /// The number of beats that a write returns on the read channel: none, unless it is an atomic operation that
    /// returns the old value (AMBA IHI 0022, section E1.1).
    pub(super) fn loaded_beats(&self) -> Option<u64> {
        match self.atop {
            COMPARE => Some(self.burst.beats.div_ceil(2)),
            atop if atop & LOADS != 0 => Some(self.burst.beats),
            _ => None,
        }
    }

    /// Checks that the compare value and the swap value of an atomic compare have the same length.
    pub(super) fn check_comparison(&self) -> Result<(), String> {
        let beats = self.burst.beats;
        if self.atop != COMPARE || beats == 1 || beats.is_multiple_of(2) {
            return Ok(());
        }
        Err(format!(
            "an atomic comparison has {beats} beats, not 1 or an even number"
        ))
    }
}

impl Burst {
    /// An incrementing burst of beats of 8 bytes.
    #[cfg(test)]
    pub(super) fn words(id: u64, address: u64, beats: u64) -> Self {
        Self {
            id,
            address,
            beats,
            size: 8,
            kind: BurstKind::Incrementing,
        }
    }

    /// The address of the beat with that number: of its first byte.
    pub fn beat_address(&self, number: u64) -> u64 {
        let aligned = self.address - self.address % self.size;
        match self.kind {
            BurstKind::Word => aligned,
            BurstKind::Fixed | BurstKind::Reserved => self.address,
            _ if number == 0 => self.address,
            BurstKind::Incrementing => aligned.wrapping_add(number * self.size),
            BurstKind::Wrapping => {
                let block = self.size * self.beats;
                let start = self.address - self.address % block;
                start.wrapping_add((aligned - start + number * self.size) % block)
            }
        }
    }

    /// The byte lanes that a beat uses on a bus with that many bytes. Of a beat wider than the bus, the lanes that
    /// exist.
    pub fn lane_range(&self, number: u64, bus_bytes: u64) -> Range<usize> {
        let first = self.beat_address(number);
        let low = first % bus_bytes;
        let count = (self.size - first % self.size).min(bus_bytes - low);
        low as usize..(low + count) as usize
    }

    /// The same, one bit for each lane.
    pub fn lanes(&self, number: u64, bus_bytes: u64) -> u128 {
        let range = self.lane_range(number, bus_bytes);
        u128::MAX >> (128 - range.len()) << range.start
    }

    /// Checks the rules for addresses on a bus of that many bytes.
    pub(super) fn check(&self, bus_bytes: u64) -> Result<(), String> {
        if self.size > bus_bytes {
            return Err(format!(
                "beats of {} bytes do not fit a bus of {bus_bytes}",
                self.size
            ));
        }
        match self.kind {
            BurstKind::Reserved => Err("burst type 3 is reserved".to_owned()),
            BurstKind::Fixed if self.beats > 16 => {
                Err(format!("a FIXED burst has {} beats, not 1 to 16", self.beats))
            }
            BurstKind::Fixed | BurstKind::Word => Ok(()),
            BurstKind::Wrapping => self.check_wrapping(),
            BurstKind::Incrementing => self.check_boundary(),
        }
    }

    fn check_wrapping(&self) -> Result<(), String> {
        if ![2, 4, 8, 16].contains(&self.beats) {
            return Err(format!(
                "a WRAP burst has {} beats, not 2, 4, 8 or 16",
                self.beats
            ));
        }
        if !self.address.is_multiple_of(self.size) {
            return Err(format!(
                "a WRAP burst starts at {:#x}, which is not aligned to its beats of {} bytes",
                self.address, self.size
            ));
        }
        Ok(())
    }

    fn check_boundary(&self) -> Result<(), String> {
        let aligned = self.address - self.address % self.size;
        if aligned % BOUNDARY + self.beats * self.size <= BOUNDARY {
            return Ok(());
        }
        Err(format!(
            "a burst of {} beats of {} bytes at {:#x} crosses a 4 KiB boundary",
            self.beats, self.size, self.address
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{Burst, BurstKind};

    fn burst(address: u64, beats: u64, size: u64, kind: BurstKind) -> Burst {
        Burst {
            id: 0,
            address,
            beats,
            size,
            kind,
        }
    }

    fn addresses(burst: Burst) -> Vec<u64> {
        (0..burst.beats)
            .map(|number| burst.beat_address(number))
            .collect()
    }

    #[test]
    fn addresses_follow_the_burst_type() {
        assert_eq!(
            addresses(burst(0x103, 3, 8, BurstKind::Incrementing)),
            [0x103, 0x108, 0x110]
        );
        assert_eq!(addresses(burst(0x103, 2, 8, BurstKind::Fixed)), [0x103, 0x103]);
        assert_eq!(
            addresses(burst(0x110, 4, 8, BurstKind::Wrapping)),
            [0x110, 0x118, 0x100, 0x108]
        );
    }

    #[test]
    fn lanes_match_the_address_of_the_beat() {
        let wide = burst(0x103, 2, 8, BurstKind::Incrementing);
        assert_eq!((wide.lanes(0, 8), wide.lanes(1, 8)), (0xf8, 0xff));
        let narrow = burst(0x105, 3, 2, BurstKind::Incrementing);
        assert_eq!(
            [0, 1, 2].map(|number| narrow.lanes(number, 8)),
            [0x20, 0xc0, 0x03]
        );
        assert_eq!(burst(0, 1, 128, BurstKind::Incrementing).lanes(0, 128), u128::MAX);
        let too_wide = burst(0x103, 2, 128, BurstKind::Incrementing);
        assert_eq!((too_wide.lanes(0, 8), too_wide.lanes(1, 8)), (0xf8, 0xff));
    }

    #[test]
    fn bursts_do_not_cross_4_kib() {
        for (address, beats, size, good) in [
            (0xfc0, 1, 64, true),
            (0xfc1, 1, 64, true),
            (0xfc0, 2, 64, false),
            (0, 64, 64, true),
            (0, 65, 64, false),
            (1, 64, 64, true),
            (0xfff, 1, 1, true),
            (u64::MAX, 256, 128, false),
        ] {
            let burst = burst(address, beats, size, BurstKind::Incrementing);
            assert_eq!(burst.check(128).is_ok(), good, "{burst:x?}");
        }
    }

    #[test]
    fn illegal_bursts_are_rejected() {
        let text = |address, beats, size, kind| burst(address, beats, size, kind).check(8).unwrap_err();
        assert_eq!(
            text(0, 1, 16, BurstKind::Incrementing),
            "beats of 16 bytes do not fit a bus of 8"
        );
        assert_eq!(text(0, 1, 8, BurstKind::Reserved), "burst type 3 is reserved");
        assert_eq!(
            text(0, 17, 8, BurstKind::Fixed),
            "a FIXED burst has 17 beats, not 1 to 16"
        );
        assert_eq!(
            text(0, 3, 8, BurstKind::Wrapping),
            "a WRAP burst has 3 beats, not 2, 4, 8 or 16"
        );
        assert!(text(4, 4, 8, BurstKind::Wrapping).contains("not aligned to its beats of 8 bytes"));
    }
}
