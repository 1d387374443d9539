//! The functions into which `#[kernel]` turns `if`, `match`, `=`, comparisons and `let`.
//!
//! Each works on signals and on values of the generator, and the type decides which is meant. Rust picks the method whose
//! receiver needs fewer references, so the traits for signals are implemented for `It<'_, Sig>` and those for everything else
//! for a reference to it.

use super::handle::Bundle;
pub use super::merge::{Both, Merge, MergeConstant, MergeLiteral, MergeSignals, MergeValues};
pub use super::pattern::{Test, complete, fits, last_arm};
use super::sig::{Operand, Sig, make, sig};
use super::tree::{self, NodeId, Op, Statement};
use crate::emit::ir::{Arithmetic, CheckKind, Relation};
use std::panic::Location;

/// A value that a kernel examines.
#[derive(Debug)]
pub struct It<'a, T: ?Sized>(pub &'a T);

/// Comparisons and connectives of signals.
pub trait OnSignal<T> {
    /// `==`
    fn eq_(&self, other: &impl Operand<T>) -> Sig<bool>;
    /// `!=`
    fn ne_(&self, other: &impl Operand<T>) -> Sig<bool>;
    /// `<`
    fn lt_(&self, other: &impl Operand<T>) -> Sig<bool>;
    /// `<=`
    fn le_(&self, other: &impl Operand<T>) -> Sig<bool>;
    /// `>`
    fn gt_(&self, other: &impl Operand<T>) -> Sig<bool>;
    /// `>=`
    fn ge_(&self, other: &impl Operand<T>) -> Sig<bool>;
    /// `&&`
    fn and_<R: Operand<T>>(&self, other: impl FnOnce() -> R) -> Sig<T>;
    /// `||`
    fn or_<R: Operand<T>>(&self, other: impl FnOnce() -> R) -> Sig<T>;
    /// The test of an `if`.
    fn test_(&self) -> Branch;
    /// `assert!`, `assume!` and `cover!`
    fn check_(&self, kind: CheckKind, message: &str);
    /// `=`
    fn assign_(&self, value: impl Operand<T>);
    /// The name of a `let`.
    fn name_(&self, name: &str);
}

struct By<'a, O>(&'a O);

impl<T, O: Operand<T>> Operand<T> for By<'_, O> {
    fn operand(&self, width: usize, at: tree::At) -> Sig<T> {
        self.0.operand(width, at)
    }
}

macro_rules! relations {
    ($($function:ident $relation:ident)+) => {$(
        #[track_caller]
        fn $function(&self, other: &impl Operand<T>) -> Sig<bool> {
            self.0.compare(Relation::$relation, false, By(other))
        }
    )+};
}

impl<T> OnSignal<T> for It<'_, Sig<T>> {
    relations! { eq_ Equal  ne_ Unequal  lt_ Less  le_ LessOrEqual  gt_ Greater  ge_ GreaterOrEqual }

    #[track_caller]
    fn and_<R: Operand<T>>(&self, other: impl FnOnce() -> R) -> Sig<T> {
        one_bit(self.0.width(), Location::caller());
        self.0.binary(Arithmetic::LogicalAnd, other())
    }

    #[track_caller]
    fn or_<R: Operand<T>>(&self, other: impl FnOnce() -> R) -> Sig<T> {
        one_bit(self.0.width(), Location::caller());
        self.0.binary(Arithmetic::LogicalOr, other())
    }

    #[track_caller]
    fn test_(&self) -> Branch {
        one_bit(self.0.width(), Location::caller());
        Branch::of_signal(self.0.id)
    }

    #[track_caller]
    fn check_(&self, kind: CheckKind, message: &str) {
        one_bit(self.0.width(), Location::caller());
        tree::with(|tree| tree.check(kind, self.0.id, message));
    }

    #[track_caller]
    fn assign_(&self, value: impl Operand<T>) {
        self.0.assign(&value, Location::caller());
    }

    fn name_(&self, name: &str) {
        tree::with(|tree| tree.name(self.0.id, name));
    }
}

pub(super) fn refuse(message: &str, at: tree::At) {
    tree::with(|tree| tree.refuse(message, at));
}

fn one_bit(width: usize, at: tree::At) {
    if width != 1 {
        tree::with(|tree| {
            tree.refuse(
                &format!("a value of {width} bits is no condition: compare it, or write .any()"),
                at,
            )
        });
    }
}

/// The same for values of the generator.
pub trait OnValue<T: ?Sized> {
    /// `==`
    fn eq_<R: ?Sized>(&self, other: &R) -> bool
    where
        T: PartialEq<R>;
    /// `!=`
    fn ne_<R: ?Sized>(&self, other: &R) -> bool
    where
        T: PartialEq<R>;
    /// `<`
    fn lt_<R: ?Sized>(&self, other: &R) -> bool
    where
        T: PartialOrd<R>;
    /// `<=`
    fn le_<R: ?Sized>(&self, other: &R) -> bool
    where
        T: PartialOrd<R>;
    /// `>`
    fn gt_<R: ?Sized>(&self, other: &R) -> bool
    where
        T: PartialOrd<R>;
    /// `>=`
    fn ge_<R: ?Sized>(&self, other: &R) -> bool
    where
        T: PartialOrd<R>;
    /// The name of a `let`, which only signals keep.
    fn name_(&self, _: &str) {}
}

