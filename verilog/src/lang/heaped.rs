//! Parts of a block that live on the heap.

use super::clocked::Clocked;
use rust_hdl::core::ast::VerilogStatement;
use rust_hdl::prelude::{Block, Clock, Logic, Probe};
use std::ops::{Deref, DerefMut};

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

impl<T> DerefMut for Heaped<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Logic> Logic for Heaped<T> {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.0.connect();
    }
}

impl<T: Block> Block for Heaped<T> {
    fn connect_all(&mut self) {
        self.0.connect_all();
    }

    fn update_all(&mut self) {
        self.0.update_all();
    }

    fn has_changed(&self) -> bool {
        self.0.has_changed()
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        self.0.accept(name, probe);
    }
}

impl<T: Clocked> Clocked for Heaped<T> {
    fn drive_clock(&mut self, clk: Clock, rst: Option<bool>) {
        self.0.drive_clock(clk, rst);
    }

    fn connect_clock(&mut self, with_reset: bool) {
        self.0.connect_clock(with_reset);
    }

    fn clock_statements(&self, name: &str, clk: &str, rst: Option<&str>) -> Vec<VerilogStatement> {
        self.0.clock_statements(name, clk, rst)
    }
}
