//! Test vectors: inputs, and the outputs that Rust computes.

use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint, Sign};
use rust_hdl::core::atom::{Atom, AtomKind};
use rust_hdl::core::probe::Probe;
use rust_hdl::prelude::{Bits, Block, Signed};

/// All input bits together up to this many are tried exhaustively.
const EXHAUSTIVE_BITS: usize = 10;
/// Number of vectors where that is too many.
const RANDOM_VECTORS: usize = 300;

/// Inputs of a block, in the order of its ports, and its outputs by port.
pub struct Vectors {
    pub clocked: bool,
    pub inputs: Vec<Vec<BigUint>>,
    pub outputs: Vec<BTreeMap<String, BigUint>>,
}

impl Vectors {
    /// All inputs if there are few, else corner cases and random values; the seed is the name of the case.
    pub fn inputs(widths: &[usize], clocked: bool, seed: &str) -> Self {
        let bits: usize = widths.iter().sum();
        let mut random = Random::new(seed);
        let inputs = if bits <= EXHAUSTIVE_BITS && !clocked {
            (0..1_u64 << bits).map(|row| split(&BigUint::from(row), widths)).collect()
        } else {
            (0..RANDOM_VECTORS).map(|row| widths.iter().map(|width| random.value(*width, row)).collect()).collect()
        };
        Self { clocked, inputs, outputs: Vec::new() }
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
pub struct Random(u64);

impl Random {
    pub fn new(seed: &str) -> Self {
        let state = seed.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(state | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn value(&mut self, width: usize, row: usize) -> BigUint {
        let ones = (BigUint::from(1_u32) << width) - 1_u32;
        let words: Vec<u32> = (0..width.div_ceil(32)).map(|_| (self.next() >> 32) as u32).collect();
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
pub fn hex(value: &BigUint, width: usize) -> String {
    format!("{:0>digits$}", value.to_str_radix(16), digits = width.div_ceil(4).max(1))
}

/// The values of the outputs of a block by port name.
pub fn outputs<B: Block>(block: &B) -> BTreeMap<String, BigUint> {
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
        let text = format!("{:x}", atom.verilog());
        let (_, digits) = text.split_once("'h").expect("a literal");
        let value = BigUint::parse_bytes(digits.as_bytes(), 16).expect("hexadecimal digits");
        self.values.insert(path.join("_").replace('$', "_"), value);
    }
}

/// Values that a port can be set to.
pub trait FromNumber {
    fn from_number(value: &BigUint) -> Self;
}

impl<const N: usize> FromNumber for Bits<N> {
    fn from_number(value: &BigUint) -> Self {
        value.clone().into()
    }
}

impl<const N: usize> FromNumber for Signed<N> {
    fn from_number(value: &BigUint) -> Self {
        let number = BigInt::from_biguint(Sign::Plus, value.clone());
        let negative = value.bit(N as u64 - 1);
        let bits: Bits<N> = if negative { value.clone().into() } else { number.to_biguint().expect("positive").into() };
        rust_hdl::prelude::signed_cast(bits)
    }
}

impl FromNumber for bool {
    fn from_number(value: &BigUint) -> Self {
        value.bit(0)
    }
}
