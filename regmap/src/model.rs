//! Reference model of the control registers.
//!
//! [`Registers`] responds to each access as the hardware does, without timing. Tests of the hardware compare with it, and tests
//! of software run on it. [`Registers::show`] and [`Registers::offer_stdout`] set what the hardware sets: counters, states,
//! and the constants of a generated design.
//!
//! ```
//! use spinneret_regmap::model::{Registers, Response, Variant};
//! use spinneret_regmap::{cl, me};
//!
//! let mut registers = Registers::new(Variant::Extended);
//! assert_eq!(registers.read(cl::AUX_RESET), (1, Response::Okay));
//! assert_eq!(registers.write(me::IDX.offset, 0x1122_3344, 0b0011), Response::Okay);
//! assert_eq!(registers.read(me::IDX.offset), (0x3344, Response::Okay));
//! assert_eq!(registers.write(cl::FIFO.offset, 0, 0b1111), Response::SlaveError);
//! ```

use crate::register::{Access, Register, Word};
use crate::{CLUSTERS, MPQS, REGISTER_BYTES, cl, find, groups, stats, words};

/// The set of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Those of the public design only.
    DropIn,
    /// All of them.
    Extended,
}

/// Response of an access, as encoded in AXI4-Lite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// The access was done.
    Okay = 0,
    /// There is no such register, or it cannot be written; nothing has changed.
    SlaveError = 2,
}

/// The control registers.
#[derive(Clone, Debug)]
pub struct Registers {
    variant: Variant,
    clusters: u32,
    queues: u32,
    /// One value for each word of the table, in its order; of a pulse, how often it was given.
    values: [u32; WORDS],
    stdout: Option<u32>,
}

impl Registers {
    /// Returns the registers after a reset. Registers that the hardware sets are 0, and standard output is empty.
    pub fn new(variant: Variant) -> Self {
        let mut registers = Self {
            variant,
            clusters: CLUSTERS,
            queues: MPQS,
            values: [0; WORDS],
            stdout: None,
        };
        for (value, word) in registers.values.iter_mut().zip(words()) {
            *value = word.reset().unwrap_or(0);
        }
        registers.reset();
        registers
    }

    /// Sets the numbers of clusters and message processing queues, 1 to 32 each.
    #[must_use]
    pub const fn with_counts(self, clusters: u32, queues: u32) -> Self {
        Self {
            clusters,
            queues,
            ..self
        }
    }

    /// Resets the registers: those that hold a value return to their initial one.
    pub fn reset(&mut self) {
        for (value, word) in self.values.iter_mut().zip(words()) {
            if word.register.access.takes_writes() {
                *value = word.reset().unwrap_or(0);
            }
        }
    }

    /// Writes the bytes of a word whose strobes are 1; bit 0 is that of the lowest byte.
    ///
    /// The lowest two bits of the offset are ignored, as AXI4-Lite transfers whole words.
    pub fn write(&mut self, offset: u32, data: u32, strobes: u8) -> Response {
        let Some((position, word)) = self.word(offset) else {
            return Response::SlaveError;
        };
        let written = bytes(strobes) & self.mask(word);
        let value = &mut self.values[position];
        match word.register.access {
            Access::ReadWrite => *value = (*value & !written) | (data & written),
            Access::WritePulse => *value = value.wrapping_add(u32::from(data & written != 0)),
            Access::WriteClears => *value &= !(data & written),
            Access::ReadOnly | Access::ReadPops => return Response::SlaveError,
        }
        Response::Okay
    }

    /// Reads a word, and takes one out of standard output if it is that register.
    ///
    /// The lowest two bits of the offset are ignored.
    pub fn read(&mut self, offset: u32) -> (u32, Response) {
        let Some((position, word)) = self.word(offset) else {
            return (0, Response::SlaveError);
        };
        let data = match word.register.access {
            Access::ReadPops => self.stdout.take().unwrap_or(u32::MAX),
            Access::WritePulse => 0,
            Access::ReadWrite | Access::ReadOnly | Access::WriteClears => self.values[position],
        };
        (data, Response::Okay)
    }

    /// Sets a register that the hardware sets; bits that do not exist stay 0.
    ///
    /// Returns whether there is such a register.
    pub fn show(&mut self, offset: u32, value: u32) -> bool {
        match self.word(offset) {
            Some((position, word)) if word.register.access.shows_hardware() => {
                self.values[position] = value & self.mask(word);
                true
            }
            _ => false,
        }
    }

    /// The value of a held register, as the hardware puts it out; `None` if there is no such register.
    pub fn value(&self, offset: u32) -> Option<u32> {
        self.word(offset).map(|(position, _)| self.values[position])
    }

    /// How often a pulse has been given since the last reset; `None` if the register gives none.
    pub fn pulses(&self, offset: u32) -> Option<u32> {
        let (position, word) = self.word(offset)?;
        (word.register.access == Access::WritePulse).then(|| self.values[position])
    }

    /// Sets the oldest word of standard output; `None` if it is empty.
    pub fn offer_stdout(&mut self, word: Option<u32>) {
        self.stdout = word;
    }

    /// The oldest word of standard output, unless a read has taken it.
    pub fn stdout(&self) -> Option<u32> {
        self.stdout
    }

    /// The bits of a word that exist; the table speaks of the usual numbers of clusters and queues.
    fn mask(&self, word: Word) -> u32 {
        let ones = |bits: u32| u32::MAX >> (u32::BITS - bits);
        match word.offset() {
            cl::FETCH_ENABLE => ones(self.clusters),
            _ if *word.register == stats::CLUSTER => ones(self.clusters),
            _ if *word.register == stats::MPQ => ones(self.queues),
            _ => word.mask(),
        }
    }

    /// The word that holds a byte, and its place among all words.
    fn word(&self, offset: u32) -> Option<(usize, Word)> {
        let offset = offset - offset % REGISTER_BYTES;
        let (register, _) = find(offset)?;
        if register.extension && self.variant == Variant::DropIn {
            return None;
        }
        words().enumerate().find(|(_, word)| word.offset() == offset)
    }
}

/// The bits of a word whose bytes have a strobe.
fn bytes(strobes: u8) -> u32 {
    (0..REGISTER_BYTES)
        .filter(|byte| strobes >> byte & 1 == 1)
        .fold(0, |mask, byte| mask | 0xff << (8 * byte))
}

/// How many words the table has.
const WORDS: usize = count(groups::ALL);

const fn count(groups: &[&[Register]]) -> usize {
    let (mut words, mut group) = (0, 0);
    while group < groups.len() {
        let mut register = 0;
        while register < groups[group].len() {
            words += groups[group][register].count as usize;
            register += 1;
        }
        group += 1;
    }
    words
}
