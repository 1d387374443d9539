//! Signals as handles, and what can be done with them.

use super::tree::{self, At, NodeId, Op};
use crate::emit::ir::{Arithmetic, Direction, Reduction, Relation};
use crate::emit::read_literal;
use crate::lang::{Field, Value, Word, parts_of};
use num_bigint::BigUint;
use rust_hdl::prelude::{Synth, TypeKind};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, BitXor, Index, Mul, Not, Range, Shl, Shr, Sub};
use std::panic::Location;

/// A signal of type `T` in the kernel that runs: a handle, which can be copied, kept in arrays and passed to functions.
///
/// `T` is [`Word`], whose width is a number of the generator, `bool`, or an enum that derives `LogicState`.
pub struct Sig<T = Word> {
    pub(crate) id: NodeId,
    kind: PhantomData<T>,
}

impl<T> Clone for Sig<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Sig<T> {}

impl<T> fmt::Debug for Sig<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sig({})", self.id)
    }
}

pub(crate) fn sig<T>(id: NodeId) -> Sig<T> {
    Sig {
        id,
        kind: PhantomData,
    }
}

pub(super) fn make<T>(op: Op, operands: &[NodeId], width: usize) -> Sig<T> {
    sig(tree::with(|tree| tree.add(op, operands.to_vec(), width)))
}

/// The other operand of a signal of type `T`: a signal, or a constant that takes its width from the first one.
pub trait Operand<T> {
    /// The value as `width` bits.
    fn operand(&self, width: usize, at: At) -> Sig<T>;

    /// Its own width, if it has one.
    fn natural(&self) -> Option<usize> {
        None
    }
}

impl<T> Operand<T> for Sig<T> {
    fn operand(&self, width: usize, at: At) -> Sig<T> {
        let own = self.width();
        if own != width {
            tree::with(|tree| {
                tree.refuse(
                    &format!("a value of {own} bits meets one of {width} bits: resize one"),
                    at,
                )
            });
            return make(Op::Resize, &[self.id], width);
        }
        *self
    }
    fn natural(&self) -> Option<usize> {
        Some(self.width())
    }
}

impl<T> Operand<T> for &Sig<T> {
    fn operand(&self, width: usize, at: At) -> Sig<T> {
        (*self).operand(width, at)
    }
    fn natural(&self) -> Option<usize> {
        Some(self.width())
    }
}

impl<T: Synth> Operand<T> for T {
    fn operand(&self, width: usize, _: At) -> Sig<T> {
        let (value, _) = read_literal(&Value::literal(self)).unwrap_or_default();
        let value = value.to_biguint().unwrap_or_default();
        if let TypeKind::Enum(names) = T::descriptor().kind
            && let Some(name) = usize::try_from(&value).ok().and_then(|value| names.get(value))
        {
            return make(Op::Variant(name.clone(), value, names.len()), &[], width);
        }
        make(Op::Literal(value), &[], width)
    }
    fn natural(&self) -> Option<usize> {
        Some(T::BITS)
    }
}

fn number(value: BigUint, width: usize, at: At) -> Sig<Word> {
    if value.bits() > width as u64 {
        tree::with(|tree| tree.refuse(&format!("the number {value} does not fit into {width} bits"), at));
        return make(Op::Literal(BigUint::ZERO), &[], width);
    }
    make(Op::Literal(value), &[], width)
}

macro_rules! numbers {
    ($($kind:ty)+) => {$(
        impl Operand<Word> for $kind {
            fn operand(&self, width: usize, at: At) -> Sig<Word> {
                match BigUint::try_from(*self) {
                    Ok(value) => number(value, width, at),
                    Err(_) => {
                        tree::with(|tree| tree.refuse("a word is never negative: write the complement", at));
                        number(BigUint::ZERO, width, at)
                    }
                }
            }
        }
    )+};
}
numbers! { u8 i32 u32 u64 usize u128 }

impl Operand<Word> for Word {
    fn operand(&self, width: usize, at: At) -> Sig<Word> {
        number(self.value().clone(), self.width(), at).operand(width, at)
    }
    fn natural(&self) -> Option<usize> {
        Some(self.width())
    }
}

impl<T> Sig<T> {
    /// Width in bits.
    pub fn width(self) -> usize {
        tree::with(|tree| tree.width(self.id))
    }

