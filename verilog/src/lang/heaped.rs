//! Parts of a block that live on the heap.

use super::only_shown;
use rust_hdl::prelude::{Block, Logic, Probe};
use std::ops::Deref;

/// A block inside another one that lives on the heap, because designs that hold all of their parts by value
/// outgrow a thread's stack. It is used as if it were not wrapped, and leaves no trace in the generated text.
///
/// ```
/// use spinneret_verilog::prelude::*;
///
/// /// Passes a bit on.
/// #[module(no_clock)]
/// struct Inner {
///     a: Wire<In, bool>,
///     q: Wire<Out, bool>,
/// }
///
/// #[kernel(Inner { a, q })]
/// fn update() {
///     q = a;
/// }
///
/// /// Passes it on through another block.
/// #[module(no_clock)]
/// struct Outer {
///     a: Wire<In, bool>,
///     q: Wire<Out, bool>,
///     inner: Heaped<Inner>,
/// }
///
/// #[kernel(Outer { a, q, inner })]
/// fn update() {
///     inner.a = a;
///     q = inner.q;
/// }
///
/// assert_eq!(spinneret_verilog::generate(&Outer::new(), "outer")?.modules.len(), 2);
/// # Ok::<(), spinneret_verilog::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Heaped<T>(Box<T>);

impl<T> Heaped<T> {
    /// Moves the part to the heap.
    pub fn new(part: T) -> Self {
        Self(Box::new(part))
    }
}

impl<T> Deref for Heaped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Logic> Logic for Heaped<T> {
    fn update(&mut self) {}
}

impl<T: Block> Block for Heaped<T> {
    only_shown!();

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        self.0.accept(name, probe);
    }
}
