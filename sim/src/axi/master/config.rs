//! How a master behaves.

use crate::axi::ports::Half;
use crate::pause::Pause;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// How an [`AxiMaster`](super::AxiMaster) or a [`LiteMaster`](crate::axil::LiteMaster) behaves.
#[derive(Clone, Debug, Default)]
pub struct MasterConfig {
    /// Its pauses.
    pub pauses: MasterPauses,
    /// How far addresses and data of writes are apart.
    pub skew: Skew,
}

/// When the channels of a master pause. What is offered stays: pauses only delay the next transfer.
#[derive(Clone, Debug, Default)]
pub struct MasterPauses {
    /// When no address of a write follows.
    pub write_address: Pause,
    /// When no beat to write follows.
    pub write_data: Pause,
    /// When it is not ready for a response.
    pub response: Pause,
    /// When no address of a read follows.
    pub read_address: Pause,
    /// When it is not ready for a beat that is read.
    pub read_data: Pause,
}

impl MasterPauses {
    /// The same pauses on all channels.
    pub fn all(pause: &Pause) -> Self {
        Self {
            write_address: pause.clone(),
            write_data: pause.clone(),
            response: pause.clone(),
            read_address: pause.clone(),
            read_data: pause.clone(),
        }
    }

    /// Those of addresses, of data and of answers; data of reads are their answers.
    pub(super) fn of(&self, half: Half) -> [&Pause; 3] {
        match half {
            Half::Write => [&self.write_address, &self.write_data, &self.response],
            Half::Read => [&self.read_address, &self.read_data, &self.read_data],
        }
    }
}

/// How far the address of a write and its data are apart.
///
/// Neither ever waits until the design takes the other, which AXI forbids, but only for a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skew {
    /// The first beat is offered in the same cycle as the address, or as soon as the data of all bursts
    /// before is transferred.
    #[default]
    Together,
    /// Each burst at random: the data comes first, the address comes first, or neither.
    Random {
        /// Most cycles between the offer of one and the other.
        most: u32,
    },
}

impl Skew {
    /// Cycles from the offer of the address to that of the first beat.
    pub(crate) fn draw(self, rng: &mut ChaCha8Rng) -> i64 {
        match self {
            Self::Together => 0,
            Self::Random { most } => rng.random_range(-i64::from(most)..=i64::from(most)),
        }
    }
}
