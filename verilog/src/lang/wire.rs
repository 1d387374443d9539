//! Signals whose width is known when hardware is generated.

use super::word::Word;
use rust_hdl::core::ast::VerilogLiteral;
use rust_hdl::core::constraint::PinConstraint;
use rust_hdl::core::signal::get_signal_id;
use rust_hdl::prelude::{
    Atom, AtomKind, Block, Direction, In, Local, Logic, Out, Probe, Synth, TypeDescriptor, TypeKind, VCDValue,
};
use std::fmt::Debug;
use std::marker::PhantomData;

/// What a wire can carry: every type that rust-hdl can synthesise, and [`Word`].
pub trait Value: Clone + PartialEq + Debug {
    /// Width in bits.
    fn width(&self) -> usize;
    /// Description of the type as the syntax tree knows it.
    fn descriptor(&self) -> TypeDescriptor;
    /// The value as a literal.
    fn literal(&self) -> VerilogLiteral;
    /// The value as a waveform shows it.
    fn vcd(&self) -> VCDValue;
    /// The value in the shape of a place of the same type: gives an unsized integer its width.
    #[must_use]
    fn fit(self, place: &Self) -> Self;
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
    fn vcd(&self) -> VCDValue {
        Synth::vcd(*self)
    }
    fn fit(self, _place: &Self) -> Self {
        self
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
    fn vcd(&self) -> VCDValue {
        VCDValue::Vector(
            (0..Self::width(self))
                .rev()
                .map(|bit| self.get_bit(bit).into())
                .collect(),
        )
    }
    fn fit(self, place: &Self) -> Self {
        self.sized(Self::width(place))
    }
}

/// A signal of a block: as rust-hdl's `Signal`, with a width that may be a run-time number.
#[derive(Clone, Debug)]
pub struct Wire<D: Direction, T: Value = Word> {
    /// Assigned by the driver; becomes the value.
    pub next: T,
    val: T,
    changed: bool,
    driven: bool,
    id: usize,
    direction: PhantomData<D>,
}

impl<D: Direction, T: Value> Wire<D, T> {
    /// A wire that starts with a value, which also fixes its width.
    pub fn new(initial: T) -> Self {
        Self {
            next: initial.clone(),
            val: initial,
            changed: false,
            driven: false,
            id: get_signal_id(),
            direction: PhantomData,
        }
    }

    /// Width in bits.
    pub fn width(&self) -> usize {
        self.val.width()
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

impl<T: Value> Wire<In, T> {
    /// The value that the driver gave it.
    pub fn val(&self) -> T {
        self.val.clone()
    }
}

impl<T: Value> Wire<Out, T> {
    /// The value that the block drives.
    pub fn val(&self) -> T {
        self.next.clone().fit(&self.val)
    }
}

impl<T: Value> Wire<Local, T> {
    /// The value that was assigned last.
    pub fn val(&self) -> T {
        self.next.clone().fit(&self.val)
    }
}

impl<D: Direction, T: Value> Atom for Wire<D, T> {
    fn bits(&self) -> usize {
        self.width()
    }
    fn connected(&self) -> bool {
        self.driven
    }
    fn changed(&self) -> bool {
        self.changed
    }
    fn kind(&self) -> AtomKind {
        D::KIND
    }
    fn descriptor(&self) -> TypeDescriptor {
        self.val.descriptor()
    }
    fn vcd(&self) -> VCDValue {
        self.val.vcd()
    }
    fn id(&self) -> usize {
        self.id
    }
    fn verilog(&self) -> VerilogLiteral {
        self.val.literal()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        Vec::new()
    }
}

impl<D: Direction, T: Value> Logic for Wire<D, T> {
    fn update(&mut self) {}
    fn connect(&mut self) {
        self.driven = true;
    }
}

impl<D: Direction, T: Value> Block for Wire<D, T> {
    fn connect_all(&mut self) {}
    fn update_all(&mut self) {
        let next = self.next.clone().fit(&self.val);
        self.changed = self.val != next;
        self.val = next;
    }
    fn has_changed(&self) -> bool {
        self.changed
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}
