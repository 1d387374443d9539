//! The elements of one register.

use super::WORD;
use spinneret_verilog::prelude::*;

/// Bits of a byte.
const BYTE: usize = 8;

/// One element: how many bits it has, and their value after reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Number of bits, 1 to 32.
    pub width: usize,
    /// Value after reset.
    pub reset: u64,
}

/// Holds the elements of one register, which are written byte by byte.
///
/// A value that is written is at the output one clock later.
/// # Parameters
/// There is at least one of the `elements`.
#[module(
    elements: &[Element],
    widest = elements.iter().map(|element| element.width).max().unwrap_or(1),
    total = elements.iter().map(|element| element.width).sum(),
    suffix: String = suffix(elements),
    reset: usize = elements.first().map_or(0, |element| element.reset as usize),
)]
pub struct RegisterArray {
    /// Bit n: element n is written in this cycle; one at most.
    pub select: Wire<In, { elements.len() }>,
    /// Bit n: byte n of the element is written.
    pub strobes: Wire<In, { widest.div_ceil(BYTE) }>,
    /// The data; bits that the element lacks are ignored.
    pub data: Wire<In, { widest }>,
    /// The elements side by side, the first in the lowest bits.
    pub values: Wire<Out, { total }>,
    #[new(elements.iter().map(|element| Reg::reset_to(lit(element.reset, element.width))).collect())]
    held: Vec<Reg>,
}

/// Distinguishes arrays: count and width; every element, with its value after reset, where they differ.
fn suffix(elements: &[Element]) -> String {
    let one = |element: &Element| match element.reset {
        0 => element.width.to_string(),
        reset => format!("{}_reset_{reset:x}", element.width),
    };
    match elements {
        [first, others @ ..] if others.iter().all(|other| other == first) => {
            format!("{}x{}", elements.len(), first.width)
        }
        _ => elements.iter().map(one).collect::<Vec<_>>().join("_"),
    }
}

#[kernel(
    RegisterArray {
        select, strobes, data, values, held
    },
    suffix = &self._suffix, parameters(RESET_VALUE = self._reset),
)]
fn update() {
    let mut offset = 0;
    for (number, element) in held.iter().enumerate() {
        let width = element.width();
        for low in (0..width).step_by(BYTE) {
            let bits = BYTE.min(width - low);
            if select[number] && strobes[low / BYTE] {
                element.slice(low, bits) = data.slice(low, bits);
            }
        }
        values.slice(offset, width) = *element;
        offset += width;
    }
}

/// A register is a word at most.
const _: () = assert!(WORD == 4 * BYTE);
