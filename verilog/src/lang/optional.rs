//! Parts of a block that only some of its variants have.

use super::only_shown;
use rust_hdl::prelude::{Block, Logic, Probe};

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

impl<T: Logic> Logic for Optional<T> {
    fn update(&mut self) {}
}

impl<T: Block> Block for Optional<T> {
    only_shown!();

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        if let Some(part) = &self.0 {
            part.accept(name, probe);
        }
    }
}
