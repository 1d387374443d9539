//! Random syntax trees: each gives text that does what the tree says, or an error; never a panic.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use rust_hdl::core::ast::{
    Verilog, VerilogBlockOrConditional, VerilogCase, VerilogConditional, VerilogExpression, VerilogLoop,
    VerilogMatch, VerilogOp, VerilogOpUnary, VerilogStatement,
};
use rust_hdl::prelude::AtomKind;
use spinneret_verilog::{Library, TopOptions};

use crate::support::interpreter::Interpreter;
use crate::support::raw::*;
use crate::support::vectors::{Random, Vectors};
use crate::support::{Case, Suite};

/// The value of the constant in every kernel.
const LIMIT: u32 = 11;

/// Random trees; half of the time the widths are right.
struct Generator {
    random: Random,
    wild: bool,
}

const NAMES: [(&str, usize); 8] = [
    ("a", 4),
    ("b", 4),
    ("c", 1),
    ("wide", 70),
    ("s", 4),
    ("t", 4),
    ("y", 4),
    ("limit", 4),
];

impl Generator {
    fn below(&mut self, limit: u64) -> u64 {
        self.random.next() % limit
    }

    fn literal(&mut self, width: usize) -> VerilogExpression {
        match self.below(if self.wild { 6 } else { 3 }) {
            0 => num(self.random.next() % (1 << width.min(4))),
            1 => num(1),
            2 if width == 1 => num(true),
            2 => num(0_u64),
            3 => num(self.random.next()),
            4 => num(-3),
            _ => num(u128::MAX),
        }
    }

    fn leaf(&mut self, width: usize) -> VerilogExpression {
        if self.wild && self.below(10) == 0 {
            return sig(["nowhere", "a[i]", "a$", "", "State::Idle", "a[0", "i"][self.below(7) as usize]);
        }
        let fitting: Vec<&str> = NAMES
            .iter()
            .filter(|(name, bits)| (self.wild || *bits == width) && *name != "y")
            .map(|(name, _)| *name)
            .collect();
        match fitting.len() as u64 {
            0 => cast(sig("a"), width),
            count => sig(fitting[self.below(count) as usize]),
        }
    }

    fn expression(&mut self, width: usize, depth: usize) -> VerilogExpression {
        use VerilogExpression as E;
        let other = if self.wild {
            1 + self.below(9) as usize
        } else {
            width
        };
        if depth == 0 {
            return self.leaf(width);
        }
        let deeper = depth - 1;
        match self.below(if width == 1 { 12 } else { 10 }) {
            0 => self.leaf(width),
            1 | 2 => {
                let op = [
                    VerilogOp::Add,
                    VerilogOp::Sub,
                    VerilogOp::BitAnd,
                    VerilogOp::BitOr,
                    VerilogOp::BitXor,
                    VerilogOp::Mul,
                ][self.below(if self.wild { 6 } else { 5 }) as usize]
                    .clone();
                let right = if self.below(3) == 0 {
                    self.literal(width)
                } else {
                    self.expression(other, deeper)
                };
                bin(self.expression(width, deeper), op, right)
            }
            3 => {
                let op = if self.below(2) == 0 {
                    VerilogOp::Shl
                } else {
                    VerilogOp::Shr
                };
                let amount = if self.below(2) == 0 {
                    num(self.below(9))
                } else {
                    self.expression(4, deeper)
                };
                bin(self.expression(width, deeper), op, amount)
            }
            4 => {
                let op = if self.below(2) == 0 {
                    VerilogOpUnary::Not
                } else {
                    VerilogOpUnary::Neg
                };
                un(op, self.expression(width, deeper))
            }
            5 => cast(self.expression(other, deeper), width),
            6 => {
                let offset = if self.below(2) == 0 {
                    num(self.below(60))
                } else {
                    self.expression(4, deeper)
                };
                slice(sig("wide"), width, offset)
            }
            7 => slice(self.expression(width + 3, deeper), width, num(self.below(4))),
            8 => E::IndexReplace(
                Box::new(self.expression(width, deeper)),
                Box::new(if self.below(2) == 0 {
                    num(self.below(width as u64))
                } else {
                    self.expression(2, deeper)
                }),
                Box::new(self.expression(1, deeper)),
            ),
            9 if self.wild => match self.below(3) {
                0 => E::Signed(Box::new(self.expression(width, deeper))),
                1 => E::Unsigned(Box::new(self.expression(width, deeper))),
                _ => E::Paren(Box::new(self.expression(width, deeper))),
            },
            9 => E::Paren(Box::new(self.expression(width, deeper))),
            10 => {
                let op = [
                    VerilogOp::Eq,
                    VerilogOp::Ne,
                    VerilogOp::Lt,
                    VerilogOp::Le,
                    VerilogOp::Gt,
                    VerilogOp::Ge,
                    VerilogOp::LogicalAnd,
                ][self.below(if self.wild { 7 } else { 6 }) as usize]
                    .clone();
                bin(self.expression(4, deeper), op, self.expression(4, deeper))
            }
            _ => {
                let op = [VerilogOpUnary::All, VerilogOpUnary::Any, VerilogOpUnary::Xor]
                    [self.below(3) as usize]
                    .clone();
                un(op, self.expression(4, deeper))
            }
        }
    }