macro_rules! value_relations {
    ($($function:ident $method:ident $bound:ident)+) => {$(
        fn $function<R: ?Sized>(&self, other: &R) -> bool
        where
            T: $bound<R>,
        {
            self.0.$method(other)
        }
    )+};
}

impl<T: ?Sized> OnValue<T> for &It<'_, T> {
    value_relations! { eq_ eq PartialEq  ne_ ne PartialEq  lt_ lt PartialOrd  le_ le PartialOrd  gt_ gt PartialOrd  ge_ ge PartialOrd }
}

/// Arrays of signals, whose names have numbers.
pub trait OnArray {
    /// The name of a `let`.
    fn name_(&self, name: &str);
}

impl<T> OnArray for It<'_, Vec<Sig<T>>> {
    fn name_(&self, name: &str) {
        for (number, signal) in self.0.iter().enumerate() {
            It(signal).name_(&format!("{name}_{number}"));
        }
    }
}

/// Connectives and tests of the generator's decisions.
pub trait OnDecision {
    /// `&&`: the right side is not evaluated if the left decides.
    fn and_<R: Decided>(&self, other: impl FnOnce() -> R) -> R;
    /// `||`
    fn or_<R: Decided>(&self, other: impl FnOnce() -> R) -> R;
    /// The test of an `if`.
    fn test_(&self) -> Branch;
    /// `assert!`, which the generator checks.
    fn check_(&self, kind: CheckKind, message: &str);
}

impl OnDecision for It<'_, bool> {
    #[track_caller]
    fn check_(&self, kind: CheckKind, message: &str) {
        assert!(*self.0 || kind == CheckKind::Cover, "{message}");
    }

    fn and_<R: Decided>(&self, other: impl FnOnce() -> R) -> R {
        if *self.0 { other() } else { R::decided(false) }
    }
    fn or_<R: Decided>(&self, other: impl FnOnce() -> R) -> R {
        if *self.0 { R::decided(true) } else { other() }
    }
    fn test_(&self) -> Branch {
        Branch {
            runs: (*self.0, !*self.0),
            test: None,
            then: None,
            docs: Vec::new(),
        }
    }
}

/// A truth value, of the generator or as a signal.
pub trait Decided {
    /// The constant.
    fn decided(value: bool) -> Self;
}

impl Decided for bool {
    fn decided(value: bool) -> Self {
        value
    }
}

impl Decided for Sig<bool> {
    fn decided(value: bool) -> Self {
        make(Op::Literal(u32::from(value).into()), &[], 1)
    }
}

/// Assignment of bundles of ports: connects them by the names of their ports.
pub trait OnBundle {
    /// `=`
    fn assign_(&self, other: impl Bundle);
}

impl<B: Bundle> OnBundle for &It<'_, B> {
    #[track_caller]
    fn assign_(&self, other: impl Bundle) {
        super::handle::connect(self.0, &other, Location::caller());
    }
}

/// An `if` while its branches run.
#[derive(Debug)]
pub struct Branch {
    /// Whether the first branch runs, and whether the second does.
    runs: (bool, bool),
    test: Option<NodeId>,
    then: Option<Vec<Statement>>,
    docs: Vec<String>,
}

impl Branch {
    fn of_signal(test: NodeId) -> Self {
        let docs = tree::with(|tree| {
            tree.begin_condition(test);
            let docs = tree.take_docs();
            tree.open_block();
            docs
        });
        Self {
            runs: (true, true),
            test: Some(test),
            then: None,
            docs,
        }
    }

    /// The first branch runs.
    pub fn then(&self) -> bool {
        self.runs.0
    }

    /// The first branch has run; whether the second does.
    pub fn otherwise(&mut self) -> bool {
        if self.test.is_some() {
            self.then = Some(tree::with(|tree| {
                let then = tree.close_block();
                tree.invert_condition();
                tree.open_block();
                then
            }));
        }
        self.runs.1
    }

    /// Both have run: the statement, and the condition for the value.
    pub fn end(&mut self, is_match: bool) -> Option<Sig<bool>> {
        let test = self.test?;
        tree::with(|tree| {
            let otherwise = tree.close_block();
            tree.end_condition();
            let then = self.then.take().unwrap_or_default();
            let is_empty =
                |block: &[Statement]| block.iter().all(|part| matches!(part, Statement::LastArm(_)));
            if !is_empty(&then) || !is_empty(&otherwise) {
                tree.restore_docs(std::mem::take(&mut self.docs));
                tree.push(Statement::If {
                    test,
                    then,
                    otherwise,
                    is_match,
                });
            }
        });
        Some(sig(test))
    }
}

/// The nesting of a kernel's decisions, which a variable of the generator must not cross.
pub fn depth() -> usize {
    tree::with(|tree| tree.depth())
}

/// Refuses a variable of the generator that changes in an `if` over a signal.
#[track_caller]
pub fn same_depth(then: usize, name: &str) {
    if depth() != then {
        let message = format!(
            "`{name}` is a variable of the generator, which an `if` over a signal cannot change: give the `if` a value, or use wire()"
        );
        refuse(&message, Location::caller());
    }
}

/// Where a `let` with documentation begins.
pub fn place() -> (usize, usize) {
    tree::with(|tree| tree.begin_let())
}

/// The documentation of a `let`: it goes to the first signal that got its name, or in front of what the `let` has built.
pub fn document(place: (usize, usize), lines: &[&str]) {
    tree::with(|tree| tree.document(place, lines));
}

/// Documentation in front of a statement.
pub fn comment(line: &str) {
    tree::with(|tree| tree.doc(line));
}
