//! Random statements.

use super::expression::{Expressions, Readable};
use rand::RngExt;
use std::fmt::Write;

/// A signal that a statement may assign.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The signal, such as `self.l0` or `self.r0.d`.
    pub(crate) place: String,
    /// Width in bits; None for a bit.
    pub(crate) width: Option<usize>,
    /// Whether parts of it may be assigned, and it may be read back.
    pub(crate) local: bool,
}

impl Target {
    /// How the signal is read.
    pub(crate) fn readable(&self) -> Readable {
        Readable {
            text: format!("{}.val()", self.place),
            width: self.width,
        }
    }
}

/// An assignment of the whole signal.
pub(crate) fn assignment(target: &Target, from: &mut Expressions<'_>, depth: usize) -> String {
    let value = match target.width {
        Some(width) => from.word(width, depth),
        None => from.bit(depth),
    };
    format!("{}.next = {value};\n", target.place)
}

/// A statement that assigns some of the targets, each of which has a value already.
pub(crate) fn statement(
    targets: &[Target],
    from: &mut Expressions<'_>,
    depth: usize,
    indent: usize,
) -> String {
    let pad = "    ".repeat(indent);
    if depth == 0 {
        let target = &targets[from.rng.random_range(0..targets.len())];
        return pad + &assignment(target, from, 2);
    }
    match from.rng.random_range(0..6) {
        0 | 1 => conditional(targets, from, depth, indent),
        2 => selection(targets, from, depth, indent),
        3 => part(targets, from, indent),
        _ => {
            let target = &targets[from.rng.random_range(0..targets.len())];
            pad + &assignment(target, from, 2)
        }
    }
}

fn block(targets: &[Target], from: &mut Expressions<'_>, depth: usize, indent: usize) -> String {
    let count = from.rng.random_range(1..3);
    (0..count)
        .map(|_| statement(targets, from, depth - 1, indent + 1))
        .collect()
}

fn conditional(targets: &[Target], from: &mut Expressions<'_>, depth: usize, indent: usize) -> String {
    let pad = "    ".repeat(indent);
    let mut text = format!("{pad}if {} {{\n", from.bit(2));
    text += &block(targets, from, depth, indent);
    if from.rng.random_bool(0.3) {
        let _ = writeln!(text, "{pad}}} else if {} {{", from.bit(2));
        text += &block(targets, from, depth, indent);
    }
    if from.rng.random_bool(0.5) {
        let _ = writeln!(text, "{pad}}} else {{");
        text += &block(targets, from, depth, indent);
    }
    text + &pad + "}\n"
}

fn selection(targets: &[Target], from: &mut Expressions<'_>, depth: usize, indent: usize) -> String {
    let pad = "    ".repeat(indent);
    let width = from.rng.random_range(1..4);
    let mut text = format!("{pad}match ({}).index() {{\n", from.word(width, 1));
    let cases = from.rng.random_range(1..=1 << width);
    for case in 0..cases {
        let _ = writeln!(text, "{pad}    {case} => {{");
        text += &block(targets, from, depth, indent + 1);
        let _ = writeln!(text, "{pad}    }}");
    }
    let _ = writeln!(text, "{pad}    _ => {{");
    text += &block(targets, from, depth, indent + 1);
    let _ = writeln!(text, "{pad}    }}");
    text + &pad + "}\n"
}

/// Assigns one bit, a range of bits, or every bit in a loop.
fn part(targets: &[Target], from: &mut Expressions<'_>, indent: usize) -> String {
    let pad = "    ".repeat(indent);
    let words: Vec<(&Target, usize)> = targets
        .iter()
        .filter(|target| target.local)
        .filter_map(|t| Some((t, t.width?)))
        .collect();
    if words.is_empty() {
        return statement(targets, from, 0, indent);
    }
    let (target, width) = words[from.rng.random_range(0..words.len())];
    let place = &target.place;
    match from.rng.random_range(0..3) {
        0 => {
            let (index, bit) = (from.index(width), from.bit(2));
            format!("{pad}{place}.next.set_bit({index}, {bit});\n")
        }
        1 => {
            let size = from.rng.random_range(1..=width);
            let offset = from.rng.random_range(0..=width - size);
            format!(
                "{pad}{place}.next.set_slice({offset}, {size}, {});\n",
                from.word(size, 2)
            )
        }
        _ => {
            let value = from.word(width, 1);
            format!(
                "{pad}for i in 0..{width} {{\n{pad}    {place}.next.set_bit({width} - 1 - i, ({value}).get_bit(i));\n{pad}}}\n"
            )
        }
    }
}
