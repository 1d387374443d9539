//! Kernels in plain rust-hdl: from its syntax tree to the tree that kernels of this crate's language build.
//!
//! Values are unsigned, and a signal has one value in a cycle.

use std::collections::BTreeMap;
use std::panic::Location;

use num_bigint::{BigInt, BigUint};
use rust_hdl::core::ast::{
    VerilogBlockOrConditional, VerilogCase, VerilogExpression, VerilogLink, VerilogOp, VerilogOpUnary,
    VerilogStatement,
};
use rust_hdl::core::atom::AtomKind;
use rust_hdl::core::type_descriptor::{TypeDescriptor, TypeKind};

use super::literal;
use super::metadata::comment_lines;
use super::names::{self, LoopVariable};
use super::symbols::is_signed;
use super::walk::{AtomInfo, Scope};
use crate::lang::Word;
use crate::rtl::control::{It, OnSignal, comment};
use crate::rtl::tree::{self, Op, Place, Tree};
use crate::rtl::{Operand, Sig, constant};

/// Where faults of plain kernels are found, which have no lines of their own.
pub(crate) const FILE: &str = file!();

/// The most turns of a loop, which is unrolled.
const MAX_TURNS: u64 = 1 << 16;

/// The meaning of a name.
#[derive(Clone)]
enum Named {
    Signal {
        atom: usize,
        width: usize,
    },
    Constant(Word),
    Variant(String, usize, usize),
    /// Two enums have it with different numbers.
    Ambiguous,
    Signed,
}

enum Value {
    /// A literal, which takes the width of the other operand.
    Number(BigInt),
    Sized(Sig),
}

/// The tree of a kernel.
pub(crate) fn translate(scope: &Scope, statements: &[VerilogStatement]) -> Option<Tree> {
    let mut kernel = Kernel {
        names: names_of(scope),
        loops: Vec::new(),
    };
    tree::build(|| kernel.block(statements));
    tree::take()
}

fn names_of(scope: &Scope) -> BTreeMap<String, Named> {
    let mut names = BTreeMap::new();
    let own = scope.atoms.iter().map(|atom| (atom.name.clone(), atom));
    let parts = scope.children.iter().flat_map(|part| {
        let of = |atom: &'_ AtomInfo| format!("{}${}", part.name, atom.name);
        part.atoms.iter().map(move |atom| (of(atom), atom))
    });
    for (path, atom) in own.chain(parts) {
        variants(&atom.descriptor, &mut names);
        let value = atom.value.as_ref().and_then(BigInt::to_biguint);
        let named = match value.filter(|_| atom.kind == AtomKind::Constant) {
            _ if is_signed(&atom.descriptor) => Named::Signed,
            Some(value) => Named::Constant(Word::from_biguint(value, atom.width)),
            None => Named::Signal {
                atom: atom.id,
                width: atom.width,
            },
        };
        names.insert(path, named);
    }
    names
}

fn variants(descriptor: &TypeDescriptor, names: &mut BTreeMap<String, Named>) {
    match &descriptor.kind {
        TypeKind::Enum(values) => {
            for (number, name) in values.iter().enumerate() {
                let new = Named::Variant(name.clone(), number, values.len());
                let known = names.entry(name.replace("::", "$")).or_insert(new);
                if !matches!(known, Named::Variant(_, own, count) if (*own, *count) == (number, values.len()))
                {
                    *known = Named::Ambiguous;
                }
            }
        }
        TypeKind::Composite(fields) => fields.iter().for_each(|field| variants(&field.kind, names)),
        TypeKind::Bits(_) | TypeKind::Signed(_) => {}
    }
}

#[track_caller]
fn refuse(message: &str) -> Sig {
    tree::with(|tree| tree.refuse(message, Location::caller()));
    constant(Word::zero(1))
}

fn bits(value: Sig<bool>) -> Value {
    Value::Sized(value.word())
}

/// A number as a value of a width.
fn sized(number: &BigInt, width: usize) -> Sig {
    match number.to_biguint() {
        Some(value) if value.bits() <= width as u64 => constant(Word::from_biguint(value, width)),
        _ => refuse(&format!("the number {number} does not fit into {width} bits")),
    }
}

struct Kernel {
    names: BTreeMap<String, Named>,
    loops: Vec<LoopVariable>,
}