    /// The same signal with a name in the text, as `let` gives it, for those of a loop.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        tree::with(|tree| tree.name(self.id, name));
        self
    }

    /// The same bits as a word.
    pub fn word(self) -> Sig<Word> {
        sig(self.id)
    }

    /// The register is reset while a condition holds, and not with its block.
    #[track_caller]
    pub fn reset_by(self, condition: Sig<bool>) {
        let at = Location::caller();
        tree::with(|tree| match tree.reset_of(self.id) {
            Some(reset) => tree.assign(reset, condition.id, at),
            None => tree.refuse(
                "only a field that is a register with a reset has a reset to choose",
                at,
            ),
        });
    }

    /// Assigns a value, as `=` in a kernel does.
    pub(super) fn assign(self, value: &impl Operand<T>, at: At) {
        let value = value.operand(self.width(), at);
        tree::with(|tree| tree.assign(self.id, value.id, at));
    }

    #[track_caller]
    pub(super) fn binary<R, O: Operand<T>>(self, op: Arithmetic, other: O) -> Sig<R> {
        let width = self.width();
        let other = other.operand(width, Location::caller());
        make(Op::Arithmetic(op), &[self.id, other.id], width)
    }

    #[track_caller]
    pub(super) fn compare<O: Operand<T>>(self, relation: Relation, signed: bool, other: O) -> Sig<bool> {
        let other = other.operand(self.width(), Location::caller());
        make(Op::Compare { relation, signed }, &[self.id, other.id], 1)
    }
}

macro_rules! operators {
    ($($kind:ty: $($operator:ident $function:ident $op:ident)+;)+) => {$($(
        impl<O: Operand<$kind>> $operator<O> for Sig<$kind> {
            type Output = Self;
            #[track_caller]
            fn $function(self, other: O) -> Self {
                self.binary(Arithmetic::$op, other)
            }
        }
    )+)+};
}
operators! {
    Word: Add add Add  Sub sub Subtract  Mul mul Multiply  BitAnd bitand And  BitOr bitor Or  BitXor bitxor Xor;
    bool: BitAnd bitand And  BitOr bitor Or  BitXor bitxor Xor;
}

impl<T> Not for Sig<T> {
    type Output = Self;
    fn not(self) -> Self {
        make(Op::Not, &[self.id], self.width())
    }
}

/// A number of places to shift by: a number of the generator or a signal.
pub trait Places {
    /// The number as a signal.
    fn places(&self) -> Sig<Word>;
}

impl Places for usize {
    fn places(&self) -> Sig<Word> {
        let value = BigUint::from(*self);
        let width = usize::try_from(value.bits()).unwrap_or(64).max(1);
        make(Op::Literal(value), &[], width)
    }
}

impl Places for Sig<Word> {
    fn places(&self) -> Sig<Word> {
        *self
    }
}

impl<P: Places> Shl<P> for Sig<Word> {
    type Output = Self;
    fn shl(self, places: P) -> Self {
        make(
            Op::Shift(Direction::Left),
            &[self.id, places.places().id],
            self.width(),
        )
    }
}

impl<P: Places> Shr<P> for Sig<Word> {
    type Output = Self;
    fn shr(self, places: P) -> Self {
        make(
            Op::Shift(Direction::Right),
            &[self.id, places.places().id],
            self.width(),
        )
    }
}

/// Indexing gives a reference; a generator runs once, so these eight bytes stay.
fn kept<T>(value: Sig<T>) -> &'static Sig<T> {
    Box::leak(Box::new(value))
}

impl Index<usize> for Sig<Word> {
    type Output = Sig<bool>;
    #[track_caller]
    fn index(&self, bit: usize) -> &Sig<bool> {
        kept(sig(self.slice(bit, 1).id))
    }
}

impl Index<Sig<Word>> for Sig<Word> {
    type Output = Sig<bool>;
    fn index(&self, bit: Sig<Word>) -> &Sig<bool> {
        kept(sig(self.at(bit, 1).id))
    }
}

impl Index<Range<usize>> for Sig<Word> {
    type Output = Sig<Word>;
    #[track_caller]
    fn index(&self, bits: Range<usize>) -> &Sig<Word> {
        kept(self.slice(bits.start, bits.end - bits.start))
    }
}

