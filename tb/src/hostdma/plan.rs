//! Effect of a single burst: the bytes it writes or reads, and whether it is supported.

use super::config::Setup;
use spinneret_sim::prelude::*;

/// No burst may touch two blocks of this size.
const PAGE: u64 = 4096;

/// Consecutive bytes of host memory, and their position in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Address of the first byte in host memory.
    pub address: u64,
    /// Address of the first byte in the ring.
    pub ram: u64,
    /// Number of bytes.
    pub len: u64,
}

/// Expected effect of a write burst.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WritePlan {
    /// Whether the burst is refused.
    pub refused: bool,
    /// Whether its data breaks a rule. Any part of its pieces may then be written.
    pub spoiled: bool,
    /// Pieces that are written, in order.
    pub pieces: Vec<Piece>,
    /// The bytes of all pieces, one after another.
    pub bytes: Vec<u8>,
}

/// Returns whether a burst is supported: incrementing, not wider than the bus, inside one page.
pub fn is_possible(setup: &Setup, burst: &Burst) -> bool {
    let aligned = burst.address - burst.address % burst.size;
    burst.kind == BurstKind::Incrementing
        && burst.size <= setup.beat_bytes
        && aligned % PAGE + burst.beats * burst.size <= PAGE
}

/// The bytes from the first to the last that an incrementing burst addresses.
pub fn span(burst: &Burst) -> u64 {
    burst.beats * burst.size - burst.address % burst.size
}

/// The address of the first byte of a beat of an incrementing burst.
fn beat_address(burst: &Burst, number: u64) -> u64 {
    match number {
        0 => burst.address,
        _ => burst.address - burst.address % burst.size + number * burst.size,
    }
}

/// The lanes that a beat of an incrementing burst may write, one bit each.
fn lanes(setup: &Setup, burst: &Burst, number: u64) -> u128 {
    let address = beat_address(burst, number);
    let ones = u128::MAX >> (128 - (burst.size - address % burst.size));
    ones << (address % setup.beat_bytes)
}

impl WritePlan {
    /// The plan for a burst whose first beat takes the line of the ring with that number.
    pub fn new(setup: &Setup, request: &WriteRequest, first_line: u64) -> Self {
        let burst = &request.burst;
        let mut plan = Self {
            refused: !is_possible(setup, burst) || request.atop != 0,
            spoiled: false,
            pieces: Vec::new(),
            bytes: Vec::new(),
        };
        let last = burst.beats - 1;
        let mut beats = (0..).zip(&request.beats);
        plan.spoiled = beats.any(|(number, beat)| beat.last != (number == last));
        if plan.refused {
            return plan;
        }
        let mut goes_on = false;
        for (number, beat) in (0..).zip(&request.beats) {
            let lanes = lanes(setup, burst, number);
            plan.spoiled |= beat.strobes & !lanes != 0;
            let place = Place {
                address: beat_address(burst, number) / setup.beat_bytes * setup.beat_bytes,
                line: (first_line + number) % setup.lines(),
                goes_on,
            };
            goes_on = runs(beat.strobes) == 1;
            plan.add_beat(setup, place, beat.strobes & lanes, &beat.bytes);
        }
        plan
    }

    /// Adds the runs of ones in the strobes of a beat.
    fn add_beat(&mut self, setup: &Setup, place: Place, strobes: u128, bytes: &[u8]) {
        let mut left = strobes;
        while left != 0 {
            let lane = left.trailing_zeros();
            let count = (left >> lane).trailing_ones();
            left &= !(u128::MAX >> (128 - count) << lane);
            let run = Piece {
                address: place.address + u64::from(lane),
                ram: place.line * setup.beat_bytes + u64::from(lane),
                len: count.into(),
            };
            self.add_run(setup, place, run);
            self.bytes
                .extend_from_slice(&bytes[lane as usize..(lane + count) as usize]);
        }
    }

    /// Adds a run, to the piece before it if it goes on with that.
    fn add_run(&mut self, setup: &Setup, place: Place, run: Piece) {
        let is_cut = place.line.is_multiple_of(setup.lines() / 2);
        match self.pieces.last_mut() {
            Some(before)
                if place.goes_on
                    && !is_cut
                    && before.address.wrapping_add(before.len) == run.address
                    && before.ram + before.len == run.ram =>
            {
                before.len += run.len;
            }
            _ => self.pieces.push(run),
        }
    }
}

/// Destination of a beat.
#[derive(Clone, Copy)]
struct Place {
    /// Address of its first lane in host memory.
    address: u64,
    /// Its line of the ring.
    line: u64,
    /// Whether the previous beat of the burst has one run; a beat with holes ends its runs.
    goes_on: bool,
}

/// Counts the runs of ones.
fn runs(strobes: u128) -> u32 {
    (strobes & !(strobes << 1)).count_ones()
}

#[cfg(test)]
mod tests {
    use super::{Piece, Setup, WritePlan, is_possible, span};
    use spinneret_sim::axi::{Burst, BurstKind, WriteRequest};
    use spinneret_sim::dma::RamShape;
    use std::collections::BTreeMap;

    const SETUP: Setup = Setup {
        beat_bytes: 8,
        id_bits: 8,
        ram: RamShape {
            segments: 2,
            segment_bytes: 4,
            bytes: 64,
        },
        writes: 4,
        reads: 4,
        windows: None,
        user_bits: [1; 2],
        atomics: false,
        drain: false,
    };

    fn burst(address: u64, beats: u64, size: u64, kind: BurstKind) -> Burst {
        Burst {
            id: 0,
            address,
            beats,
            size,
            kind,
        }
    }

