//! The tree that a kernel builds while it runs: values, statements, and their names.
//!
//! Signals are handles ([`super::Sig`]): the number of a value in this tree. Equal values are one value, so that two branches
//! that do the same can be compared by their numbers.

use crate::emit::Metadata;
use crate::emit::ir::{Arithmetic, CheckKind, Direction, Reduction, Relation};
use crate::lang::Layout;
use num_bigint::BigUint;
use rust_hdl::prelude::Atom;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::panic::Location;

/// Number of a value.
pub(crate) type NodeId = u32;

/// A source line, for messages.
pub(crate) type At = &'static Location<'static>;

/// A signal that exists outside of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    /// A signal of the block or a port of one of its parts, by the identity of rust-hdl's atoms: the one that is read and the
    /// one that is assigned. A register is read at its output and assigned at its input.
    Atom { read: usize, write: usize },
    /// A signal or register that the kernel declares, by number.
    Local(usize),
}

/// How a value comes about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Signal(Place),
    Literal(BigUint),
    /// A variant of an enum: `State::Idle`, its number, and the number of variants.
    Variant(String, BigUint, usize),
    /// Most significant part first.
    Concat,
    /// One bit, as often as the value is wide.
    Repeat,
    Not,
    Negate,
    Reduce(Reduction),
    Arithmetic(Arithmetic),
    Compare {
        relation: Relation,
        signed: bool,
    },
    Shift(Direction),
    /// Bits from a constant offset.
    Select(usize),
    /// Bits from an offset that is a signal.
    SelectAt,
    /// Zero-extension or the low bits.
    Resize,
    /// Extension with the sign bit.
    ResizeSigned,
    /// The second operand if the first is 1, else the third.
    Choose,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) op: Op,
    pub(crate) operands: Vec<NodeId>,
    pub(crate) width: usize,
}

/// A statement of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    Assign {
        target: NodeId,
        value: NodeId,
        at: At,
    },
    If {
        test: NodeId,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
        is_match: bool,
    },
    /// The block is the last arm of a `match`, which needs no test; the test says what is left.
    LastArm(NodeId),
    /// Two ports are one: the side that may be assigned gets the value of the other, or 0 if there is none.
    Join {
        left: NodeId,
        right: Option<NodeId>,
        at: At,
    },
    /// A value gets the name of the variable that holds it.
    Define(NodeId),
    Comment(String),
}

/// A signal that a kernel declares.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub(crate) name: Option<String>,
    pub(crate) width: usize,
    /// It is a register, with its value in reset.
    pub(crate) register: Option<Option<BigUint>>,
}

/// A condition that is checked.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) kind: CheckKind,
    pub(crate) condition: NodeId,
    pub(crate) message: String,
}

/// A fault in a kernel, and its line.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) at: At,
}

/// Clock and reset of a register or a part, by atoms, and the input that keeps the output unless it is assigned.
#[derive(Clone, Copy, Debug)]
pub struct Clocking {
    /// The clock.
    pub(crate) clock: usize,
    /// The reset, if it has one.
    pub(crate) reset: Option<usize>,
    /// Input and output of a register.
    pub(crate) hold: Option<(usize, usize)>,
    /// The clock that drives them, if it is not the block's own clock and reset.
    pub(crate) domain: Option<BlockClock>,
}