impl Kernel {
    fn block(&mut self, statements: &[VerilogStatement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &VerilogStatement) {
        match statement {
            VerilogStatement::Assignment(target, value) => self.assign(target, value),
            VerilogStatement::SliceAssignment {
                base,
                width,
                offset,
                replacement,
            } => {
                let target = self.selected(base, *width, offset);
                let value = self.of_width(replacement, *width);
                It(&target).assign_(value);
            }
            VerilogStatement::If(conditional) => {
                let mut branch = It(&self.of_width(&conditional.test, 1)).test_();
                self.block(&conditional.then);
                branch.otherwise();
                match &conditional.otherwise {
                    VerilogBlockOrConditional::Block(block) => self.block(block),
                    VerilogBlockOrConditional::Conditional(statement) => self.statement(statement),
                    VerilogBlockOrConditional::None => {}
                }
                branch.end(false);
            }
            VerilogStatement::Match(cases) => {
                let value = self.value(&cases.test);
                let value = self.own_width(value);
                self.arms(value, &cases.cases);
            }
            VerilogStatement::Loop(repeated) => {
                let bound = |bound| literal::read(bound).and_then(|(value, _)| u64::try_from(value).ok());
                let (Some(from), Some(to)) = (bound(&repeated.from), bound(&repeated.to)) else {
                    refuse("loop over a range of constants that are not negative");
                    return;
                };
                if to.saturating_sub(from) > MAX_TURNS {
                    refuse(&format!(
                        "a loop of more than {MAX_TURNS} turns: move it into a sub-block"
                    ));
                    return;
                }
                for value in from..to {
                    self.loops.push((repeated.index.clone(), value));
                    self.block(&repeated.block);
                    self.loops.pop();
                }
            }
            VerilogStatement::Comment(text) => comment_lines(text).iter().for_each(|line| comment(line)),
            VerilogStatement::Macro(inner) => self.block(inner),
            VerilogStatement::Link(links) => links.iter().for_each(|link| self.link(link)),
        }
    }

    fn link(&mut self, link: &VerilogLink) {
        let name = |owner: &str, member: &str| match member {
            "" => VerilogExpression::Signal(owner.to_owned()),
            member => VerilogExpression::Signal(format!("{owner}${}", member.trim_start_matches('.'))),
        };
        match link {
            VerilogLink::Forward(ends) => {
                let (own, other) = (&ends.owner_name, &ends.other_name);
                self.assign(&name(other, &ends.my_name), &name(own, &ends.my_name));
            }
            VerilogLink::Backward(ends) => {
                let (own, other) = (&ends.owner_name, &ends.other_name);
                self.assign(&name(own, &ends.my_name), &name(other, &ends.my_name));
            }
            VerilogLink::Bidirectional(_) => {
                refuse("tri-state signals cannot be linked: keep the tri-state buffer in the top block");
            }
        }
    }

    /// A chain of tests, of which the back-end makes a case statement.
    fn arms(&mut self, value: Sig, cases: &[VerilogCase]) {
        let Some((case, rest)) = cases.split_first() else {
            return;
        };
        let label = match case.condition.as_str() {
            "default" | "_" => return self.block(&case.block),
            "true" => constant(Word::new(1, 1)),
            "false" => constant(Word::zero(1)),
            text => match literal::parse_rust_integer(text) {
                Some(number) => sized(&number, value.width()),
                None => match self.named(text) {
                    Value::Sized(label) => label,
                    Value::Number(number) => sized(&number, value.width()),
                },
            },
        };
        let mut branch = It(&It(&value).eq_(&label)).test_();
        self.block(&case.block);
        branch.otherwise();
        self.arms(value, rest);
        branch.end(true);
    }

    fn assign(&mut self, target: &VerilogExpression, value: &VerilogExpression) {
        // `x = y.replace_bit(i, v)` is `x = y; x[i] = v`.
        if let VerilogExpression::IndexReplace(base, index, bit) = unwrapped(value) {
            if target_name(base).is_none() || target_name(base) != target_name(target) {
                self.assign(target, base);
            }
            let place = self.selected(target, 1, index);
            let bit = self.of_width(bit, 1);
            return It(&place).assign_(bit);
        }
        let target = match target_name(target) {
            Some(name) => self.named(name),
            None => self.value(target),
        };
        let target = self.own_width(target);
        let value = self.of_width(value, target.width());
        It(&target).assign_(value);
    }

    fn named(&self, name: &str) -> Value {
        if let Some((_, value)) = self.loops.iter().rev().find(|(variable, _)| variable == name) {
            return Value::Number(BigInt::from(*value));
        }
        let shown = names::display(name);
        let Some(path) = names::canonical(name, &self.loops) else {
            return Value::Sized(refuse(&format!(
                "the array index in `{shown}` is no constant: use literals and loop variables"
            )));
        };
        // A variant may stand with a longer path in front of its type.
        let of_variant = || {
            let mut parts = path.rsplitn(3, '$');
            let (value, kind) = (parts.next()?, parts.next()?);
            self.names.get(&format!("{kind}${value}"))
        };
        let made = |op, width| {
            Value::Sized(crate::rtl::sig(tree::with(|tree| {
                tree.add(op, Vec::new(), width)
            })))
        };
        match self.names.get(&path).or_else(of_variant) {
            Some(Named::Signal { atom, width }) => {
                let place = Place::Atom {
                    read: *atom,
                    write: *atom,
                };
                made(Op::Signal(place), *width)
            }
            Some(Named::Constant(word)) => Value::Sized(constant(word.clone())),
            Some(Named::Variant(name, number, count)) => made(
                Op::Variant(name.clone(), BigUint::from(*number), *count),
                rust_hdl::core::bits::clog2(*count),
            ),
            Some(Named::Ambiguous) => Value::Sized(refuse(&format!(
                "the enum value `{shown}` is defined differently by two types of the same name: rename one of the types"
            ))),
            Some(Named::Signed) => Value::Sized(refuse(&format!(
                "`{shown}` is signed: plain kernels are unsigned"
            ))),
            None => Value::Sized(refuse(&format!(
                "the kernel uses `{shown}`, which is no signal, constant or enum value of this block: declare a field for it"
            ))),
        }
    }

    fn of_width(&mut self, expression: &VerilogExpression, width: usize) -> Sig {
        match self.value(expression) {
            Value::Number(number) => sized(&number, width),
            Value::Sized(value) => value.operand(width, Location::caller()),
        }
    }

    fn own_width(&self, value: Value) -> Sig {
        match value {
            Value::Sized(value) => value,
            Value::Number(number) => refuse(&format!("nothing gives the literal {number} a width")),
        }
    }

    fn value(&mut self, expression: &VerilogExpression) -> Value {
        use VerilogExpression as E;
        match expression {
            E::Signal(name) => self.named(name),
            E::Literal(value) => match literal::read(value) {
                Some((number, 1)) => Value::Sized(sized(&number, 1)),
                Some((number, _)) => Value::Number(number),
                None => Value::Sized(refuse("write the literal as a Rust integer")),
            },
            E::Paren(inner) | E::Unsigned(inner) => self.value(inner),
            E::Cast(inner, width) => Value::Sized(match self.value(inner) {
                Value::Number(number) => sized(&number, *width),
                Value::Sized(value) => value.resize(*width),
            }),
            E::Signed(_) => Value::Sized(refuse("plain kernels are unsigned")),
            E::Binary(left, op, right) => {
                let (left, right) = (self.value(left), self.value(right));
                self.binary(left, op, right)
            }
            E::Unary(op, inner) => {
                let inner = self.value(inner);
                let value = self.own_width(inner);
                match op {
                    VerilogOpUnary::Not => Value::Sized(!value),
                    VerilogOpUnary::Neg => Value::Sized(value.negate()),
                    VerilogOpUnary::All => bits(value.all()),
                    VerilogOpUnary::Any => bits(value.any()),
                    VerilogOpUnary::Xor => bits(value.parity()),
                }
            }
            E::Index(base, index) => Value::Sized(self.selected(base, 1, index)),
            E::Slice(base, width, offset) => Value::Sized(self.selected(base, *width, offset)),
            E::IndexReplace(base, index, bit) => {
                let base = self.value(base);
                let (base, bit) = (self.own_width(base), self.of_width(bit, 1));
                let width = base.width();
                let place = match self.value(index) {
                    Value::Number(number) => sized(&number, 32),
                    Value::Sized(index) => index,
                };
                let one = constant(Word::new(1, width)) << place;
                Value::Sized((base & !one) | (bit.resize(width) << place))
            }
        }
    }

    fn binary(&self, left: Value, op: &VerilogOp, right: Value) -> Value {
        if let VerilogOp::Shl | VerilogOp::Shr = op {
            let left = self.own_width(left);
            let places = match right {
                Value::Number(number) => sized(&number, 64),
                Value::Sized(places) => places,
            };
            return Value::Sized(match op {
                VerilogOp::Shl => left << places,
                _ => left >> places,
            });
        }
        let (a, b) = match (left, right) {
            (Value::Number(a), Value::Number(b)) => match op {
                VerilogOp::Add => return Value::Number(a + b),
                VerilogOp::Sub => return Value::Number(a - b),
                VerilogOp::Mul => return Value::Number(a * b),
                _ => return Value::Sized(refuse("nothing gives the literals of an operation a width")),
            },
            // rust-hdl adds a `bool` to bits of any width.
            (Value::Sized(a), Value::Sized(b)) if matches!(op, VerilogOp::Add) && b.width() == 1 => {
                (a, b.resize(a.width()))
            }
            (Value::Sized(a), Value::Sized(b)) => (a, b),
            (Value::Sized(a), Value::Number(b)) => (a, sized(&b, a.width())),
            (Value::Number(a), Value::Sized(b)) => (sized(&a, b.width()), b),
        };
        let it = It(&a);
        match op {
            VerilogOp::Add => Value::Sized(a + b),
            VerilogOp::Sub => Value::Sized(a - b),
            VerilogOp::BitAnd => Value::Sized(a & b),
            VerilogOp::BitOr => Value::Sized(a | b),
            VerilogOp::BitXor => Value::Sized(a ^ b),
            VerilogOp::LogicalAnd => Value::Sized(it.and_(|| b)),
            VerilogOp::LogicalOr => Value::Sized(it.or_(|| b)),
            VerilogOp::Eq => bits(it.eq_(&b)),
            VerilogOp::Ne => bits(it.ne_(&b)),
            VerilogOp::Lt => bits(it.lt_(&b)),
            VerilogOp::Le => bits(it.le_(&b)),
            VerilogOp::Gt => bits(it.gt_(&b)),
            VerilogOp::Ge => bits(it.ge_(&b)),
            VerilogOp::Mul => Value::Sized(refuse("plain kernels have no products")),
            VerilogOp::Shl | VerilogOp::Shr => unreachable!("shifts were made above"),
        }
    }

    /// Bits of a value, or of what is assigned.
    fn selected(&mut self, base: &VerilogExpression, width: usize, offset: &VerilogExpression) -> Sig {
        let base = match target_name(base) {
            Some(name) => self.named(name),
            None => self.value(base),
        };
        let base = self.own_width(base);
        match self.value(offset) {
            Value::Number(number) => match usize::try_from(&number) {
                Ok(low) if low + width <= base.width() => base.slice(low, width),
                _ => refuse(&format!("bit {number} of a value of {} bits", base.width())),
            },
            // An index is no word: it does not wrap, but the syntax tree does not tell the two apart.
            Value::Sized(_) if is_arithmetic(offset) => refuse(
                "the arithmetic in an offset may wrap, and the syntax tree does not say at which width: compute it in a Local signal first",
            ),
            Value::Sized(_) if width > base.width() => {
                refuse(&format!("{width} bits of a value of {} bits", base.width()))
            }
            Value::Sized(offset) => base.at(offset, width),
        }
    }
}

fn is_arithmetic(offset: &VerilogExpression) -> bool {
    matches!(
        unwrapped(offset),
        VerilogExpression::Binary(_, VerilogOp::Add | VerilogOp::Sub | VerilogOp::Mul, _)
    )
}

/// The signal that an expression is, without the `next` of one that is assigned.
fn target_name(expression: &VerilogExpression) -> Option<&str> {
    match unwrapped(expression) {
        VerilogExpression::Signal(name) => Some(name.trim_end_matches(".next").trim_end_matches("$next")),
        _ => None,
    }
}

fn unwrapped(expression: &VerilogExpression) -> &VerilogExpression {
    match expression {
        VerilogExpression::Paren(inner) => unwrapped(inner),
        other => other,
    }
}
