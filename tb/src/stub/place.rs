//! Where addresses of the cluster lie in the memory of the stand-in.

use crate::parameters::Parameters;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_regmap::pspin;
use spinneret_sim::model::Model;

/// First byte of handler and packet memory, and how many there are.
const HANDLER_AND_PACKET: (u64, u64) = (
    pspin::HANDLER_BASE as u64,
    (pspin::HANDLER_BYTES + pspin::PACKET_BYTES) as u64,
);
/// First byte of program memory, how many there are, and where they lie in 2 MiB.
const PROGRAM: (u64, u64, u64) = (pspin::PROGRAM_BASE as u64, pspin::PROGRAM_BYTES as u64, 0x18_0000);
/// Parts of the memory that users of their own write to.
const REGIONS: u64 = 4;

/// Where addresses of the cluster lie in the memory of the stand-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Bytes of the memory.
    pub memory_bytes: u64,
    /// HERs that can wait.
    pub hers: u64,
    /// Words of stdout that can wait.
    pub words: u64,
}

impl Places {
    /// Those of a model in the catalog.
    ///
    /// # Panics
    /// If there is no such model, or it is no stand-in.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let get = |name| parameters.get(name);
        Self {
            memory_bytes: get("memory_bytes"),
            hers: get("her_queue"),
            words: get("stdout_words"),
        }
    }

    /// The place of an address in the memory; `None` if there is nothing.
    pub fn of_address(&self, address: u64) -> Option<u64> {
        let place = if (HANDLER_AND_PACKET.0..HANDLER_AND_PACKET.0 + HANDLER_AND_PACKET.1).contains(&address)
        {
            address - HANDLER_AND_PACKET.0
        } else if (PROGRAM.0..PROGRAM.0 + PROGRAM.1).contains(&address) {
            address - PROGRAM.0 + PROGRAM.2
        } else {
            return None;
        };
        Some(place % self.memory_bytes)
    }

    /// Bytes of a region.
    pub fn region_bytes(&self) -> u64 {
        (self.memory_bytes / REGIONS).min(HANDLER_AND_PACKET.1 / REGIONS)
    }

    /// An address that lies at an offset of a region: one of those that repeat.
    pub fn address(&self, rng: &mut ChaCha8Rng, region: u64, offset: u64) -> u64 {
        let place = region * self.region_bytes() + offset;
        let program = PROGRAM.2 % self.memory_bytes;
        if place >= program && place - program < PROGRAM.1 && rng.random_range(0..4) == 0 {
            return PROGRAM.0 + place - program;
        }
        let repeats = (HANDLER_AND_PACKET.1 - place - 1) / self.memory_bytes;
        HANDLER_AND_PACKET.0 + place + self.memory_bytes * rng.random_range(0..=repeats)
    }
}
