//! Random commands.

use super::bench::PIECE;
use super::command::Command;
use super::setup::Setup;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Bytes beyond the longest frame that random lengths reach.
const BEYOND: u64 = 100;

/// A random command: mostly for small frames, at any place of a line, some at the borders of 4 KiB and of the
/// address space; few that have to be refused. The pieces are where memory has contents.
pub fn random_command(rng: &mut ChaCha8Rng, setup: &Setup, pieces: &[u64]) -> Command {
    let length = random_length(rng, setup);
    let piece = pieces[rng.random_range(0..pieces.len())];
    let free = PIECE - length.min(PIECE);
    let mut offset = rng.random_range(0..=free);
    match rng.random_range(0..20) {
        // Around a border of 4 KiB.
        0..5 => {
            let border = 4096 * rng.random_range(1..PIECE / 4096);
            offset = (border - rng.random_range(0..=length.clamp(1, border))).min(free);
        }
        5..8 => offset -= offset % setup.beat,
        // Up to the end of the piece, which for one of them is that of the address space.
        8 => offset = free,
        _ => {}
    }
    let mut source = piece + offset;
    match rng.random_range(0..100) {
        // Beyond the highest address: by a part of the frame, or by a bit that the port does not have.
        0..2 => source = setup.address_end() - rng.random_range(0..length.max(1)),
        2..4 if setup.source_bits > setup.address_bits => {
            source |= 1 << rng.random_range(setup.address_bits..setup.source_bits);
        }
        _ => {}
    }
    Command {
        id: rng.random_range(0..setup.ids),
        source,
        length,
    }
}

fn random_length(rng: &mut ChaCha8Rng, setup: &Setup) -> u64 {
    let most = setup.max_frame;
    match rng.random_range(0..200) {
        0..4 => 0,
        4..7 => rng.random_range(most + 1..=most + BEYOND),
        7 => rng.random_range(most + 1..setup.address_end()),
        8..10 => most,
        10..16 => rng.random_range(1..=most),
        16..40 => rng.random_range(1400..=1536.min(most).max(1400)).min(most),
        40..80 => setup.beat * rng.random_range(1..=4),
        80..120 => rng.random_range(1..=setup.beat),
        _ => rng.random_range(1..=300),
    }
}