    fn statement(&mut self, depth: usize) -> VerilogStatement {
        let deeper = depth.saturating_sub(1);
        match self.below(if depth == 0 { 4 } else { 7 }) {
            0 | 1 => {
                let target = if self.wild && self.below(8) == 0 {
                    "a"
                } else {
                    ["y", "y$next"][self.below(2) as usize]
                };
                set(target, self.expression(4, 3))
            }
            2 => VerilogStatement::SliceAssignment {
                base: sig("y"),
                width: 2,
                offset: if self.below(2) == 0 {
                    num(self.below(3))
                } else {
                    self.expression(4, 1)
                },
                replacement: self.expression(2, 2),
            },
            3 => VerilogStatement::Comment("module: part \" ; port x: y".into()),
            4 => VerilogStatement::If(VerilogConditional {
                test: self.expression(1, 2),
                then: self.block(deeper),
                otherwise: match self.below(3) {
                    0 => VerilogBlockOrConditional::None,
                    1 => VerilogBlockOrConditional::Block(self.block(deeper)),
                    _ => VerilogBlockOrConditional::Conditional(Box::new(self.statement(deeper))),
                },
            }),
            5 => {
                let label = |random: u64| {
                    ["0", "7", "3_u8", "default", "0b1", "true", "x"][random as usize].to_owned()
                };
                let cases = (0..self.below(4) + 1)
                    .map(|_| {
                        let label = label(self.below(if self.wild { 7 } else { 5 }));
                        VerilogCase {
                            condition: label,
                            block: self.block(deeper),
                        }
                    })
                    .collect();
                VerilogStatement::Match(VerilogMatch {
                    test: self.expression(4, 2),
                    cases,
                })
            }
            _ => VerilogStatement::Loop(VerilogLoop {
                index: "i".into(),
                from: 0_u32.into(),
                to: (self.below(4) as u32).into(),
                block: self.block(deeper),
            }),
        }
    }

    fn block(&mut self, depth: usize) -> Vec<VerilogStatement> {
        (0..self.below(3) + 1).map(|_| self.statement(depth)).collect()
    }

    fn kernel(&mut self) -> Raw {
        let mut limit = atom("limit", AtomKind::Constant, 4);
        limit.literal = LIMIT.into();
        let atoms = vec![
            input("a", 4),
            input("b", 4),
            input("c", 1),
            input("wide", 70),
            if self.wild {
                signed(input("s", 4))
            } else {
                input("s", 4)
            },
            local("t", 4),
            output("y", 4),
            limit,
        ];
        let mut statements = vec![set("t", sig("a")), set("y", sig("b"))];
        for _ in 0..self.below(5) + 1 {
            statements.push(self.statement(3));
        }
        Raw::new(atoms, statements)
    }
}

/// Kernels that are translated; those that have a translation and no signed values are run.
const KERNELS: usize = 700;

/// Runs a kernel on random inputs.
fn vectors(block: &Raw, random: &mut Random) -> Vectors {
    let mut vectors = Vectors {
        clocked: false,
        inputs: Vec::new(),
        outputs: Vec::new(),
    };
    let Verilog::Combinatorial(statements) = &block.code else {
        panic!("a kernel")
    };
    for row in 0..40 {
        let mut interpreter = Interpreter {
            signals: BTreeMap::new(),
        };
        let mut inputs = Vec::new();
        for atom in &block.atoms {
            let value = match atom.kind {
                AtomKind::InputParameter => random.value(atom.width, row),
                AtomKind::Constant => BigUint::from(LIMIT),
                _ => BigUint::ZERO,
            };
            if atom.kind == AtomKind::InputParameter {
                inputs.push(value.clone());
            }
            interpreter.signals.insert(atom.name.clone(), (value, atom.width));
        }
        interpreter.run(statements);
        vectors.inputs.push(inputs);
        vectors.outputs.push(BTreeMap::from([(
            "y".to_owned(),
            interpreter.signals["y"].0.clone(),
        )]));
    }
    vectors
}

#[test]
fn random_trees_give_the_right_text_or_an_error() {
    let seed = std::env::var("SPINNERET_SEED").unwrap_or_else(|_| "fuzz".to_owned());
    println!("seed: {seed} (SPINNERET_SEED changes it, SPINNERET_KERNELS the number of kernels)");
    let count = std::env::var("SPINNERET_KERNELS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(KERNELS);
    let mut generator = Generator {
        random: Random::new(&seed),
        wild: false,
    };
    let mut random = Random::new(&seed);
    let mut suite = Suite::default();
    let mut accepted = [0_usize; 2];
    for number in 0..count {
        generator.wild = number % 2 == 1;
        let block = generator.kernel();
        let name = format!("kernel_{number}");
        if let Ok(design) = Library::new().add(&block, &name, &TopOptions::default()) {
            accepted[number % 2] += 1;
            if !generator.wild {
                let vectors = vectors(&block, &mut random);
                suite.cases.push(Case {
                    name,
                    design,
                    vectors,
                });
            }
        }
    }
    println!("accepted: {accepted:?} of {count}");
    assert!(
        accepted[0] > count / 8,
        "too few of the well-formed trees are accepted: {accepted:?}"
    );
    // Some random offsets can be seen to lie outside, where the write is guarded, and some random
    // comparisons to have one result only.
    suite.check_in_icarus(&["-Wno-SELRANGE", "-Wno-UNSIGNED", "-Wno-CMPCONST"]);
}
