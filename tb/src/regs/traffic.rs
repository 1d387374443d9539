//! Random accesses.

use super::layout::Layout;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_regmap::cl;
use spinneret_sim::axil::{LiteMaster, LiteRead, LiteWrite};

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A write of the bytes with a strobe.
    Write {
        /// Address of a byte of the word.
        address: u32,
        /// The data.
        data: u32,
        /// Bytes that are written.
        strobes: u8,
    },
    /// A read.
    Read {
        /// Address of a byte of the word.
        address: u32,
    },
}

impl Access {
    /// Queues it.
    pub fn send(self, master: &LiteMaster) {
        match self {
            Self::Write {
                address,
                data,
                strobes,
            } => master.write(LiteWrite::new(address.into(), data.into()).strobed(strobes)),
            Self::Read { address } => master.read(LiteRead::new(address.into())),
        };
    }
}

/// Makes random accesses, most of them to words that there are.
#[derive(Debug)]
pub struct Traffic {
    rng: ChaCha8Rng,
    words: Vec<u32>,
    address_width: u32,
}

impl Traffic {
    /// Accesses to a block of that layout.
    pub fn new(layout: &Layout, rng: ChaCha8Rng) -> Self {
        Self {
            rng,
            words: layout.words(),
            address_width: layout.address_width,
        }
    }

    /// The next access.
    pub fn access(&mut self) -> Access {
        let address = self.address();
        if self.rng.random() {
            return Access::Read { address };
        }
        let data = match self.rng.random_range(0..8) {
            0 => 0,
            1 => 1,
            2 => u32::MAX,
            _ => self.rng.random(),
        };
        let strobes = match self.rng.random_range(0..4) {
            0 | 1 => 0xf,
            _ => self.rng.random_range(0..16),
        };
        Access::Write {
            address,
            data,
            strobes,
        }
    }

    fn address(&mut self) -> u32 {
        let word = self.words[self.rng.random_range(0..self.words.len())];
        let any = self.rng.random::<u32>() >> (u32::BITS - self.address_width);
        match self.rng.random_range(0..20) {
            0 | 1 => any,
            // A word of another address: one bit differs.
            2 | 3 => word ^ 1 << self.rng.random_range(0..self.address_width),
            // A neighbour, which may be a hole.
            4 => (word + 4 * self.rng.random_range(1..4)) & (u32::MAX >> (u32::BITS - self.address_width)),
            5 | 6 => cl::FIFO.offset,
            7 => word + self.rng.random_range(0..4),
            _ => word,
        }
    }
}
