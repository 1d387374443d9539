//! Test vectors: inputs, and the outputs that Rust computes.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use rust_hdl::core::atom::{Atom, AtomKind};
use rust_hdl::core::probe::Probe;
use rust_hdl::prelude::{Bits, Block, VCDValue};

/// All input bits together up to this many are tried exhaustively.
const EXHAUSTIVE_BITS: usize = 10;
/// Number of vectors where that is too many.
const RANDOM_VECTORS: usize = 300;

/// Inputs of a block, in the order of its ports, and its outputs by port.
pub(crate) struct Vectors {
    pub(crate) clocked: bool,
    pub(crate) inputs: Vec<Vec<BigUint>>,
    pub(crate) outputs: Vec<BTreeMap<String, BigUint>>,
}

impl Vectors {
    /// All inputs if there are few, else corner cases and random values; the seed is the name of the case.
    pub(crate) fn inputs(widths: &[usize], clocked: bool, seed: &str) -> Self {
        let bits: usize = widths.iter().sum();
        let mut random = Random::new(seed);
        let inputs = if bits <= EXHAUSTIVE_BITS && !clocked {
            (0..1_u64 << bits)
                .map(|row| split(&BigUint::from(row), widths))
                .collect()
        } else {
            (0..RANDOM_VECTORS)
                .map(|row| widths.iter().map(|width| random.value(*width, row)).collect())
                .collect()
        };
        Self {
            clocked,
            inputs,
            outputs: Vec::new(),
        }
    }
}

fn split(row: &BigUint, widths: &[usize]) -> Vec<BigUint> {
    let mut rest = row.clone();
    widths
        .iter()
        .map(|width| {
            let value = &rest & ((BigUint::from(1_u32) << *width) - 1_u32);
            rest >>= *width;
            value
        })
        .collect()
}

/// A small generator whose values are the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: &str) -> Self {
        let state = seed.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(state | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A value that is often near a corner; the first rows are all zeros and all ones.
    pub(crate) fn value(&mut self, width: usize, row: usize) -> BigUint {
        let ones = (BigUint::from(1_u32) << width) - 1_u32;
        let words: Vec<u32> = (0..width.div_ceil(32))
            .map(|_| (self.next() >> 32) as u32)
            .collect();
        let value = BigUint::new(words) & &ones;
        match (row, self.next() % 8) {
            (0, _) => BigUint::ZERO,
            (1, _) => ones,
            (_, 0) => BigUint::from(self.next() % 4) & ones,
            (_, 1) => &ones - (BigUint::from(self.next() % 4) & &ones),
            (_, 2) => BigUint::from(1_u32) << (self.next() as usize % width),
            _ => value,
        }
    }
}

/// Hexadecimal digits for `$readmemh`.
pub(crate) fn hex(value: &BigUint, width: usize) -> String {
    format!(
        "{:0>digits$}",
        value.to_str_radix(16),
        digits = width.div_ceil(4).max(1)
    )
}

/// The values of the outputs of a block by port name.
pub(crate) fn outputs<B: Block>(block: &B) -> BTreeMap<String, BigUint> {
    let mut reader = OutputReader::default();
    block.accept("top", &mut reader);
    reader.values
}

#[derive(Default)]
struct OutputReader {
    depth: usize,
    spaces: Vec<String>,
    values: BTreeMap<String, BigUint>,
}

impl Probe for OutputReader {
    fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth += 1;
    }
    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth -= 1;
    }
    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.spaces.push(name.to_owned());
    }
    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.spaces.pop();
    }
    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        if self.depth != 1 || atom.kind() != AtomKind::OutputParameter {
            return;
        }
        let path: Vec<&str> = self.spaces.iter().map(String::as_str).chain([name]).collect();
        self.values.insert(path.join("_").replace('$', "_"), value(atom));
    }
}

/// The value of a signal. That of a wide one is no literal.
fn value(atom: &dyn Atom) -> BigUint {
    if let VCDValue::Vector(bits) = atom.vcd() {
        return bits.into_iter().fold(BigUint::ZERO, |value, bit| {
            let one = VCDValue::Single(bit) == true.into();
            (value << 1) | BigUint::from(u32::from(one))
        });
    }
    let text = format!("{:x}", atom.verilog());
    let (_, digits) = text.split_once("'h").expect("a literal");
    BigUint::parse_bytes(digits.as_bytes(), 16).expect("hexadecimal digits")
}

/// Values that a port can be set to.
pub(crate) trait FromNumber {
    /// The value; `like` is the port's current value, which knows its width.
    fn from_number(value: &BigUint, like: &Self) -> Self;
}

impl<const N: usize> FromNumber for Bits<N> {
    fn from_number(value: &BigUint, _like: &Self) -> Self {
        value.clone().into()
    }
}

impl FromNumber for bool {
    fn from_number(value: &BigUint, _like: &Self) -> Self {
        value.bit(0)
    }
}
