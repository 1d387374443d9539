//! The typed intermediate form between the syntax tree and the text.
//!
//! Every expression knows its width, and the operands of every operation have been brought to the width
//! that the operation is done in, so that printing adds and removes no bits.

use num_bigint::BigUint;
use std::collections::BTreeSet;

/// Number of a signal in the symbol table of its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SignalId(pub(crate) usize);

/// Number of a named constant in the symbol table of its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConstantId(pub(crate) usize);

/// A value of `width` bits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) width: usize,
}

/// How a value comes about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Signal(SignalId),
    Literal(BigUint),
    Constant(ConstantId),
    /// Most significant part first.
    Concat(Vec<Expr>),
    /// One bit, repeated over the whole width.
    Repeat(Box<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Reduce(Reduction, Box<Expr>),
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    Compare(Comparison, Box<Expr>, Box<Expr>),
    Shift(Direction, Box<Expr>, Box<Expr>),
    /// Constant bits of a signal or a named constant, from the given one upwards.
    Select(Box<Expr>, usize),
    /// Bits of a signal from an offset that cannot leave the signal.
    SelectAt(SignalId, Box<Expr>),
    /// The low bits of a wider value.
    Low(Box<Expr>),
    /// The second value if the first is 1, else the third.
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// Operations that give one bit from all bits of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reduction {
    And,
    Or,
    Xor,
}

/// Operations on two values of the width of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    /// The same bits; synthesis finds the sign that both operands repeat.
    MultiplySigned,
    And,
    Or,
    Xor,
    LogicalAnd,
    LogicalOr,
}

/// A comparison of two values of equal width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) relation: Relation,
    pub(crate) signed: bool,
}

/// The relations that can be compared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Relation {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Relation {
    /// The relation that holds exactly when this one does not.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Equal => Self::Unequal,
            Self::Unequal => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }
}

/// The direction of a shift; zeros are shifted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Left,
    Right,
}

/// The target of an assignment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target {
    pub(crate) signal: SignalId,
    pub(crate) part: Part,
}

/// The written part of a signal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Whole,
    Bits { low: usize, width: usize },
    At { offset: Expr, width: usize },
}

/// A statement of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stmt {
    Assign {
        target: Target,
        value: Expr,
    },
    If {
        test: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Case {
        test: Expr,
        arms: Vec<Arm>,
        default: Option<DefaultArm>,
    },
    Comment(String),
}

/// One arm of a case statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arm {
    pub(crate) label: Expr,
    /// Further values that the arm is for.
    pub(crate) more: Vec<Expr>,
    pub(crate) body: Vec<Stmt>,
}

impl Arm {
    /// The values that the arm is for.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &Expr> {
        std::iter::once(&self.label).chain(&self.more)
    }
}

/// The arm that takes all remaining values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DefaultArm {
    /// The only value that is left for this arm, if the arms before it name all others.
    pub(crate) only: Option<Expr>,
    pub(crate) body: Vec<Stmt>,
}

impl Expr {
    pub(crate) fn signal(id: SignalId, width: usize) -> Self {
        Self {
            kind: Kind::Signal(id),
            width,
        }
    }

    pub(crate) fn literal(value: impl Into<BigUint>, width: usize) -> Self {
        Self {
            kind: Kind::Literal(value.into()),
            width,
        }
    }

    pub(crate) fn bit(value: bool) -> Self {
        Self::literal(u32::from(value), 1)
    }

