//! Signals whose width is known when hardware is generated.

use super::only_shown;
use super::word::Word;
use rust_hdl::core::ast::VerilogLiteral;
use rust_hdl::core::constraint::PinConstraint;
use rust_hdl::core::signal::get_signal_id;
use rust_hdl::prelude::{
    Atom, AtomKind, Block, Direction, Logic, Probe, Synth, TypeDescriptor, TypeKind, VCDValue,
};
use std::fmt::Debug;
use std::marker::PhantomData;

/// A type that a wire can carry: every type that rust-hdl can synthesise, and [`Word`].
pub trait Value: Clone + PartialEq + Debug {
    /// Width in bits.
    fn width(&self) -> usize;
    /// Description of the type as the syntax tree knows it.
    fn descriptor(&self) -> TypeDescriptor;
    /// The value as a literal.
    fn literal(&self) -> VerilogLiteral;
}

impl<T: Synth> Value for T {
    fn width(&self) -> usize {
        T::BITS
    }
    fn descriptor(&self) -> TypeDescriptor {
        T::descriptor()
    }
    fn literal(&self) -> VerilogLiteral {
        self.verilog()
    }
}

impl Value for Word {
    fn width(&self) -> usize {
        Self::width(self)
    }
    fn descriptor(&self) -> TypeDescriptor {
        let width = Self::width(self);
        TypeDescriptor {
            name: format!("Word<{width}>"),
            kind: TypeKind::Bits(width),
        }
    }
    fn literal(&self) -> VerilogLiteral {
        Self::literal(self)
    }
}

/// A signal of a block: as rust-hdl's `Signal`, with a width that may be a run-time number.
#[derive(Clone, Debug)]
pub struct Wire<D: Direction, T: Value = Word> {
    /// A value of its type, which says its width.
    like: T,
    id: usize,
    direction: PhantomData<D>,
}

impl<D: Direction, T: Value> Wire<D, T> {
    /// A wire that carries such values.
    pub fn new(like: T) -> Self {
        Self {
            like,
            id: get_signal_id(),
            direction: PhantomData,
        }
    }

    /// Width in bits.
    pub fn width(&self) -> usize {
        self.like.width()
    }
}

impl<D: Direction> Wire<D, Word> {
    /// A wire of `width` bits.
    pub fn word(width: usize) -> Self {
        Self::new(Word::zero(width))
    }
}

impl<D: Direction> Wire<D, bool> {
    /// A wire of one bit.
    pub fn bit() -> Self {
        Self::new(false)
    }
}

impl<D: Direction, T: Synth> Default for Wire<D, T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<D: Direction, T: Value> Atom for Wire<D, T> {
    fn bits(&self) -> usize {
        self.width()
    }
    fn connected(&self) -> bool {
        true
    }
    fn changed(&self) -> bool {
        false
    }
    fn kind(&self) -> AtomKind {
        D::KIND
    }
    fn descriptor(&self) -> TypeDescriptor {
        self.like.descriptor()
    }
    fn vcd(&self) -> VCDValue {
        false.into()
    }
    fn id(&self) -> usize {
        self.id
    }
    fn verilog(&self) -> VerilogLiteral {
        self.like.literal()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        Vec::new()
    }
}

impl<D: Direction, T: Value> Logic for Wire<D, T> {
    fn update(&mut self) {}
}

impl<D: Direction, T: Value> Block for Wire<D, T> {
    only_shown!();

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}
