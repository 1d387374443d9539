//! Runs the tree that a kernel has built, cycle by cycle.

use crate::emit::ir::{Arithmetic, Direction, Reduction, Relation};
use crate::rtl::tree::{self, NodeId, Op, Place, Statement, Tree};
use num_bigint::BigUint;
use rust_hdl::prelude::{Atom, AtomKind, Block, Probe};
use std::collections::HashMap;

/// Something that holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Cell {
    /// A port of the block, or input or output of one of its registers.
    Atom(usize),
    /// A signal that the kernel declares.
    Local(usize),
    /// The next value of a register that the kernel declares.
    Next(usize),
}

type Values = HashMap<Cell, BigUint>;

struct Register {
    output: Cell,
    input: Cell,
    reset: BigUint,
}

/// A block with registers that all have a reset, and without other parts.
pub(super) struct Evaluator {
    tree: Tree,
    inputs: Vec<Cell>,
    outputs: Vec<Cell>,
    registers: Vec<Register>,
    /// The values of registers.
    held: Values,
}

impl Evaluator {
    pub(super) fn new(block: &dyn Block) -> Self {
        let mut ports = Ports::default();
        block.accept("top", &mut ports);
        let _ = block.hdl();
        let tree = tree::take().expect("a kernel of this crate's language");
        let locals = tree.locals.iter().enumerate().filter_map(|(number, local)| {
            Some(Register {
                output: Cell::Local(number),
                input: Cell::Next(number),
                reset: local.register.clone()?.expect("a reset"),
            })
        });
        let registers: Vec<_> = locals.chain(ports.registers).collect();
        let start = |register: &Register| (register.output, register.reset.clone());
        Self {
            inputs: ports.inputs,
            outputs: ports.outputs,
            held: registers.iter().map(start).collect(),
            registers,
            tree,
        }
    }

    /// The outputs for inputs; then the clock rises.
    pub(super) fn cycle(&mut self, inputs: &[BigUint]) -> Vec<BigUint> {
        let mut base = self.held.clone();
        for register in &self.registers {
            base.insert(register.input, self.held[&register.output].clone());
        }
        base.extend(self.inputs.iter().copied().zip(inputs.iter().cloned()));
        // All is a function of the inputs and the registers, in any order, so that it settles.
        let mut values = base.clone();
        loop {
            let mut pass = Pass {
                tree: &self.tree,
                before: &values,
                after: base.clone(),
                known: HashMap::new(),
            };
            pass.run(self.tree.statements());
            if pass.after == values {
                break;
            }
            values = pass.after;
        }
        let is_reset = self
            .tree
            .reset
            .is_some_and(|reset| values[&Cell::Atom(reset)] != BigUint::ZERO);
        for register in &self.registers {
            let next = match is_reset {
                true => register.reset.clone(),
                false => values[&register.input].clone(),
            };
            self.held.insert(register.output, next);
        }
        self.outputs.iter().map(|port| values[port].clone()).collect()
    }
}

/// All statements once, with the values of the pass before.
struct Pass<'a> {
    tree: &'a Tree,
    before: &'a Values,
    after: Values,
    known: HashMap<NodeId, BigUint>,
}

fn ones(width: usize) -> BigUint {
    (BigUint::from(1_u32) << width) - 1_u32
}

fn bit(value: bool) -> BigUint {
    u32::from(value).into()
}

