//! Bundles whose ports have other names than their fields.

use super::only_shown;
use rust_hdl::prelude::{Atom, Block, Logic, Probe, Verilog};
use std::ops::Deref;

/// The names of a bundle's ports in the generated text, where they differ from the names of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// The text after the bundle's own name.
    pub own: &'static str,
    /// The separator between the parts of a name within the bundle.
    pub between: &'static str,
    /// The suffix of inputs.
    pub input: &'static str,
    /// The suffix of outputs.
    pub output: &'static str,
    /// The order of the ports: their names within the bundle without suffixes, separated by spaces. Empty: the order of
    /// the fields.
    pub order: &'static str,
}

impl Names {
    /// Names as the fields have them.
    pub const OF_FIELDS: Self = Self {
        own: "_",
        between: "_",
        input: "",
        output: "",
        order: "",
    };

    /// The names as a bundle tells them to the back-end.
    pub fn text(self) -> String {
        let Self {
            own,
            between,
            input,
            output,
            order,
        } = self;
        [own, between, input, output, order].join("\n")
    }
}

/// A bundle of ports with names of its own in the generated text; a kernel uses it as the bundle that it is.
#[derive(Clone, Debug)]
pub struct Called<B> {
    bundle: B,
    names: Names,
}

impl<B> Called<B> {
    /// The bundle with these names.
    pub fn new(bundle: B, names: Names) -> Self {
        Self { bundle, names }
    }
}

impl<B> Deref for Called<B> {
    type Target = B;

    fn deref(&self) -> &B {
        &self.bundle
    }
}

impl<B: Block> Logic for Called<B> {
    fn update(&mut self) {}

    fn hdl(&self) -> Verilog {
        Verilog::Custom(self.names.text())
    }
}

impl<B: Block> Block for Called<B> {
    only_shown!();

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        let mut probe = InNameOf {
            probe,
            called: self,
            depth: 0,
        };
        self.bundle.accept(name, &mut probe);
    }
}

/// Shows the name space of a bundle in the name of what wraps it.
struct InNameOf<'a> {
    probe: &'a mut dyn Probe,
    called: &'a dyn Block,
    depth: usize,
}

impl Probe for InNameOf<'_> {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        self.probe.visit_start_scope(name, node);
    }

    fn visit_start_namespace(&mut self, name: &str, node: &dyn Block) {
        let node = if self.depth == 0 { self.called } else { node };
        self.depth += 1;
        self.probe.visit_start_namespace(name, node);
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        self.probe.visit_atom(name, signal);
    }

    fn visit_end_namespace(&mut self, name: &str, node: &dyn Block) {
        self.depth -= 1;
        self.probe.visit_end_namespace(name, node);
    }

    fn visit_end_scope(&mut self, name: &str, node: &dyn Block) {
        self.probe.visit_end_scope(name, node);
    }
}