impl Sig<Word> {
    /// `width` bits from bit `offset` on.
    #[track_caller]
    pub fn slice(self, offset: usize, width: usize) -> Self {
        let own = self.width();
        if offset + width > own {
            let message = format!("bits {offset} to {} of a value of {own} bits", offset + width - 1);
            let at = Location::caller();
            tree::with(|tree| tree.refuse(&message, at));
            return make(Op::Literal(BigUint::ZERO), &[], width);
        }
        match (offset, width) {
            (0, _) if width == own => self,
            _ => make(Op::Select(offset), &[self.id], width),
        }
    }

    /// `width` bits from a bit on that a signal names.
    pub fn at(self, offset: Self, width: usize) -> Self {
        make(Op::SelectAt, &[self.id, offset.id], width)
    }

    /// The low `width` bits, and the rest.
    #[track_caller]
    pub fn split_at(self, width: usize) -> (Self, Self) {
        (self.slice(0, width), self.slice(width, self.width() - width))
    }

    /// Zero-extends or truncates to `width` bits.
    pub fn resize(self, width: usize) -> Self {
        match width == self.width() {
            true => self,
            false => make(Op::Resize, &[self.id], width),
        }
    }

    /// Extends with the sign bit, or truncates.
    pub fn sign_extend(self, width: usize) -> Self {
        make(Op::ResizeSigned, &[self.id], width)
    }

    /// The bytes in the other order.
    #[track_caller]
    pub fn swap_bytes(self) -> Self {
        let bytes: Vec<_> = (0..self.width() / 8)
            .map(|byte| self.slice(8 * byte, 8))
            .collect();
        cat_all(&bytes)
    }

    /// The bits of a field.
    #[track_caller]
    pub fn field(self, field: Field) -> Self {
        tree::with(|tree| tree.records.push((self.id, field.layout())));
        self.slice(field.at, field.width)
    }

    /// The bit of a field that is one bit.
    #[track_caller]
    pub fn flag(self, field: Field) -> Sig<bool> {
        sig(self.field(field).id)
    }

    /// How many bits are 1, as a word of `width` bits.
    #[track_caller]
    pub fn count_ones(self, width: usize) -> Self {
        sum((0..self.width()).map(|bit| self.slice(bit, 1)), width)
    }

    /// All bits are 1.
    pub fn all(self) -> Sig<bool> {
        make(Op::Reduce(Reduction::And), &[self.id], 1)
    }

    /// A bit is 1.
    pub fn any(self) -> Sig<bool> {
        make(Op::Reduce(Reduction::Or), &[self.id], 1)
    }

    /// The parity: an odd number of bits is 1.
    pub fn parity(self) -> Sig<bool> {
        make(Op::Reduce(Reduction::Xor), &[self.id], 1)
    }

    /// The two's complement.
    #[must_use]
    pub fn negate(self) -> Self {
        make(Op::Negate, &[self.id], self.width())
    }
}

impl Sig<bool> {
    /// `width` copies of the bit.
    pub fn repeat(self, width: usize) -> Sig<Word> {
        make(Op::Repeat, &[self.id], width)
    }
}

/// A part of a concatenation.
pub trait Part {
    /// The part as a value of the tree, none if it has no bits.
    fn part(&self) -> Option<Sig<Word>>;
}

impl<T> Part for Sig<T> {
    fn part(&self) -> Option<Sig<Word>> {
        (self.width() > 0).then(|| self.word())
    }
}

impl Part for bool {
    fn part(&self) -> Option<Sig<Word>> {
        Some(make(Op::Literal(u32::from(*self).into()), &[], 1))
    }
}

impl Part for Word {
    fn part(&self) -> Option<Sig<Word>> {
        (self.width() > 0).then(|| make(Op::Literal(self.value().clone()), &[], self.width()))
    }
}

/// Joins parts, the first in the highest bits: what `cat!` in a kernel calls.
pub fn cat(parts: &[&dyn Part]) -> Sig<Word> {
    let parts: Vec<_> = parts.iter().filter_map(|part| part.part()).collect();
    let ids: Vec<_> = parts.iter().map(|part| part.id).collect();
    match ids[..] {
        [only] => sig(only),
        _ => make(Op::Concat, &ids, parts.iter().map(|part| part.width()).sum()),
    }
}

/// Words side by side, the first in the highest bits.
pub fn cat_all(words: &[Sig<Word>]) -> Sig<Word> {
    cat(&words.iter().map(|word| word as &dyn Part).collect::<Vec<_>>())
}

