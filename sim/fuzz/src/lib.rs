//! Fuzzing of everything that reads untrusted input.
//!
//! A [`Target`] generates inputs and runs them; the [`engine`] detects panics, hangs and memory growth. Each input
//! depends only on the seed, the target's name and the number of the case, so that a case can be reproduced alone.
//!
//! ```text
//! seed, name, case --generate--> bytes --run--> what was in it
//!                                  |
//!                                  +-- a panic, a hang, a promise that does not hold: the bytes go to a file
//! ```

pub mod engine;
pub mod targets;

use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;

/// Counts of an input's pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pieces that were counts: messages, packets, handlers or files.
    pub pieces: u64,
    /// Pieces that the target accepted. If it rejects almost everything at once, only the first check is tested.
    pub understood: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.pieces += other.pieces;
        self.understood += other.understood;
    }
}

/// Something that reads untrusted input.
pub trait Target {
    /// Returns the unit of its pieces, such as `files`.
    fn unit(&self) -> &'static str;

    /// An input.
    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8>;

    /// Runs an input, which may be any bytes.
    ///
    /// # Errors
    /// If the target breaks one of its promises; the text says which.
    fn run(&mut self, input: &[u8]) -> Result<Counts, String>;
}

/// Changes to one input.
const MOST_CHANGES: u32 = 8;
/// Most bytes inserted, removed or repeated at once.
const MOST_BYTES: usize = 64;
/// Longest result.
const LONGEST: usize = 4 << 20;
/// Numbers at which programs often fail.
const NUMBERS: [u64; 14] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffc,
    0xffff_ffff,
    u64::MAX,
];

/// Returns a number: 0, small, at an edge, or any.
pub fn number(rng: &mut ChaCha8Rng) -> u64 {
    match rng.random_range(0..4) {
        0 => rng.random_range(0..16),
        1 => *NUMBERS.choose(rng).unwrap_or(&0),
        2 => rng.random_range(0..=u64::from(u32::MAX)),
        _ => rng.random::<u64>() >> rng.random_range(0..64),
    }
}

/// One of some good inputs, mutate; now and then as it is, or joined with another.
pub fn mutate(seeds: &[Vec<u8>], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = seeds.choose(rng).cloned().unwrap_or_default();
    if rng.random_ratio(1, 10) {
        let other = seeds.choose(rng).cloned().unwrap_or_default();
        let (end, start) = (place(&bytes, rng), place(&other, rng));
        bytes.truncate(end);
        bytes.extend(&other[start..]);
    }
    for _ in 0..rng.random_range(0..=MOST_CHANGES) {
        change(&mut bytes, rng);
    }
    bytes.truncate(LONGEST);
    bytes
}

/// A place in bytes, often near the beginning, where headers are.
fn place(bytes: &[u8], rng: &mut ChaCha8Rng) -> usize {
    match rng.random_bool(0.5) {
        true => rng.random_range(0..=bytes.len().min(MOST_BYTES)),
        false => rng.random_range(0..=bytes.len()),
    }
}

fn change(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    let at = place(bytes, rng);
    let end = bytes.len().min(at + rng.random_range(1..=MOST_BYTES));
    match rng.random_range(0..7) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << rng.random_range(0..8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = rng.random();
            }
        }
        2 => {
            let size = 1 << rng.random_range(0..4);
            let mut number = number(rng).to_le_bytes();
            let part = &mut number[..size];
            if rng.random() {
                part.reverse();
            }
            if let Some(there) = bytes.get_mut(at..at + size) {
                there.copy_from_slice(part);
            }
        }
        3 => drop(bytes.drain(at..end)),
        4 => {
            let more: Vec<u8> = (0..rng.random_range(1..=MOST_BYTES))
                .map(|_| rng.random())
                .collect();
            bytes.splice(at..at, more);
        }
        5 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        _ => bytes.truncate(at),
    }
}