/// All that a kernel has built.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    known: HashMap<(Op, Vec<NodeId>, usize), NodeId>,
    /// Values with a name, and the documentation of it.
    pub(crate) names: HashMap<NodeId, (String, Vec<String>)>,
    pub(crate) locals: Vec<Local>,
    /// Statements of the blocks that are open, the outermost first.
    blocks: Vec<Vec<Statement>>,
    /// Signals that were read.
    read: BTreeSet<Place>,
    /// Conditions of the blocks that are open.
    conditions: Vec<NodeId>,
    pub(crate) checks: Vec<Check>,
    /// Documentation in front of the next statement.
    docs: Vec<String>,
    /// The first signal that got a name since a `let` began.
    named_first: Option<Option<NodeId>>,
    pub(crate) fault: Option<Fault>,
    /// Clocks of the parts, and those of the block itself.
    pub(crate) clocking: Vec<Clocking>,
    pub(crate) clock: Option<usize>,
    pub(crate) reset: Option<usize>,
    /// The block's own reset is active low.
    pub(crate) reset_is_low: bool,
    /// Values of which a field was selected.
    pub(crate) records: Vec<(NodeId, &'static Layout)>,
    /// Name, documentation and numbers of the block.
    pub(crate) metadata: Metadata,
}

thread_local!(static OPEN: RefCell<Vec<Tree>> = const { RefCell::new(Vec::new()) });
thread_local!(static FINISHED: RefCell<Option<Tree>> = const { RefCell::new(None) });

/// Runs a kernel and leaves its tree for [`take`].
pub(crate) fn build(kernel: impl FnOnce()) {
    OPEN.with(|open| {
        open.borrow_mut().push(Tree {
            blocks: vec![Vec::new()],
            ..Tree::default()
        });
    });
    kernel();
    let tree = OPEN.with(|open| open.borrow_mut().pop());
    FINISHED.with(|finished| *finished.borrow_mut() = tree);
}

/// The tree of the kernel that ran last, once.
pub(crate) fn take() -> Option<Tree> {
    FINISHED.with(|finished| finished.borrow_mut().take())
}

/// Works on the tree of the kernel that runs.
///
/// # Panics
/// Outside of a kernel.
pub(crate) fn with<R>(work: impl FnOnce(&mut Tree) -> R) -> R {
    OPEN.with(|open| {
        let mut open = open.borrow_mut();
        work(
            open.last_mut()
                .expect("signals exist only while a #[kernel] runs"),
        )
    })
}