    /// A write whose bytes are their lane, and 8 times their beat.
    fn write(address: u64, size: u64, strobes: &[u128]) -> WriteRequest {
        let burst = burst(address, strobes.len() as u64, size, BurstKind::Incrementing);
        let lanes = |beat: u8| (0..8).map(|lane| 8 * beat + lane).collect();
        WriteRequest::new(
            burst,
            (0..).zip(strobes).map(|(beat, strobes)| (lanes(beat), *strobes)),
        )
    }

    fn pieces(request: &WriteRequest, line: u64) -> Vec<(u64, u64, u64)> {
        let plan = WritePlan::new(&SETUP, request, line);
        let piece = |piece: &Piece| (piece.address, piece.ram, piece.len);
        plan.pieces.iter().map(piece).collect()
    }

    #[test]
    fn runs_go_on_over_beats() {
        assert_eq!(
            pieces(&write(0x103, 8, &[0xf8, 0xff, 0x0f]), 1),
            [(0x103, 11, 17)]
        );
        assert_eq!(
            pieces(&write(0x100, 8, &[0x7f, 0xff]), 1),
            [(0x100, 8, 7), (0x108, 16, 8)]
        );
        assert_eq!(
            pieces(&write(0x100, 8, &[0xff, 0xfe]), 1),
            [(0x100, 8, 8), (0x109, 17, 7)]
        );
        assert_eq!(
            pieces(&write(0x100, 8, &[0xff, 0, 0xff]), 1),
            [(0x100, 8, 8), (0x110, 24, 8)]
        );
        assert_eq!(pieces(&write(0x100, 8, &[0, 0]), 1), []);
    }

    #[test]
    fn holes_split_a_beat() {
        assert_eq!(
            pieces(&write(0x100, 8, &[0b1100_0101]), 0),
            [(0x100, 0, 1), (0x102, 2, 1), (0x106, 6, 2)]
        );
    }

    #[test]
    fn a_beat_with_holes_ends_its_runs() {
        assert_eq!(
            pieces(&write(0x100, 8, &[0xf0, 0xfb, 0xff]), 1),
            [(0x104, 12, 6), (0x10b, 19, 5), (0x110, 24, 8)]
        );
    }

    #[test]
    fn runs_are_cut_at_both_halves_of_the_ring() {
        assert_eq!(
            pieces(&write(0x100, 8, &[0xff; 4]), 2),
            [(0x100, 16, 16), (0x110, 32, 16)]
        );
        assert_eq!(
            pieces(&write(0x100, 8, &[0xff; 4]), 6),
            [(0x100, 48, 16), (0x110, 0, 16)]
        );
        assert_eq!(pieces(&write(0x100, 8, &[0xff; 4]), 4), [(0x100, 32, 32)]);
    }

    #[test]
    fn narrow_beats_of_one_line_are_apart_in_the_ring() {
        assert_eq!(
            pieces(&write(0x104, 2, &[0x30, 0xc0, 0x03]), 1),
            [(0x104, 12, 2), (0x106, 22, 4)]
        );
    }

    #[test]
    fn the_bytes_are_those_of_the_strobes() {
        let request = write(0x101, 4, &[0x0a, 0xf0, 0x05]);
        let plan = WritePlan::new(&SETUP, &request, 0);
        assert_eq!(plan.bytes, [1, 3, 12, 13, 14, 15, 16, 18]);
        assert!(!plan.refused && !plan.spoiled);
        // Byte by byte, as AXI says it.
        let mut expected = BTreeMap::new();
        for (number, beat) in (0..).zip(&request.beats) {
            let line = request.burst.beat_address(number) / 8 * 8;
            for lane in (0..8).filter(|lane| beat.strobes >> lane & 1 == 1) {
                expected.insert(line + lane, beat.bytes[lane as usize]);
            }
        }
        let addresses = plan
            .pieces
            .iter()
            .flat_map(|piece| piece.address..piece.address + piece.len);
        assert!(addresses.zip(plan.bytes.iter().copied()).eq(expected));
    }

    #[test]
    fn data_that_breaks_a_rule_is_noticed() {
        let plan = WritePlan::new(&SETUP, &write(0x102, 2, &[0x1c]), 0);
        assert!(plan.spoiled && plan.pieces[0].len == 2);
        let mut early = write(0x100, 8, &[0xff; 2]);
        early.beats[0].last = true;
        assert!(WritePlan::new(&SETUP, &early, 0).spoiled);
        let mut missing = write(0x100, 8, &[0xff; 2]);
        missing.beats[1].last = false;
        assert!(WritePlan::new(&SETUP, &missing, 0).spoiled);
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        use BurstKind::{Fixed, Incrementing, Reserved, Wrapping};
        for (burst, possible) in [
            (burst(0xff8, 1, 8, Incrementing), true),
            (burst(0xff9, 1, 8, Incrementing), true),
            (burst(0xff8, 2, 8, Incrementing), false),
            (burst(0xff8, 8, 1, Incrementing), true),
            (burst(0xff8, 9, 1, Incrementing), false),
            (burst(0, 1, 16, Incrementing), false),
            (burst(0, 1, 8, Fixed), false),
            (burst(0, 2, 8, Wrapping), false),
            (burst(0, 1, 8, Reserved), false),
        ] {
            assert_eq!(is_possible(&SETUP, &burst), possible, "{burst:?}");
        }
        let atomic = write(0x100, 8, &[0xff]).atomic(0x20);
        let plan = WritePlan::new(&SETUP, &atomic, 0);
        assert!(plan.refused && plan.pieces.is_empty());
    }

    #[test]
    fn a_read_spans_its_bytes() {
        assert_eq!(span(&burst(0x103, 3, 8, BurstKind::Incrementing)), 21);
        assert_eq!(span(&burst(0x103, 1, 1, BurstKind::Incrementing)), 1);
    }
}
