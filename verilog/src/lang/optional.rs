//! Parts of a block that only some of its variants have.

use super::clocked::Clocked;
use rust_hdl::core::ast::VerilogStatement;
use rust_hdl::prelude::{Block, Clock, Logic, Probe};
use std::ops::{Deref, DerefMut};

/// A port, register or block that is there in some variants of a block and absent in others.
///
/// A part that is there has the name of its field and is used as if it were not wrapped; one that is
/// absent leaves no trace in the generated text. The kernel asks the same Rust value that the
/// constructor asked, so that it names the part only where it is:
///
/// ```
/// use spinneret_verilog::prelude::*;
///
/// /// Passes a bit on, gated in one variant.
/// #[module(no_clock, gated: bool)]
/// struct Gate {
///     a: Wire<In, bool>,
///     enable: Optional<Wire<In, bool>, { gated }>,
///     q: Wire<Out, bool>,
/// }
///
/// #[kernel(Gate { a, enable, q, gated })]
/// fn update() {
///     q = if gated { a & *enable } else { a };
/// }
///
/// let ports = |gated| spinneret_verilog::generate(&Gate::new(gated), "gate").map(|design| design.ports.len());
/// assert_eq!((ports(false)?, ports(true)?), (2, 3));
/// # Ok::<(), spinneret_verilog::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Optional<T>(Option<T>);

impl<T> Optional<T> {
    /// The part that `make` makes if it is `present`, otherwise none.
    pub fn new(present: bool, make: impl FnOnce() -> T) -> Self {
        Self(present.then(make))
    }

    /// The part, if it is there.
    pub(crate) fn part(&self) -> Option<&T> {
        self.0.as_ref()
    }

    /// Whether the part is there.
    pub fn is_present(&self) -> bool {
        self.0.is_some()
    }
}

impl<T> From<Option<T>> for Optional<T> {
    fn from(part: Option<T>) -> Self {
        Self(part)
    }
}

/// What a kernel is told that uses a part that its variant does not have.
const ABSENT: &str = "this variant of the block does not have the part: ask for the option before using it";

/// # Panics
/// If the part is absent: a mistake in the kernel.
impl<T> Deref for Optional<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect(ABSENT)
    }
}

/// # Panics
/// If the part is absent: a mistake in the kernel.
impl<T> DerefMut for Optional<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect(ABSENT)
    }
}

impl<T: Logic> Logic for Optional<T> {
    fn update(&mut self) {}

    fn connect(&mut self) {
        if let Some(part) = &mut self.0 {
            part.connect();
        }
    }
}

impl<T: Block> Block for Optional<T> {
    fn connect_all(&mut self) {
        if let Some(part) = &mut self.0 {
            part.connect_all();
        }
    }

    fn update_all(&mut self) {
        if let Some(part) = &mut self.0 {
            part.update_all();
        }
    }

    fn has_changed(&self) -> bool {
        self.0.as_ref().is_some_and(Block::has_changed)
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        if let Some(part) = &self.0 {
            part.accept(name, probe);
        }
    }
}

impl<T: Clocked> Clocked for Optional<T> {
    fn drive_clock(&mut self, clk: Clock, rst: Option<bool>) {
        if let Some(part) = &mut self.0 {
            part.drive_clock(clk, rst);
        }
    }

    fn connect_clock(&mut self, with_reset: bool) {
        if let Some(part) = &mut self.0 {
            part.connect_clock(with_reset);
        }
    }

    fn clock_statements(&self, name: &str, clk: &str, rst: Option<&str>) -> Vec<VerilogStatement> {
        self.0
            .as_ref()
            .map_or_else(Vec::new, |part| part.clock_statements(name, clk, rst))
    }
}
