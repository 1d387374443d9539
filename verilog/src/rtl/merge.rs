//! Values of an `if`: of both branches where a signal chooses, of the one that ran where the generator does.

use super::control::refuse;
use super::sig::{Operand, Sig, make};
use super::tree::{self, Op};
use crate::lang::Word;
use std::panic::Location;

/// The values of both branches, where they ran.
#[derive(Debug)]
pub struct Both<A, B>(pub Option<A>, pub Option<B>);

/// A type of value that an `if` over a signal can return.
pub trait Merge {
    /// One value of two.
    #[track_caller]
    fn merge(test: Sig<bool>, then: Self, otherwise: Self) -> Self;
}

impl Merge for () {
    fn merge(_: Sig<bool>, (): (), (): ()) {}
}

impl<T> Merge for Sig<T> {
    #[track_caller]
    fn merge(test: Sig<bool>, then: Self, otherwise: Self) -> Self {
        let otherwise = otherwise.operand(then.width(), Location::caller());
        if then.id == otherwise.id {
            return then;
        }
        make(Op::Choose, &[test.id, then.id, otherwise.id], then.width())
    }
}

impl<T: Merge> Merge for Vec<T> {
    #[track_caller]
    fn merge(test: Sig<bool>, then: Self, otherwise: Self) -> Self {
        then.into_iter()
            .zip(otherwise)
            .map(|(a, b)| T::merge(test, a, b))
            .collect()
    }
}

macro_rules! tuples {
    ($(($($kind:ident $number:tt),+))+) => {$(
        impl<$($kind: Merge),+> Merge for ($($kind,)+) {
            #[track_caller]
            fn merge(test: Sig<bool>, then: Self, otherwise: Self) -> Self {
                ($($kind::merge(test, then.$number, otherwise.$number),)+)
            }
        }
    )+};
}
tuples! { (A 0) (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) }

/// The value of an `if`, where signals may choose.
pub trait MergeSignals {
    /// Its type.
    type Value;
    /// The value.
    fn merge_(self, test: Option<Sig<bool>>) -> Self::Value;
}

impl<M: Merge> MergeSignals for Both<M, M> {
    type Value = M;
    #[track_caller]
    fn merge_(self, test: Option<Sig<bool>>) -> M {
        match (test, self.0, self.1) {
            (Some(test), Some(then), Some(otherwise)) => M::merge(test, then, otherwise),
            (_, Some(value), None) | (_, None, Some(value)) => value,
            _ => unreachable!("one branch runs"),
        }
    }
}

/// The value of an `if` whose second branch is a constant.
pub trait MergeConstant {
    /// Its type.
    type Value;
    /// The value.
    fn merge_(&self, test: Option<Sig<bool>>) -> Self::Value;
}

impl<T, O: Operand<T>> MergeConstant for Both<Sig<T>, O> {
    type Value = Sig<T>;
    #[track_caller]
    fn merge_(&self, test: Option<Sig<bool>>) -> Sig<T> {
        let at = Location::caller();
        match (test, self.0, &self.1) {
            (Some(test), Some(then), Some(otherwise)) => {
                Merge::merge(test, then, otherwise.operand(then.width(), at))
            }
            (None, Some(value), None) => value,
            (_, _, constant) => without_width(constant.as_ref(), at),
        }
    }
}

/// The value of an `if` whose first branch is a constant.
pub trait MergeLiteral {
    /// Its type.
    type Value;
    /// The value.
    fn merge_(&self, test: Option<Sig<bool>>) -> Self::Value;
}

macro_rules! literals {
    ($($literal:ty => $kind:ty),+) => {$(
        impl MergeLiteral for Both<$literal, Sig<$kind>> {
            type Value = Sig<$kind>;
            #[track_caller]
            fn merge_(&self, test: Option<Sig<bool>>) -> Sig<$kind> {
                let at = Location::caller();
                match (test, &self.0, self.1) {
                    (Some(test), Some(then), Some(otherwise)) => {
                        Merge::merge(test, then.operand(otherwise.width(), at), otherwise)
                    }
                    (None, None, Some(value)) => value,
                    (_, constant, _) => without_width(constant.as_ref(), at),
                }
            }
        }
    )+};
}
literals! { i32 => Word, u32 => Word, u64 => Word, usize => Word, Word => Word, bool => bool }

/// A constant that only one variant of a block has.
fn without_width<T, O: Operand<T>>(constant: Option<&O>, at: tree::At) -> Sig<T> {
    if let Some((constant, width)) = constant.and_then(|constant| Some((constant, constant.natural()?))) {
        return constant.operand(width, at);
    }
    let message = "the constant has no width in this variant: write lit(value, width)";
    refuse(message, at);
    make(Op::Literal(0_u32.into()), &[], 1)
}

/// The value of an `if` that only the generator decides.
pub trait MergeValues {
    /// Its type.
    type Value;
    /// The value.
    fn merge_(self, test: Option<Sig<bool>>) -> Self::Value;
}

impl<V> MergeValues for &mut Both<V, V> {
    type Value = V;
    #[track_caller]
    fn merge_(self, _: Option<Sig<bool>>) -> V {
        match (self.0.take(), self.1.take()) {
            (Some(value), None) | (None, Some(value)) => value,
            (Some(value), Some(_)) => {
                let message = "a number of the generator cannot depend on a signal: write lit(value, width)";
                refuse(message, Location::caller());
                value
            }
            (None, None) => unreachable!("one branch runs"),
        }
    }
}