impl Pass<'_> {
    fn run(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Assign { target, value, .. } => {
                    let value = self.value(*value);
                    self.write(*target, 0, &value, self.tree.width(*target));
                }
                Statement::If {
                    test,
                    then,
                    otherwise,
                    ..
                } => match self.value(*test) == BigUint::ZERO {
                    true => self.run(otherwise),
                    false => self.run(then),
                },
                Statement::Join { .. } => panic!("bundles are not among what is random"),
                _ => {}
            }
        }
    }

    /// Writes `width` bits from bit `low` of a target on; what lies beyond its end is not written.
    fn write(&mut self, target: NodeId, low: usize, value: &BigUint, width: usize) {
        let node = self.tree.node(target);
        match node.op {
            Op::Select(offset) => self.write(node.operands[0], low + offset, value, width),
            Op::SelectAt => {
                let base = node.operands[0];
                let offset = self.value(node.operands[1]);
                if offset <= BigUint::from(self.tree.width(base) - width) {
                    let offset = usize::try_from(&offset).expect("a small number");
                    self.write(base, low + offset, value, width);
                }
            }
            Op::Signal(place) => {
                let cell = match place {
                    Place::Atom { write, .. } => Cell::Atom(write),
                    Place::Local(number) if self.tree.locals[number].register.is_some() => Cell::Next(number),
                    Place::Local(number) => Cell::Local(number),
                };
                let old = self.after.entry(cell).or_default();
                let mask = ones(width) << low;
                *old = (&*old - (&*old & mask)) | (value << low);
            }
            _ => panic!("this is no target"),
        }
    }

    fn value(&mut self, id: NodeId) -> BigUint {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let value = self.computed(id) & ones(self.tree.width(id));
        self.known.insert(id, value.clone());
        value
    }

    /// The value of a node, whose highest bits may be too many.
    fn computed(&mut self, id: NodeId) -> BigUint {
        let node = self.tree.node(id).clone();
        let width = node.width;
        let widths: Vec<_> = node
            .operands
            .iter()
            .map(|operand| self.tree.width(*operand))
            .collect();
        let values: Vec<_> = node.operands.iter().map(|operand| self.value(*operand)).collect();
        let places = |value: &BigUint| usize::try_from(value).unwrap_or(usize::MAX).min(1 << 12);
        let modulus = BigUint::from(1_u32) << width;
        match node.op {
            Op::Signal(place) => {
                let cell = match place {
                    Place::Atom { read, .. } => Cell::Atom(read),
                    Place::Local(number) => Cell::Local(number),
                };
                self.before.get(&cell).cloned().unwrap_or_default()
            }
            Op::Literal(value) | Op::Variant(_, value, _) => value,
            Op::Concat => values
                .iter()
                .zip(widths)
                .fold(BigUint::ZERO, |all, (part, width)| (all << width) | part),
            Op::Repeat if values[0] == BigUint::ZERO => BigUint::ZERO,
            Op::Repeat => ones(width),
            Op::Not => ones(width) - &values[0],
            Op::Negate => modulus - &values[0],
            Op::Reduce(Reduction::And) => bit(values[0] == ones(widths[0])),
            Op::Reduce(Reduction::Or) => bit(values[0] != BigUint::ZERO),
            Op::Reduce(Reduction::Xor) => bit(values[0].count_ones() % 2 == 1),
            Op::Arithmetic(op) => {
                let (a, b) = (&values[0], &values[1]);
                match op {
                    Arithmetic::Add => a + b,
                    Arithmetic::Subtract => a + modulus - b,
                    Arithmetic::Multiply | Arithmetic::MultiplySigned => a * b,
                    Arithmetic::And | Arithmetic::LogicalAnd => a & b,
                    Arithmetic::Or | Arithmetic::LogicalOr => a | b,
                    Arithmetic::Xor => a ^ b,
                }
            }
            Op::Compare { relation, signed } => {
                // As signed numbers the upper half lies below the lower half.
                let sign = BigUint::from(u32::from(signed)) << (widths[0] - 1);
                let (a, b) = (&values[0] ^ &sign, &values[1] ^ &sign);
                bit(match relation {
                    Relation::Equal => a == b,
                    Relation::Unequal => a != b,
                    Relation::Less => a < b,
                    Relation::LessOrEqual => a <= b,
                    Relation::Greater => a > b,
                    Relation::GreaterOrEqual => a >= b,
                })
            }
            Op::Shift(Direction::Left) => &values[0] << places(&values[1]),
            Op::Shift(Direction::Right) => &values[0] >> places(&values[1]),
            Op::Select(low) => &values[0] >> low,
            Op::SelectAt => &values[0] >> places(&values[1]),
            Op::Resize => values[0].clone(),
            Op::ResizeSigned => match values[0].bit(widths[0] as u64 - 1) && width > widths[0] {
                true => &values[0] | (ones(width) - ones(widths[0])),
                false => values[0].clone(),
            },
            Op::Choose => match values[0] == BigUint::ZERO {
                true => values[2].clone(),
                false => values[1].clone(),
            },
        }
    }
}

/// The ports of a block but its clock, and its registers.
#[derive(Default)]
struct Ports {
    depth: usize,
    inputs: Vec<Cell>,
    outputs: Vec<Cell>,
    registers: Vec<Register>,
    reset_value: BigUint,
    data: usize,
}

impl Probe for Ports {
    fn visit_start_scope(&mut self, _: &str, _: &dyn Block) {
        self.depth += 1;
    }
    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        self.depth -= 1;
    }
    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let cell = Cell::Atom(atom.id());
        match (self.depth, atom.kind(), name) {
            (1, AtomKind::InputParameter, "clk") => {}
            (1, AtomKind::InputParameter, _) => self.inputs.push(cell),
            (1, ..) => self.outputs.push(cell),
            (_, AtomKind::Constant, _) => {
                let literal = crate::emit::read_literal(&atom.verilog()).expect("a number").0;
                self.reset_value = literal.to_biguint().unwrap_or_default();
            }
            (_, _, "d") => self.data = atom.id(),
            (_, _, "q") => self.registers.push(Register {
                output: cell,
                input: Cell::Atom(self.data),
                reset: std::mem::take(&mut self.reset_value),
            }),
            _ => {}
        }
    }
}
