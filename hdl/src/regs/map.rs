//! The register table as the hardware decodes it.

use super::array::Element;
use super::{RegsShape, WORD};
use spinneret_regmap::{Access, Register, Word, caps, cl, events, her_meta, registers};
use spinneret_verilog::prelude::lit;
use std::fmt;

/// Bytes of a word.
pub(super) const WORD_BYTES: usize = spinneret_regmap::REGISTER_BYTES as usize;
/// Words of a block.
pub(super) const BLOCK_WORDS: usize = 16;
/// Bytes of a block.
const BLOCK_BYTES: u32 = (WORD_BYTES * BLOCK_WORDS) as u32;

/// Where the hardware finds what a word reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A register that software writes: its element has this number of bits, the lowest of them at this bit of all elements.
    Held {
        /// Lowest bit among those of all elements.
        offset: usize,
        /// Number of bits.
        width: usize,
    },
    /// Nothing: writing it gives a pulse.
    Pulse,
    /// The oldest word of standard output.
    Stdout,
    /// Lines of events that are pending.
    Pending,
    /// A signal of the block.
    Live,
    /// A constant.
    Constant(u64),
}

/// A word, and where it lies.
#[derive(Clone, Copy, Debug)]
pub struct MapWord {
    /// The word.
    pub word: Word,
    /// Its place in its block.
    pub place: usize,
    /// The value of a read.
    pub source: Source,
}

/// 16 words of the window, at least one of which exists.
#[derive(Clone, Debug)]
pub struct MapBlock {
    /// Its address without the bits that tell its bytes apart.
    pub number: u64,
    /// The words that exist.
    pub words: Vec<MapWord>,
}

impl MapBlock {
    /// The value of all its words while they are constants only.
    pub fn constants(&self) -> spinneret_verilog::prelude::Word {
        let constant = |place: usize| {
            let word = self.words.iter().find(|word| word.place == place);
            match word.map(|word| word.source) {
                Some(Source::Constant(value)) => lit(value, WORD),
                _ => lit(0, WORD),
            }
        };
        let words: Vec<_> = (0..BLOCK_WORDS).rev().map(constant).collect();
        spinneret_verilog::prelude::Word::cat(&words)
    }
}

/// Shows the address of the block's first byte.
impl fmt::Display for MapBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}", self.number * u64::from(BLOCK_BYTES))
    }
}

/// The registers of one variant of the block.
#[derive(Clone, Debug)]
pub struct Map {
    /// The blocks in the order of their addresses.
    pub blocks: Vec<MapBlock>,
    /// The registers that software writes and reads.
    pub held: Vec<Held>,
}

/// A register that software writes and reads; shows its name as an identifier.
#[derive(Clone, Copy, Debug)]
pub struct Held(pub &'static Register);

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.0.group, self.0.name)
    }
}

/// A field of the execution contexts.
///
/// # Panics
/// If there is no field of that name: a mistake in the kernel.
pub(super) fn meta(name: &str) -> Held {
    let field = her_meta::ALL.iter().find(|register| register.name == name);
    Held(field.unwrap_or_else(|| panic!("no execution context has the field {name}")))
}

impl MapWord {
    /// The register that it belongs to.
    pub fn held(&self) -> Held {
        Held(self.word.register)
    }
}

impl Map {
    /// The registers of a block of that shape.
    pub fn new(shape: &RegsShape) -> Self {
        let there = |register: &&'static Register| shape.extended || !register.extension;
        let mut blocks: Vec<MapBlock> = Vec::new();
        for word in registers().filter(there).flat_map(Register::words) {
            let number = u64::from(word.offset() / BLOCK_BYTES);
            if blocks.last().is_none_or(|block| block.number != number) {
                let words = Vec::new();
                blocks.push(MapBlock { number, words });
            }
            let placed = MapWord {
                word,
                place: (word.offset() % BLOCK_BYTES) as usize / WORD_BYTES,
                source: source(word, shape),
            };
            blocks.last_mut().expect("there is one by now").words.push(placed);
        }
        let held = registers().filter(there).filter(|register| is_held(register));
        Self {
            blocks,
            held: held.map(Held).collect(),
        }
    }

    /// For each block, a bit for each word that can be read.
    pub fn readable(&self) -> Vec<u64> {
        self.words_of_blocks(|_| true)
    }

    /// For each block, a bit for each word that can be written.
    pub fn writable(&self) -> Vec<u64> {
        self.words_of_blocks(|word| word.word.register.access.takes_writes())
    }

    /// Block and place of the word of standard output.
    pub fn stdout(&self) -> (usize, usize) {
        let places = |(block, of): (usize, &MapBlock)| {
            let word = of.words.iter().find(|word| word.source == Source::Stdout);
            word.map(|word| (block, word.place))
        };
        self.blocks
            .iter()
            .enumerate()
            .find_map(places)
            .expect("every variant has cl.fifo")
    }

    fn words_of_blocks(&self, belongs: impl Fn(&MapWord) -> bool) -> Vec<u64> {
        let bits = |block: &MapBlock| {
            let words = block.words.iter().filter(|word| belongs(word));
            words.fold(0, |bits, word| bits | 1 << word.place)
        };
        self.blocks.iter().map(bits).collect()
    }
}

/// The elements of a register as the hardware holds them.
pub(super) fn elements(register: &'static Register, shape: &RegsShape) -> Vec<Element> {
    let element = |word: Word| Element {
        width: width(word, shape),
        reset: word.reset().unwrap_or(0).into(),
    };
    register.words().map(element).collect()
}

fn is_held(register: &Register) -> bool {
    register.access == Access::ReadWrite
}

/// Bits of a word: the table speaks of two clusters, the block may have another number of them.
fn width(word: Word, shape: &RegsShape) -> usize {
    if word.offset() == cl::FETCH_ENABLE {
        return shape.clusters;
    }
    u32::BITS as usize - word.mask().leading_zeros() as usize
}

fn source(word: Word, shape: &RegsShape) -> Source {
    let register = word.register;
    if is_held(register) {
        let before = register.words().take(word.index as usize);
        let offset = before.map(|earlier| width(earlier, shape)).sum();
        let width = width(word, shape);
        return Source::Held { offset, width };
    }
    if register.access == Access::WritePulse {
        return Source::Pulse;
    }
    if register.group == caps::MAGIC.group {
        return Source::Constant(shape.constant(word));
    }
    match word.offset() {
        offset if offset == cl::FIFO.offset => Source::Stdout,
        offset if offset == events::PENDING.offset => Source::Pending,
        _ => Source::Live,
    }
}