/// A record of its fields: what `pack!` in a kernel calls.
///
/// # Panics
/// If the fields are not those of one record, each once.
#[track_caller]
pub fn pack(fields: &[(Field, &dyn Packable)]) -> Sig<Word> {
    let at = Location::caller();
    let parts = parts_of(fields.to_vec())
        .into_iter()
        .map(|(field, value)| value.packable(field.width, at));
    let parts: Vec<_> = parts.collect();
    cat(&parts.iter().map(|part| part as &dyn Part).collect::<Vec<_>>())
}

/// A value of a field.
pub trait Packable {
    /// The value as a word of the field's width.
    fn packable(&self, width: usize, at: At) -> Sig<Word>;
}

impl Packable for Sig<bool> {
    fn packable(&self, width: usize, at: At) -> Sig<Word> {
        self.word().operand(width, at)
    }
}

impl Packable for bool {
    fn packable(&self, width: usize, at: At) -> Sig<Word> {
        u32::from(*self).operand(width, at)
    }
}

impl<O: Operand<Word>> Packable for O {
    fn packable(&self, width: usize, at: At) -> Sig<Word> {
        self.operand(width, at)
    }
}

/// A constant as a signal: `constant(lit(3, 2))`.
pub fn constant(value: Word) -> Sig<Word> {
    let width = value.width();
    make(Op::Literal(value.value().clone()), &[], width)
}

/// The sum of words as a word of `width` bits, one after the other.
pub fn sum(words: impl IntoIterator<Item = Sig<Word>>, width: usize) -> Sig<Word> {
    let words = words.into_iter().map(|word| word.resize(width));
    words
        .reduce(|a, b| a + b)
        .unwrap_or_else(|| constant(Word::zero(width)))
}

/// Returns the value of the first condition that is 1, or `otherwise` if none is.
pub fn first<T>(choices: &[(Sig<bool>, Sig<T>)], otherwise: Sig<T>) -> Sig<T> {
    let choose = |rest: Sig<T>, (test, value): &(Sig<bool>, Sig<T>)| {
        make(Op::Choose, &[test.id, value.id, rest.id], rest.width())
    };
    choices.iter().rev().fold(otherwise, choose)
}

/// The bitwise OR of all values.
///
/// # Panics
/// If there is none.
#[track_caller]
pub fn or_all<V: BitOr<Output = V>>(values: impl IntoIterator<Item = V>) -> V {
    let all = values.into_iter().reduce(|a, b| a | b);
    all.expect("the OR of no value at all")
}

/// Bits side by side as a word, the first in bit 0.
#[track_caller]
pub fn word_of(bits: impl IntoIterator<Item = Sig<bool>>) -> Sig<Word> {
    let bits: Vec<_> = bits.into_iter().collect();
    if let [only] = bits[..] {
        return only.word();
    }
    let at = Location::caller();
    let word = wire(bits.len());
    for (number, bit) in bits.iter().enumerate() {
        let place = word.slice(number, 1);
        tree::with(|tree| tree.assign_always(place.id, bit.id, at));
    }
    word
}

/// A combinational signal of `width` bits that the kernel assigns.
pub fn wire(width: usize) -> Sig<Word> {
    sig(tree::with(|tree| tree.local(width, None)))
}

/// A combinational bit that the kernel assigns.
pub fn wire_bit() -> Sig<bool> {
    sig(tree::with(|tree| tree.local(1, None)))
}

/// The value of the cycle before: a register without reset.
#[track_caller]
pub fn reg<T>(value: Sig<T>) -> Sig<T> {
    let at = Location::caller();
    sig(tree::with(|tree| {
        let register = tree.local(tree.width(value.id), Some(None));
        tree.assign_always(register, value.id, at);
        register
    }))
}

/// The value of the cycle before; reset gives it another one.
#[track_caller]
pub fn reg_reset<T>(value: Sig<T>, reset: impl Operand<T>) -> Sig<T> {
    let at = Location::caller();
    let reset = constant_of(reset, value.width(), at);
    sig(tree::with(|tree| {
        let register = tree.local(tree.width(value.id), Some(Some(reset)));
        tree.assign_always(register, value.id, at);
        register
    }))
}

/// The number that a register is reset to.
pub(super) fn constant_of<T>(reset: impl Operand<T>, width: usize, at: At) -> BigUint {
    let reset = reset.operand(width, at);
    tree::with(|tree| match &tree.node(reset.id).op {
        Op::Literal(value) | Op::Variant(_, value, _) => value.clone(),
        _ => {
            tree.refuse("a register is reset to a constant", at);
            BigUint::ZERO
        }
    })
}
