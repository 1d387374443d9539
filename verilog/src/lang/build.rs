//! Short names for making nodes of rust-hdl's syntax tree; what `#[kernel]` expands to.

use super::word::Word;
use rust_hdl::core::ast::{VerilogExpression, VerilogLiteral, VerilogOp, VerilogOpUnary, VerilogStatement};

/// A value of Rust that becomes a literal of the hardware.
pub trait ToExpression {
    /// The literal: integers take the width of their context, words and bits keep theirs.
    fn to_expression(&self) -> VerilogExpression;
}

macro_rules! integer {
    ($($type:ty)+) => {$(
        impl ToExpression for $type {
            fn to_expression(&self) -> VerilogExpression {
                VerilogExpression::Literal((*self).into())
            }
        }
    )+};
}

integer! { bool u8 u16 u32 u64 usize i32 }

impl ToExpression for Word {
    fn to_expression(&self) -> VerilogExpression {
        const CHUNK: usize = 64;
        let Some(width) = self.known_width() else {
            return VerilogExpression::Literal(self.literal());
        };
        if self.value().bits() <= 128 {
            return cast(VerilogExpression::Literal(self.literal()), width);
        }
        let chunk = |offset: usize| {
            let bits = CHUNK.min(width - offset);
            (self.slice(offset, bits).to_expression(), bits)
        };
        let mut chunks: Vec<_> = (0..width).step_by(CHUNK).map(chunk).collect();
        chunks.reverse();
        cat(chunks)
    }
}

/// Width of a value, for the parts of a concatenation.
pub fn width_of(value: impl Into<Word>) -> usize {
    value.into().width()
}

/// A signal by its path.
pub fn signal(name: impl Into<String>) -> VerilogExpression {
    VerilogExpression::Signal(name.into())
}

/// A literal.
pub fn literal(value: &impl ToExpression) -> VerilogExpression {
    value.to_expression()
}

/// Zero-extension or truncation.
pub fn cast(value: VerilogExpression, width: usize) -> VerilogExpression {
    VerilogExpression::Cast(Box::new(value), width)
}

/// An operation with two operands.
pub fn binary(left: VerilogExpression, op: VerilogOp, right: VerilogExpression) -> VerilogExpression {
    VerilogExpression::Binary(Box::new(left), op, Box::new(right))
}

/// An operation with one operand.
pub fn unary(op: VerilogOpUnary, value: VerilogExpression) -> VerilogExpression {
    VerilogExpression::Unary(op, Box::new(value))
}

/// One bit of a value.
pub fn index(value: VerilogExpression, index: VerilogExpression) -> VerilogExpression {
    VerilogExpression::Index(Box::new(value), Box::new(index))
}

/// A range of bits of a value.
pub fn slice(value: VerilogExpression, offset: VerilogExpression, width: usize) -> VerilogExpression {
    VerilogExpression::Slice(Box::new(value), width, Box::new(offset))
}

/// A value with one bit replaced.
pub fn replace(
    value: VerilogExpression,
    index: VerilogExpression,
    bit: VerilogExpression,
) -> VerilogExpression {
    VerilogExpression::IndexReplace(Box::new(value), Box::new(index), Box::new(bit))
}

/// Concatenation of parts with their widths, the first in the highest bits; a part of no width leaves no trace.
///
/// # Panics
/// If there is no part that has a width.
pub fn cat(parts: Vec<(VerilogExpression, usize)>) -> VerilogExpression {
    let total = parts.iter().map(|(_, width)| width).sum();
    let mut offset = total;
    parts
        .into_iter()
        .filter(|(_, width)| *width > 0)
        .map(|(part, width)| {
            offset -= width;
            let part = cast(part, total);
            if offset == 0 {
                part
            } else {
                binary(part, VerilogOp::Shl, literal(&offset))
            }
        })
        .reduce(|high, low| binary(high, VerilogOp::BitOr, low))
        .expect("cat! takes at least one part that has a width")
}

/// A value of `width` bits with its bytes in the other order.
///
/// # Panics
/// If the width is not a whole number of bytes.
pub fn swap_bytes(value: VerilogExpression, width: usize) -> VerilogExpression {
    assert!(
        width.is_multiple_of(8),
        "a word of {width} bits is no whole number of bytes"
    );
    let byte = |number: usize| match &value {
        // A byte of a slice is a slice of the same signal.
        VerilogExpression::Slice(inner, _, offset) if constant(offset).is_some() => {
            let offset = constant(offset).unwrap_or(0) + 8 * number;
            (slice((**inner).clone(), literal(&offset), 8), 8)
        }
        value => (slice(value.clone(), literal(&(8 * number)), 8), 8),
    };
    cat((0..width / 8).map(byte).collect())
}

fn constant(value: &VerilogExpression) -> Option<usize> {
    match value {
        VerilogExpression::Literal(literal) => label(literal.clone()).parse().ok(),
        _ => None,
    }
}

/// `width` copies of a bit.
pub fn fill(bit: VerilogExpression, width: usize) -> VerilogExpression {
    unary(VerilogOpUnary::Neg, cast(bit, width))
}

/// An assignment to a signal.
pub fn assign(target: impl Into<String>, value: VerilogExpression) -> VerilogStatement {
    VerilogStatement::Assignment(signal(target), value)
}

/// An assignment to a range of bits.
pub fn assign_slice(
    target: String,
    offset: VerilogExpression,
    width: usize,
    value: VerilogExpression,
) -> VerilogStatement {
    VerilogStatement::SliceAssignment {
        base: signal(target),
        width,
        offset,
        replacement: value,
    }
}

/// A comment.
pub fn comment(text: impl Into<String>) -> VerilogStatement {
    VerilogStatement::Comment(text.into())
}

/// The label of a literal in a `match`.
pub fn label(value: impl Into<VerilogLiteral>) -> String {
    let text = format!("{:x}", value.into());
    let digits = text.rsplit("'h").next().unwrap_or("0");
    u128::from_str_radix(digits, 16).map_or(text.clone(), |number| number.to_string())
}
