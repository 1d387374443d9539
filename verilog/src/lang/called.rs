//! Bundles whose ports are called otherwise than their fields.

use super::connect::{Leaf, Names, Ports, Root};
use rust_hdl::prelude::{Atom, Block, Logic, Probe, Verilog};
use std::ops::{Deref, DerefMut};

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

impl<B> DerefMut for Called<B> {
    fn deref_mut(&mut self) -> &mut B {
        &mut self.bundle
    }
}

impl<B: Block> Logic for Called<B> {
    fn update(&mut self) {}

    fn hdl(&self) -> Verilog {
        Verilog::Custom(self.names.text())
    }
}

impl<B: Block> Block for Called<B> {
    fn connect_all(&mut self) {
        self.bundle.connect_all();
    }

    fn update_all(&mut self) {
        self.bundle.update_all();
    }

    fn has_changed(&self) -> bool {
        self.bundle.has_changed()
    }

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

impl<B: Ports> Ports for Called<B> {
    fn leaves<'a>(&'a mut self, path: &str, found: &mut Vec<Leaf<'a>>) {
        self.bundle.leaves(path, found);
    }
}

impl<B: Root> Root for Called<B> {
    const IS_PART: bool = B::IS_PART;
}
