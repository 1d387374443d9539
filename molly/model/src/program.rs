//! The description of a function with loops over fields: loops, conditions, and accesses to elements.
//!
//! Sizes and parameters have names here, and numbers from [`Sizes`] when a plan is made.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::{Add, Mul, Neg, Range, Sub};

/// A place in a user's source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Site {
    /// The file, as the compiler names it.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// An integer that is affine in the variables of the loops around it, once parameters and sizes are numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A number.
    Number(i64),
    /// The variable of a loop, counted from the outermost one.
    Loop(usize),
    /// A parameter.
    Param(usize),
    /// The size of a field in a dimension.
    Len(usize, usize),
    /// An operation. A product has a factor without variables; a divisor has no variables and is positive.
    Op(Operator, Box<Expr>, Box<Expr>),
}

/// Operators of expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient of `div_euclid`.
    Div,
    /// The rest of `rem_euclid`.
    Rem,
    /// The lesser.
    Min,
    /// The greater.
    Max,
}

impl Operator {
    /// Applies it to numbers; `None` on overflow or division by zero.
    pub fn apply(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::Div => a.checked_div_euclid(b),
            Self::Rem => a.checked_rem_euclid(b),
            Self::Min => Some(a.min(b)),
            Self::Max => Some(a.max(b)),
        }
    }
}

impl Expr {
    /// The rest of a division by `divisor`.
    pub fn rem_euclid(self, divisor: impl Into<Expr>) -> Self {
        Self::Op(Operator::Rem, self.into(), Box::new(divisor.into()))
    }

    /// The quotient by `divisor`, rounded down.
    pub fn div_euclid(self, divisor: impl Into<Expr>) -> Self {
        Self::Op(Operator::Div, self.into(), Box::new(divisor.into()))
    }

    /// The value for values of the loops' variables, and numbers of parameters and sizes; `None` if it does not fit into 64
    /// bits.
    pub fn value(&self, loops: &[i64], sizes: &Sizes) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Loop(at) => loops.get(*at).copied(),
            Self::Param(at) => sizes.params.get(*at).copied(),
            Self::Len(field, dim) => sizes.shapes.get(*field)?.get(*dim).copied(),
            Self::Op(operator, a, b) => operator.apply(a.value(loops, sizes)?, b.value(loops, sizes)?),
        }
    }

    /// Whether it has the variable of a loop of such a depth.
    pub(crate) fn uses(&self, wanted: &impl Fn(usize) -> bool) -> bool {
        match self {
            Self::Loop(depth) => wanted(*depth),
            Self::Number(_) | Self::Param(_) | Self::Len(..) => false,
            Self::Op(_, a, b) => a.uses(wanted) || b.uses(wanted),
        }
    }

    /// The lesser of two.
    pub fn min(self, other: impl Into<Expr>) -> Self {
        Self::Op(Operator::Min, self.into(), Box::new(other.into()))
    }

    /// The greater of two.
    pub fn max(self, other: impl Into<Expr>) -> Self {
        Self::Op(Operator::Max, self.into(), Box::new(other.into()))
    }
}

impl From<i64> for Expr {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Expr>> Add<T> for Expr {
    type Output = Self;
    fn add(self, other: T) -> Self {
        Self::Op(Operator::Add, self.into(), Box::new(other.into()))
    }
}

impl<T: Into<Expr>> Sub<T> for Expr {
    type Output = Self;
    fn sub(self, other: T) -> Self {
        Self::Op(Operator::Sub, self.into(), Box::new(other.into()))
    }
}

impl<T: Into<Expr>> Mul<T> for Expr {
    type Output = Self;
    fn mul(self, other: T) -> Self {
        Self::Op(Operator::Mul, self.into(), Box::new(other.into()))
    }
}

impl Neg for Expr {
    type Output = Self;
    fn neg(self) -> Self {
        Self::Number(0) - self
    }
}

/// How two numbers compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

/// A condition on loop variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cond {
    /// A comparison.
    Compare(Expr, Comparison, Expr),
    /// Both hold.
    And(Box<Cond>, Box<Cond>),
    /// One holds.
    Or(Box<Cond>, Box<Cond>),
    /// It does not hold.
    Not(Box<Cond>),
}

/// The values that the variable of a loop takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// The least that is possible.
    pub from: Expr,
    /// One more than the greatest that is possible.
    pub to: Expr,
    /// Only every `step`-th value, positive,
    pub step: i64,
    /// counted from the greatest and not from the least.
    pub from_end: bool,
    /// Whether the greatest comes first.
    pub reversed: bool,
}