    pub(crate) fn as_literal(&self) -> Option<&BigUint> {
        match &self.kind {
            Kind::Literal(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.as_literal().is_some_and(|value| *value == BigUint::ZERO)
    }

    /// The expressions that this one is made of.
    pub(crate) fn operands(&self) -> Vec<&Expr> {
        match &self.kind {
            Kind::Signal(_) | Kind::Literal(_) | Kind::Constant(_) => Vec::new(),
            Kind::Concat(parts) => parts.iter().collect(),
            Kind::Repeat(a) | Kind::Not(a) | Kind::Negate(a) | Kind::Reduce(_, a) => vec![a],
            Kind::Select(a, _) | Kind::SelectAt(_, a) | Kind::Low(a) => vec![a],
            Kind::Arithmetic(_, a, b) | Kind::Compare(_, a, b) | Kind::Shift(_, a, b) => vec![a, b],
            Kind::Choose(a, b, c) => vec![a, b, c],
        }
    }

    /// Calls `visit` with every read of a signal and the bits it reads: the lowest bit and their number.
    pub(crate) fn for_each_read(&self, visit: &mut impl FnMut(SignalId, usize, usize)) {
        match &self.kind {
            Kind::Signal(id) => visit(*id, 0, self.width),
            Kind::Select(base, low) => match base.kind {
                Kind::Signal(id) => visit(id, *low, self.width),
                _ => base.for_each_read(visit),
            },
            Kind::SelectAt(id, offset) => {
                visit(*id, 0, usize::MAX);
                offset.for_each_read(visit);
            }
            _ => self
                .operands()
                .into_iter()
                .for_each(|operand| operand.for_each_read(visit)),
        }
    }

    /// Calls `visit` with every named constant in the expression.
    pub(crate) fn for_each_constant(&self, visit: &mut impl FnMut(ConstantId)) {
        if let Kind::Constant(id) = self.kind {
            visit(id);
        }
        self.operands()
            .into_iter()
            .for_each(|operand| operand.for_each_constant(visit));
    }
}

impl Target {
    pub(crate) fn whole(signal: SignalId) -> Self {
        Self {
            signal,
            part: Part::Whole,
        }
    }
}

impl Stmt {
    /// The expressions that the statement itself evaluates, without those of nested statements.
    pub(crate) fn expressions(&self) -> Vec<&Expr> {
        match self {
            Self::Assign {
                target:
                    Target {
                        part: Part::At { offset, .. },
                        ..
                    },
                value,
            } => vec![offset, value],
            Self::Assign { value, .. } => vec![value],
            Self::If { test, .. } => vec![test],
            Self::Case { test, arms, .. } => std::iter::once(test)
                .chain(arms.iter().flat_map(Arm::labels))
                .collect(),
            Self::Comment(_) => Vec::new(),
        }
    }

    /// The blocks of statements nested in this one.
    pub(crate) fn blocks(&self) -> Vec<&[Stmt]> {
        match self {
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::Case { arms, default, .. } => {
                let arms = arms.iter().map(|arm| arm.body.as_slice());
                arms.chain(default.iter().map(|arm| arm.body.as_slice()))
                    .collect()
            }
            Self::Assign { .. } | Self::Comment(_) => Vec::new(),
        }
    }

    /// Calls `visit` with this statement and every statement nested in it.
    pub(crate) fn for_each(&self, visit: &mut impl FnMut(&Stmt)) {
        visit(self);
        for block in self.blocks() {
            block.iter().for_each(|inner| inner.for_each(visit));
        }
    }
}

/// A statement of the kernel's outermost block with the comments in front of it.
#[derive(Clone, Debug)]
pub(crate) struct TopStatement {
    pub(crate) comments: Vec<String>,
    pub(crate) stmt: Stmt,
}

/// The kind of a check. Each check runs in every clock outside of reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// The block promises it.
    Assert,
    /// The block relies on it.
    Assume,
    /// It can happen.
    Cover,
}

/// A condition that is checked in each clock outside of reset.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) kind: CheckKind,
    pub(crate) condition: Expr,
    pub(crate) message: String,
    /// The clock, and the reset, active high.
    pub(crate) clock: SignalId,
    pub(crate) reset: Option<SignalId>,
}

impl Check {
    /// Signals that it reads, its clock and its reset.
    pub(crate) fn reads(&self) -> BTreeSet<SignalId> {
        let mut reads: BTreeSet<_> = self.reset.into_iter().collect();
        self.condition.for_each_read(&mut |signal, _, _| {
            reads.insert(signal);
        });
        reads
    }
}
