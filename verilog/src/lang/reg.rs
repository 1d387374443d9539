//! Registers with an optional synchronous reset.

use super::only_shown;
use super::wire::{Value, Wire};
use super::word::Word;
use rust_hdl::core::ast::VerilogLiteral;
use rust_hdl::core::constraint::PinConstraint;
use rust_hdl::core::signal::get_signal_id;
use rust_hdl::prelude::{
    Atom, AtomKind, Block, Clock, In, Logic, Out, Probe, Signal, TimingInfo, TypeDescriptor, VCDValue,
};

/// A register's attribute in the text, for synthesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegAttribute {
    /// `ASYNC_REG`: a stage of a synchroniser, which is placed next to the others and never becomes part of
    /// a shift register.
    AsyncReg,
    /// `DONT_TOUCH`: is not merged with an equal register, so that a constraint finds every bit by its name.
    DontTouch,
}

impl RegAttribute {
    /// The name in the text.
    fn name(self) -> &'static str {
        match self {
            Self::AsyncReg => "ASYNC_REG",
            Self::DontTouch => "DONT_TOUCH",
        }
    }
}

/// A register: `q` takes `d` at the rising edge of the clock.
///
/// A register made by [`Reg::reset_to`] takes its reset value instead while `reset` is high, and
/// also starts with it at power-up; one made by [`Reg::data`] has no reset at all, for payload that
/// a valid bit qualifies; one made by [`Reg::starting_with`] has none either, but starts with a value at
/// power-up.
#[derive(Clone, Debug)]
pub struct Reg<T: Value = Word> {
    /// Clock; the rising edge counts.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high; absent in a data register.
    pub reset: Wire<In, bool>,
    /// Input.
    pub d: Wire<In, T>,
    /// Output.
    pub q: Wire<Out, T>,
    reset_value: Option<ResetValue<T>>,
    /// Whether there is a reset in addition to the value at power-up.
    resets: bool,
    attribute: Option<RegAttribute>,
}

impl<T: Value> Reg<T> {
    /// A register that a synchronous reset sets to a value.
    ///
    /// # Panics
    /// If the value needs more than 128 bits: a literal of the syntax tree holds no more.
    pub fn reset_to(value: T) -> Self {
        Self {
            resets: true,
            ..Self::starting_with(value)
        }
    }

    /// A register without reset that starts with a value at power-up.
    ///
    /// # Panics
    /// If the value needs more than 128 bits, as for [`Reg::reset_to`].
    pub fn starting_with(value: T) -> Self {
        let reset_value = ResetValue::new(value.clone());
        Self {
            reset_value: Some(reset_value),
            ..Self::data(value)
        }
    }

    /// A register without reset; `like` is a value of the right width.
    pub fn data(like: T) -> Self {
        Self {
            clock: Signal::default(),
            reset: Wire::bit(),
            d: Wire::new(like.clone()),
            q: Wire::new(like),
            reset_value: None,
            resets: false,
            attribute: None,
        }
    }

    /// The same register with an attribute for synthesis.
    #[must_use]
    pub fn with(self, attribute: RegAttribute) -> Self {
        Self {
            attribute: Some(attribute),
            ..self
        }
    }

    /// Whether the register has a reset.
    pub fn has_reset(&self) -> bool {
        self.resets
    }
}

impl Reg<Word> {
    /// A data register of `width` bits.
    pub fn word(width: usize) -> Self {
        Self::data(Word::zero(width))
    }

    /// A register of `width` bits that is reset to zero.
    pub fn word_reset(width: usize) -> Self {
        Self::reset_to(Word::zero(width))
    }
}

impl Reg<bool> {
    /// A data register of one bit.
    pub fn bit() -> Self {
        Self::data(false)
    }

    /// A register of one bit that is reset to zero.
    pub fn bit_reset() -> Self {
        Self::reset_to(false)
    }
}

impl<T: Value> Logic for Reg<T> {
    fn update(&mut self) {}
    fn timing(&self) -> Vec<TimingInfo> {
        vec![TimingInfo {
            name: self.attribute.map_or_else(
                || "reg".to_owned(),
                |attribute| format!("reg {}", attribute.name()),
            ),
            clock: "clock".into(),
            inputs: vec!["d".into()],
            outputs: vec!["q".into()],
        }]
    }
}

impl<T: Value> Block for Reg<T> {
    only_shown!();

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        self.clock.accept("clock", probe);
        if let Some(value) = &self.reset_value {
            if self.resets {
                self.reset.accept("reset", probe);
            }
            probe.visit_atom("reset_value", value);
        }
        self.d.accept("d", probe);
        self.q.accept("q", probe);
        probe.visit_end_scope(name, self);
    }
}

/// The reset value as a constant of the register's scope.
#[derive(Clone, Debug)]
struct ResetValue<T: Value> {
    value: T,
    id: usize,
}

impl<T: Value> ResetValue<T> {
    fn new(value: T) -> Self {
        // Fails here, where the mistake is, if the value is too large for a literal.
        let _ = value.literal();
        Self {
            value,
            id: get_signal_id(),
        }
    }
}

impl<T: Value> Atom for ResetValue<T> {
    fn bits(&self) -> usize {
        self.value.width()
    }
    fn connected(&self) -> bool {
        true
    }
    fn changed(&self) -> bool {
        false
    }
    fn kind(&self) -> AtomKind {
        AtomKind::Constant
    }
    fn descriptor(&self) -> TypeDescriptor {
        self.value.descriptor()
    }
    fn vcd(&self) -> VCDValue {
        false.into()
    }
    fn id(&self) -> usize {
        self.id
    }
    fn verilog(&self) -> VerilogLiteral {
        self.value.literal()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        Vec::new()
    }
}