impl Bounds {
    /// All values from `from` to one before `to`.
    pub fn new(from: impl Into<Expr>, to: impl Into<Expr>) -> Self {
        Self {
            from: from.into(),
            to: to.into(),
            step: 1,
            from_end: false,
            reversed: false,
        }
    }
}

/// Part of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A loop. Its variable is the next one of [`Expr::Loop`].
    Loop(Bounds, Vec<Node>),
    /// Nodes for where a condition holds, and for where it does not.
    If(Cond, Vec<Node>, Vec<Node>),
    /// Statements that are executed as one.
    Body(Body),
}

/// Statements without loops that write fields, executed as one, where the element lives that they write first. If they write
/// none, and add to a sum, it is the one that they read first, of those that all instances read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// Reads and writes in the order in which they happen.
    pub accesses: Vec<Access>,
    /// Whether it does nothing but to copy an element of one field to the same indices of another one with such elements:
    /// one read, then one write.
    pub is_copy: bool,
    /// Where it begins.
    pub site: Site,
}

/// Elements that a body reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Whether they are written.
    pub is_write: bool,
    /// The field.
    pub field: usize,
    /// One index for each dimension.
    pub subscripts: Vec<Expr>,
    /// Loops inside of the body, whose variables come after those of the loops around it.
    pub inner: Vec<Bounds>,
    /// Conditions inside of the body that all hold where there is the access.
    pub when: Vec<Cond>,
    /// Where it stands.
    pub site: Site,
}

impl Access {
    /// A read.
    pub fn read(field: usize, subscripts: impl Into<Vec<Expr>>) -> Self {
        let subscripts = subscripts.into();
        Self {
            is_write: false,
            field,
            subscripts,
            inner: Vec::new(),
            when: Vec::new(),
            site: Site::default(),
        }
    }

    /// A write.
    pub fn write(field: usize, subscripts: impl Into<Vec<Expr>>) -> Self {
        Self {
            is_write: true,
            ..Self::read(field, subscripts)
        }
    }
}

/// A function with loops over fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Names of its parameters.
    pub params: Vec<String>,
    /// Names of its fields.
    pub fields: Vec<String>,
    /// Bytes of an element of each field.
    pub element_bytes: Vec<usize>,
    /// Its steps.
    pub nodes: Vec<Node>,
}

impl Program {
    /// All bodies, in their order in the text, by which [`Call::Body`](crate::Call::Body) numbers them.
    pub fn bodies(&self) -> Vec<&Body> {
        bodies(&self.nodes)
    }

    /// Where its first body begins.
    pub fn site(&self) -> Site {
        first_site(&self.nodes).cloned().unwrap_or_default()
    }
}

/// Where the first body of some parts begins.
pub(crate) fn first_site(nodes: &[Node]) -> Option<&Site> {
    nodes.iter().find_map(|node| match node {
        Node::Loop(_, inner) => first_site(inner),
        Node::If(_, then, otherwise) => first_site(then).or(first_site(otherwise)),
        Node::Body(body) => Some(&body.site),
    })
}

/// All bodies of some parts, in their order in the text.
pub(crate) fn bodies(nodes: &[Node]) -> Vec<&Body> {
    let each = nodes.iter().flat_map(|node| match node {
        Node::Loop(_, inner) => bodies(inner),
        Node::If(_, then, otherwise) => [bodies(then), bodies(otherwise)].concat(),
        Node::Body(body) => vec![body],
    });
    each.collect()
}

/// The numbers that a program is started with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// Parameters, in the order of the program's.
    pub params: Vec<i64>,
    /// The size of each field in each of its dimensions.
    pub shapes: Vec<Vec<i64>>,
}

// Tiles: one more loop around the rows of a sweep.

/// A loop to cut.
#[derive(Debug, Clone)]
pub(crate) struct Cut {
    /// The bodies in it.
    pub(crate) bodies: Range<usize>,
    /// Loops around it.
    pub(crate) number: usize,
    /// Values of its variable in a tile.
    pub(crate) rows: NonZeroU32,
}

/// A program with tiles.
#[derive(Debug)]
pub(crate) struct Tiled {
    pub(crate) program: Program,
    /// For each body the loop around it that is not its own.
    pub(crate) hidden: Vec<Option<usize>>,
}

