//! Commands, and random ones.

use super::config::{PIECE, Setup};
use spinneret_sim::prelude::*;

/// A command to send a range of memory as a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its id, which the answer repeats.
    pub id: u64,
    /// Address of the first byte.
    pub source: u64,
    /// Number of bytes.
    pub length: u64,
}

/// Why a command comes to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A line was answered with SLVERR, before any with DECERR.
    SlaveError,
    /// A line was answered with DECERR, before any with SLVERR.
    DecodeError,
    /// Nothing, or more than the longest frame.
    Length,
    /// The memory is not all within the address space.
    Address,
}

impl Fault {
    /// What `egress_dma_last_error` says.
    pub fn code(self) -> u64 {
        match self {
            Self::SlaveError => 4,
            Self::DecodeError => 5,
            Self::Length => 12,
            Self::Address => 13,
        }
    }

    /// Whether nothing is read.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Length | Self::Address)
    }

    /// What a bad response makes of a command.
    pub fn of_response(response: Response) -> Option<Self> {
        match response {
            Response::Okay => None,
            Response::DecodeError => Some(Self::DecodeError),
            Response::ExclusiveOkay | Response::SlaveError => Some(Self::SlaveError),
        }
    }
}

impl Command {
    /// Why the command is refused, if it is.
    pub fn refusal(&self, setup: &Setup) -> Option<Fault> {
        if self.length == 0 || self.length > setup.max_frame {
            return Some(Fault::Length);
        }
        let end = u128::from(self.source) + u128::from(self.length);
        (end > u128::from(setup.address_end())).then_some(Fault::Address)
    }
}

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

#[cfg(test)]
mod tests {
    use super::{Command, Fault};
    use crate::egress::Setup;
    use spinneret_models::PspinEgressDatapath;

    #[test]
    fn commands_at_the_border_of_what_is_possible() {
        let setup = Setup::of::<PspinEgressDatapath>();
        let refusal = |source, length| {
            Command {
                id: 0,
                source,
                length,
            }
            .refusal(&setup)
        };
        assert_eq!(refusal(0, 9600), None);
        assert_eq!(refusal(0, 9601), Some(Fault::Length));
        assert_eq!(refusal(u64::MAX, 0), Some(Fault::Length));
        assert_eq!(refusal(0xffff_ffff, 1), None);
        assert_eq!(refusal(0xffff_ffff, 2), Some(Fault::Address));
        assert_eq!(refusal(1 << 32, 1), Some(Fault::Address));
    }
}
