//! Runs syntax trees directly, as rust-hdl would run the kernel they come from.
//!
//! It covers unsigned values; what Rust leaves undefined is as the back-end documents it: reads beyond the
//! end of a value give zeros, writes beyond it are ignored.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use rust_hdl::core::ast::{
    VerilogBlockOrConditional, VerilogExpression, VerilogLiteral, VerilogOp, VerilogOpUnary, VerilogStatement,
};

/// A number with its width; literals have none.
#[derive(Clone)]
struct Number {
    value: BigUint,
    width: Option<usize>,
}

/// The signals of one run.
pub(crate) struct Interpreter {
    pub(crate) signals: BTreeMap<String, (BigUint, usize)>,
}

fn ones(width: usize) -> BigUint {
    (BigUint::from(1_u32) << width) - 1_u32
}

fn read(literal: &VerilogLiteral) -> Number {
    let text = format!("{literal:x}");
    let (bits, digits) = text.split_once("'h").expect("a literal");
    let value = BigUint::parse_bytes(digits.as_bytes(), 16).expect("digits");
    Number {
        value,
        width: (bits == "1").then_some(1),
    }
}

impl Interpreter {
    pub(crate) fn run(&mut self, block: &[VerilogStatement]) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &VerilogStatement) {
        match statement {
            VerilogStatement::Assignment(VerilogExpression::Signal(name), value) => {
                let name = name.trim_end_matches("$next").to_owned();
                let width = self.signals[&name].1;
                let value = self.sized(value, width);
                self.signals.insert(name, (value, width));
            }
            VerilogStatement::SliceAssignment {
                base: VerilogExpression::Signal(name),
                width,
                offset,
                replacement,
            } => {
                let (old, available) = self.signals[name].clone();
                let value = self.sized(replacement, *width);
                let offset = self.evaluate(offset).value;
                if offset <= BigUint::from(available - width) {
                    let low = u32::try_from(&offset).expect("an offset") as usize;
                    let mask = ones(*width) << low;
                    self.signals.insert(
                        name.clone(),
                        ((&old - (&old & &mask)) | (value << low), available),
                    );
                }
            }
            VerilogStatement::If(conditional) => {
                if self.sized(&conditional.test, 1) == BigUint::from(1_u32) {
                    return self.run(&conditional.then);
                }
                match &conditional.otherwise {
                    VerilogBlockOrConditional::Block(block) => self.run(block),
                    VerilogBlockOrConditional::Conditional(statement) => self.statement(statement),
                    VerilogBlockOrConditional::None => {}
                }
            }
            VerilogStatement::Match(cases) => {
                let test = self.evaluate(&cases.test).value;
                let taken = cases.cases.iter().find(|case| match case.condition.as_str() {
                    "default" => true,
                    "3_u8" => test == BigUint::from(3_u32),
                    "0b1" => test == BigUint::from(1_u32),
                    label => label.parse::<BigUint>().is_ok_and(|label| label == test),
                });
                if let Some(case) = taken {
                    self.run(&case.block);
                }
            }
            VerilogStatement::Loop(repeated) => {
                let number = |literal| u32::try_from(&read(literal).value).expect("a bound");
                for _ in number(&repeated.from)..number(&repeated.to) {
                    self.run(&repeated.block);
                }
            }
            VerilogStatement::Comment(_) => {}
            other => panic!("the interpreter does not know {other:?}"),
        }
    }

    fn sized(&self, expression: &VerilogExpression, width: usize) -> BigUint {
        let number = self.evaluate(expression);
        assert!(
            number.width.is_none_or(|own| own == width),
            "{expression:?} has no {width} bits"
        );
        number.value
    }

    fn evaluate(&self, expression: &VerilogExpression) -> Number {
        use VerilogExpression as E;
        let of_width = |value: BigUint, width: usize| Number {
            value: value & ones(width),
            width: Some(width),
        };
        match expression {
            E::Signal(name) => {
                let (value, width) = self.signals[name].clone();
                of_width(value, width)
            }
            E::Literal(literal) => read(literal),
            E::Paren(inner) | E::Unsigned(inner) => self.evaluate(inner),
            E::Cast(inner, width) => of_width(self.evaluate(inner).value, *width),
            E::Binary(left, op, right) => binary(self.evaluate(left), op, self.evaluate(right)),
            E::Unary(op, inner) => {
                let inner = self.evaluate(inner);
                let width = inner.width.expect("a width");
                let bit = |bit: bool| of_width(u32::from(bit).into(), 1);
                match op {
                    VerilogOpUnary::Not => of_width(ones(width) - inner.value, width),
                    VerilogOpUnary::Neg => of_width((BigUint::from(1_u32) << width) - inner.value, width),
                    VerilogOpUnary::All => bit(inner.value == ones(width)),
                    VerilogOpUnary::Any => bit(inner.value != BigUint::ZERO),
                    VerilogOpUnary::Xor => bit(inner.value.count_ones() % 2 == 1),
                }
            }
            E::Index(base, index) => of_width(self.shifted(base, index), 1),
            E::Slice(base, width, offset) => of_width(self.shifted(base, offset), *width),
            E::IndexReplace(base, index, bit) => {
                let base = self.evaluate(base);
                let width = base.width.expect("a width");
                let (index, bit) = (self.evaluate(index).value, self.sized(bit, 1));
                let mut value = base.value;
                if index < BigUint::from(width) {
                    value.set_bit(
                        u64::try_from(&index).expect("an index"),
                        bit == BigUint::from(1_u32),
                    );
                }
                of_width(value, width)
            }
            other => panic!("the interpreter does not know {other:?}"),
        }
    }

    fn shifted(&self, base: &VerilogExpression, offset: &VerilogExpression) -> BigUint {
        let offset = self.evaluate(offset).value;
        let base = self.evaluate(base).value;
        u32::try_from(&offset).map_or(BigUint::ZERO, |offset| base >> offset)
    }
}

fn binary(left: Number, op: &VerilogOp, right: Number) -> Number {
    let bit = |bit: bool| Number {
        value: u32::from(bit).into(),
        width: Some(1),
    };
    if let VerilogOp::Shl | VerilogOp::Shr = op {
        let width = left.width.expect("a width");
        let amount = u32::try_from(&right.value).unwrap_or(u32::MAX).min(1000);
        let value = if matches!(op, VerilogOp::Shl) {
            left.value << amount
        } else {
            left.value >> amount
        };
        return Number {
            value: value & ones(width),
            width: Some(width),
        };
    }
    let (x, y) = (left.value, right.value);
    // rust-hdl adds a bool to bits of any width, so the left width counts.
    let width = left.width.or(right.width);
    let modulus = width.map(|width| BigUint::from(1_u32) << width);
    let wrapped = |value: BigUint| match &modulus {
        Some(modulus) => Number {
            value: value % modulus,
            width,
        },
        None => Number { value, width },
    };
    match op {
        VerilogOp::Add => wrapped(x + y),
        VerilogOp::Sub => wrapped(x + modulus.clone().unwrap_or_default() - y),
        VerilogOp::BitAnd | VerilogOp::LogicalAnd => wrapped(x & y),
        VerilogOp::BitOr | VerilogOp::LogicalOr => wrapped(x | y),
        VerilogOp::BitXor => wrapped(x ^ y),
        VerilogOp::Eq => bit(x == y),
        VerilogOp::Ne => bit(x != y),
        VerilogOp::Lt => bit(x < y),
        VerilogOp::Le => bit(x <= y),
        VerilogOp::Gt => bit(x > y),
        VerilogOp::Ge => bit(x >= y),
        other => panic!("the interpreter does not know {other:?}"),
    }
}