/// Cuts loops, of which none is inside of another one, into tiles.
pub(crate) fn tile(program: &Program, cuts: &[Cut]) -> Tiled {
    let mut cutter = Cutter {
        cuts,
        inside: None,
        hidden: Vec::new(),
    };
    let nodes = cutter.nodes(&program.nodes, 0);
    Tiled {
        program: Program {
            nodes,
            ..program.clone()
        },
        hidden: cutter.hidden,
    }
}

#[derive(Debug)]
struct Cutter<'a> {
    cuts: &'a [Cut],
    /// The number of the loop over tiles around: what is said of loops from that one on is about the next one.
    inside: Option<usize>,
    /// Of the bodies so far.
    hidden: Vec<Option<usize>>,
}

impl Cutter<'_> {
    /// Nodes inside of `depth` loops.
    fn nodes(&mut self, nodes: &[Node], depth: usize) -> Vec<Node> {
        nodes
            .iter()
            .map(|node| match node {
                Node::Loop(bounds, inner) => self.looped(bounds, inner, depth),
                Node::If(condition, then, otherwise) => Node::If(
                    self.cond(condition),
                    self.nodes(then, depth),
                    self.nodes(otherwise, depth),
                ),
                Node::Body(body) => {
                    self.hidden.push(self.inside);
                    Node::Body(self.body(body))
                }
            })
            .collect()
    }

    fn looped(&mut self, bounds: &Bounds, inner: &[Node], depth: usize) -> Node {
        let first = self.hidden.len();
        let within = first..first + bodies(inner).len();
        let is_here = |cut: &&Cut| cut.number == depth && cut.bodies == within;
        let Some(cut) = self.cuts.iter().find(is_here) else {
            let inner = self.nodes(inner, depth + 1);
            return Node::Loop(self.bounds(bounds), inner);
        };
        // The bounds are about loops around both.
        let (tile, height) = (Expr::Loop(depth), i64::from(cut.rows.get()) * bounds.step);
        let outer = Bounds {
            reversed: bounds.reversed,
            ..Bounds::new(
                bounds.from.clone().div_euclid(height),
                (bounds.to.clone() - 1).div_euclid(height) + 1,
            )
        };
        let own = Bounds {
            reversed: bounds.reversed,
            ..Bounds::new(
                bounds.from.clone().max(tile.clone() * height),
                bounds.to.clone().min(tile * height + height),
            )
        };
        self.inside = Some(depth);
        let mut inner = self.nodes(inner, depth + 1);
        self.inside = None;
        if bounds.step != 1 {
            // Steps count from the bounds of the whole loop.
            let origin = match bounds.from_end {
                true => bounds.to.clone() - 1,
                false => bounds.from.clone(),
            };
            let rest = (Expr::Loop(depth + 1) - origin).rem_euclid(bounds.step);
            inner = vec![Node::If(
                Cond::Compare(rest, Comparison::Eq, 0.into()),
                inner,
                Vec::new(),
            )];
        }
        Node::Loop(outer, vec![Node::Loop(own, inner)])
    }

    fn body(&self, body: &Body) -> Body {
        let access = |access: &Access| Access {
            subscripts: access.subscripts.iter().map(|at| self.expr(at)).collect(),
            inner: access.inner.iter().map(|bounds| self.bounds(bounds)).collect(),
            when: access.when.iter().map(|when| self.cond(when)).collect(),
            ..access.clone()
        };
        Body {
            accesses: body.accesses.iter().map(access).collect(),
            ..body.clone()
        }
    }

    fn bounds(&self, bounds: &Bounds) -> Bounds {
        Bounds {
            from: self.expr(&bounds.from),
            to: self.expr(&bounds.to),
            ..bounds.clone()
        }
    }

    fn cond(&self, cond: &Cond) -> Cond {
        let inner = |cond: &Cond| Box::new(self.cond(cond));
        match cond {
            Cond::Compare(a, comparison, b) => Cond::Compare(self.expr(a), *comparison, self.expr(b)),
            Cond::And(a, b) => Cond::And(inner(a), inner(b)),
            Cond::Or(a, b) => Cond::Or(inner(a), inner(b)),
            Cond::Not(a) => Cond::Not(inner(a)),
        }
    }

    fn expr(&self, expr: &Expr) -> Expr {
        let inner = |expr: &Expr| Box::new(self.expr(expr));
        match expr {
            Expr::Loop(at) if self.inside.is_some_and(|tiles| *at >= tiles) => Expr::Loop(at + 1),
            Expr::Loop(_) | Expr::Number(_) | Expr::Param(_) | Expr::Len(..) => expr.clone(),
            Expr::Op(operator, a, b) => Expr::Op(*operator, inner(a), inner(b)),
        }
    }
}