impl Tree {
    pub(crate) fn width(&self, id: NodeId) -> usize {
        self.nodes[id as usize].width
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// The value with this operation, made if there is none.
    pub(crate) fn add(&mut self, op: Op, operands: Vec<NodeId>, width: usize) -> NodeId {
        // Bits of a signal may be selected to be assigned.
        let selected = usize::from(matches!(op, Op::Select(_) | Op::SelectAt));
        for operand in &operands[selected..] {
            self.note_read(*operand);
        }
        let key = (op, operands, width);
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = NodeId::try_from(self.nodes.len()).expect("fewer values than 2^32");
        self.nodes.push(Node {
            op: key.0.clone(),
            operands: key.1.clone(),
            width,
        });
        self.known.insert(key, id);
        id
    }

    fn note_read(&mut self, id: NodeId) {
        if let Some(place) = self.place(id) {
            self.read.insert(place);
        }
    }

    /// Declares a signal.
    pub(crate) fn local(&mut self, width: usize, register: Option<Option<BigUint>>) -> NodeId {
        self.locals.push(Local {
            name: None,
            width,
            register,
        });
        let place = Place::Local(self.locals.len() - 1);
        self.add(Op::Signal(place), Vec::new(), width)
    }

    /// Gives a value the name of the variable that holds it, unless it has one.
    pub(crate) fn name(&mut self, id: NodeId, name: &str) {
        match self.node(id).op.clone() {
            Op::Signal(Place::Local(number)) => {
                self.locals[number].name.get_or_insert_with(|| name.to_owned());
                self.names.entry(id).or_insert((name.to_owned(), Vec::new()));
                self.named_first.get_or_insert(Some(id));
            }
            Op::Signal(_) | Op::Literal(_) | Op::Variant(..) => {
                self.named_first.get_or_insert(None);
            }
            _ if self.names.contains_key(&id) => {
                self.named_first.get_or_insert(None);
            }
            _ => {
                self.names.insert(id, (name.to_owned(), Vec::new()));
                self.named_first.get_or_insert(Some(id));
                self.blocks[0].push(Statement::Define(id));
            }
        }
    }

    /// Nesting and number of the next statement; a `let` with documentation begins here.
    pub(crate) fn begin_let(&mut self) -> (usize, usize) {
        self.named_first = None;
        (self.blocks.len(), self.blocks.last().map_or(0, Vec::len))
    }

    /// Documents the first signal that was named since [`Tree::begin_let`], or else what was built since then.
    pub(crate) fn document(&mut self, (depth, number): (usize, usize), lines: &[&str]) {
        let lines = lines.iter().map(|line| (*line).to_owned());
        match self.named_first.take() {
            Some(Some(id)) => {
                if let Some((_, docs)) = self.names.get_mut(&id) {
                    docs.extend(lines);
                }
            }
            // Another name for something that has one.
            Some(None) => {}
            None if self.blocks.len() == depth => {
                if let Some(block) = self.blocks.last_mut() {
                    block.splice(number..number, lines.map(Statement::Comment));
                }
            }
            None => {}
        }
    }

    /// Documentation of the next statement.
    pub(crate) fn doc(&mut self, line: &str) {
        self.docs.push(line.to_owned());
    }

    pub(crate) fn push(&mut self, statement: Statement) {
        let docs = std::mem::take(&mut self.docs);
        let block = self
            .blocks
            .last_mut()
            .expect("the outermost block is always open");
        block.extend(docs.into_iter().map(Statement::Comment));
        block.push(statement);
    }

    pub(crate) fn assign(&mut self, target: NodeId, value: NodeId, at: At) {
        let Some(place) = self.place(target) else {
            return self.refuse("only a signal, a register, or bits of one can be assigned", at);
        };
        let (wide, narrow) = (self.width(target), self.width(value));
        if wide != narrow {
            return self.refuse(
                &format!("a value of {narrow} bits is assigned to {wide} bits: resize it"),
                at,
            );
        }
        let is_register = match place {
            Place::Atom { read, write } => read != write,
            Place::Local(number) => self.locals[number].register.is_some(),
        };
        if !is_register && self.read.contains(&place) {
            let advice =
                "a signal is assigned after it was read: assign it first, or give the new value another name";
            return self.refuse(advice, at);
        }
        self.note_read(value);
        self.push(Statement::Assign { target, value, at });
    }

    /// Assigns a signal whatever the conditions around it.
    pub(crate) fn assign_always(&mut self, target: NodeId, value: NodeId, at: At) {
        self.note_read(value);
        self.blocks[0].push(Statement::Assign { target, value, at });
    }

    /// The reset of a register that is a field of the block.
    pub(crate) fn reset_of(&mut self, register: NodeId) -> Option<NodeId> {
        let Some(Place::Atom { write: data, .. }) = self.place(register) else {
            return None;
        };
        let is_it = |clocking: &&Clocking| clocking.hold.is_some_and(|(input, _)| input == data);
        let reset = self.clocking.iter().find(is_it)?.reset?;
        let place = Place::Atom {
            read: reset,
            write: reset,
        };
        Some(self.add(Op::Signal(place), Vec::new(), 1))
    }

    /// Joins two ports. A port without a partner is 0 if it may be assigned.
    pub(crate) fn join(&mut self, left: NodeId, right: Option<NodeId>, at: At) {
        let (a, b) = (self.width(left), right.map(|right| self.width(right)));
        if let Some(b) = b.filter(|b| *b != a) {
            return self.refuse(&format!("ports of {a} bits and {b} bits are joined"), at);
        }
        self.push(Statement::Join { left, right, at });
    }

    /// The value and the constants, if a test is that the value is one of these.
    pub(crate) fn compared_with(&self, test: NodeId) -> Option<(NodeId, Vec<NodeId>)> {
        let node = self.node(test);
        match node.op {
            Op::Compare {
                relation: Relation::Equal,
                ..
            } => {
                let is_constant = matches!(self.node(node.operands[1]).op, Op::Literal(_) | Op::Variant(..));
                is_constant.then(|| (node.operands[0], vec![node.operands[1]]))
            }
            Op::Arithmetic(Arithmetic::LogicalOr) => {
                let (value, mut labels) = self.compared_with(node.operands[0])?;
                let (other, more) = self.compared_with(node.operands[1])?;
                labels.extend(more);
                (value == other).then_some((value, labels))
            }
            _ => None,
        }
    }

    /// The signal that a target is, or is a part of.
    pub(crate) fn place(&self, id: NodeId) -> Option<Place> {
        let node = self.node(id);
        match node.op {
            Op::Signal(place) => Some(place),
            Op::Select(_) | Op::SelectAt => self.place(node.operands[0]),
            _ => None,
        }
    }

    /// Remembers the first fault of a kernel.
    pub(crate) fn refuse(&mut self, message: &str, at: At) {
        self.fault.get_or_insert(Fault {
            message: message.to_owned(),
            at,
        });
    }

    pub(crate) fn depth(&self) -> usize {
        self.blocks.len()
    }

    pub(crate) fn open_block(&mut self) {
        self.docs.clear();
        self.blocks.push(Vec::new());
    }

    pub(crate) fn close_block(&mut self) -> Vec<Statement> {
        self.blocks.pop().unwrap_or_default()
    }

    pub(crate) fn take_docs(&mut self) -> Vec<String> {
        std::mem::take(&mut self.docs)
    }

    pub(crate) fn restore_docs(&mut self, docs: Vec<String>) {
        self.docs = docs;
    }

    /// The next block is run where a test holds.
    pub(crate) fn begin_condition(&mut self, test: NodeId) {
        self.note_read(test);
        self.conditions.push(test);
    }

    /// The next block is run where the last test does not hold.
    pub(crate) fn invert_condition(&mut self) {
        if let Some(test) = self.conditions.pop() {
            let inverse = self.add(Op::Not, vec![test], 1);
            self.conditions.push(inverse);
        }
    }

    pub(crate) fn end_condition(&mut self) {
        self.conditions.pop();
    }

    /// Checks a condition where the blocks run that are open.
    pub(crate) fn check(&mut self, kind: CheckKind, condition: NodeId, message: &str) {
        self.note_read(condition);
        let mut whole = condition;
        for test in self.conditions.clone() {
            whole = match kind {
                CheckKind::Cover => self.add(Op::Arithmetic(Arithmetic::LogicalAnd), vec![test, whole], 1),
                _ => {
                    let inverse = self.add(Op::Not, vec![test], 1);
                    self.add(Op::Arithmetic(Arithmetic::LogicalOr), vec![inverse, whole], 1)
                }
            };
        }
        self.checks.push(Check {
            kind,
            condition: whole,
            message: message.to_owned(),
        });
    }

    /// The statements of the kernel.
    pub(crate) fn statements(&self) -> &[Statement] {
        self.blocks.first().map_or(&[], Vec::as_slice)
    }
}

impl Clocking {
    /// That of a part with a clock, and perhaps a reset.
    #[must_use]
    pub fn of_block(clock: Option<BlockClock>) -> Option<Self> {
        clock.map(|clock| Self {
            clock: clock.clock,
            reset: clock.reset,
            hold: None,
            domain: None,
        })
    }
}

/// Clock and reset of a block.
#[derive(Clone, Copy, Debug)]
pub struct BlockClock {
    pub(crate) clock: usize,
    pub(crate) reset: Option<usize>,
    pub(crate) reset_is_low: bool,
}

impl BlockClock {
    /// The clock, and the reset, which may be active low.
    pub fn new(clk: &dyn Atom, rst: Option<&dyn Atom>, reset_is_low: bool) -> Self {
        Self {
            clock: clk.id(),
            reset: rst.map(Atom::id),
            reset_is_low,
        }
    }
}
