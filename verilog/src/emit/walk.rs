//! Reads a block through rust-hdl's `Probe` into a tree of scopes.

use num_bigint::BigInt;
use rust_hdl::core::ast::Verilog;
use rust_hdl::core::atom::{Atom, AtomKind};
use rust_hdl::core::block::Block;
use rust_hdl::core::probe::Probe;
use rust_hdl::core::timing::TimingInfo;
use rust_hdl::core::type_descriptor::TypeDescriptor;

use super::literal;
use super::names;
use crate::rtl::tree::{self, Tree};

/// A block as the probe sees it.
#[derive(Debug)]
pub(crate) struct Scope {
    /// Canonical path below the parent: field name, name spaces and indices.
    pub(crate) name: String,
    /// Path from the top, with dots.
    pub(crate) path: String,
    pub(crate) atoms: Vec<AtomInfo>,
    pub(crate) children: Vec<Scope>,
    pub(crate) code: Verilog,
    /// The tree that the kernel has built; none if the kernel is plain rust-hdl.
    pub(crate) tree: Option<Tree>,
    pub(crate) timing: Vec<TimingInfo>,
}

/// A signal or a constant of a scope.
#[derive(Debug)]
pub(crate) struct AtomInfo {
    /// Canonical path inside the scope.
    pub(crate) name: String,
    /// Its identity, which handles of kernels name.
    pub(crate) id: usize,
    /// Its name in the text.
    pub(crate) identifier: String,
    pub(crate) kind: AtomKind,
    pub(crate) width: usize,
    pub(crate) descriptor: TypeDescriptor,
    /// The value of a constant.
    pub(crate) value: Option<BigInt>,
}

/// The tree of scopes below `top`, or `None` if the block shows no scope of its own.
pub(crate) fn walk(top: &dyn Block, name: &str) -> Option<Scope> {
    let mut walker = Walker::default();
    top.accept(name, &mut walker);
    walker.root
}

#[derive(Default)]
struct Walker {
    /// The scopes being visited, each with the name spaces open in it.
    stack: Vec<(Scope, Vec<String>)>,
    /// The names of a bundle that has some, while its ports are visited.
    names: Option<Names>,
    root: Option<Scope>,
}

/// How the ports of a bundle are called.
struct Names {
    /// Name spaces that are open with the bundle, its own included.
    depth: usize,
    /// Ports of the scope that are in front of it.
    before: usize,
    own: String,
    between: String,
    input: String,
    output: String,
    order: Vec<String>,
}

impl Names {
    /// The name of a port within the bundle, without the suffix for its direction.
    fn within(&self, path: &str) -> String {
        let parts = path.split('$').skip(self.depth);
        parts.collect::<Vec<_>>().join(&self.between)
    }

    fn identifier(&self, path: &str, kind: AtomKind) -> String {
        let bundle: Vec<_> = path.split('$').take(self.depth).collect();
        let direction = match kind {
            AtomKind::InputParameter => &self.input,
            _ => &self.output,
        };
        let (bundle, own) = (bundle.join("$"), &self.own);
        names::identifier(&format!("{bundle}{own}{}{direction}", self.within(path)))
    }

    /// The place of a port, if the names say one.
    fn rank(&self, path: &str) -> usize {
        let name = self.within(path);
        let place = self.order.iter().position(|port| *port == name);
        place.unwrap_or(self.order.len())
    }
}

impl Walker {
    fn qualified(&self, name: &str) -> String {
        let spaces = self.stack.last().map_or(&[][..], |(_, spaces)| spaces.as_slice());
        spaces
            .iter()
            .map(String::as_str)
            .chain([name])
            .collect::<Vec<_>>()
            .join("$")
    }
}

impl Probe for Walker {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        let name = self.qualified(name);
        let path = match self.stack.last() {
            Some((parent, _)) => format!("{}.{}", parent.path, names::display(&name)),
            None => name.clone(),
        };
        let scope = Scope {
            name,
            path,
            atoms: Vec::new(),
            children: Vec::new(),
            code: node.hdl(),
            tree: tree::take(),
            timing: node.timing(),
        };
        self.stack.push((scope, Vec::new()));
    }

    fn visit_start_namespace(&mut self, name: &str, node: &dyn Block) {
        let Some((scope, spaces)) = self.stack.last_mut() else {
            return;
        };
        spaces.push(name.to_owned());
        if let (None, Verilog::Custom(text)) = (&self.names, node.hdl()) {
            let mut lines = text.lines();
            let mut line = || lines.next().unwrap_or_default().to_owned();
            self.names = Some(Names {
                depth: spaces.iter().map(|space| space.split('$').count()).sum(),
                before: scope.atoms.len(),
                own: line(),
                between: line(),
                input: line(),
                output: line(),
                order: line().split_whitespace().map(str::to_owned).collect(),
            });
        }
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        let name = self.qualified(name);
        let identifier = match &self.names {
            Some(names) => names.identifier(&name, signal.kind()),
            None => names::identifier(&name),
        };
        let atom = AtomInfo {
            name,
            id: signal.id(),
            identifier,
            kind: signal.kind(),
            width: signal.bits(),
            descriptor: signal.descriptor(),
            // The value of a wide signal may be no literal at all; only constants are asked for theirs.
            value: (signal.kind() == AtomKind::Constant)
                .then(|| literal::read(&signal.verilog()))
                .flatten()
                .map(|(value, _)| value),
        };
        if let Some((scope, _)) = self.stack.last_mut() {
            scope.atoms.push(atom);
        }
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        let Some((scope, spaces)) = self.stack.last_mut() else {
            return;
        };
        spaces.pop();
        let depth: usize = spaces.iter().map(|space| space.split('$').count()).sum();
        if let Some(names) = self.names.take_if(|names| depth < names.depth) {
            scope.atoms[names.before..].sort_by_key(|atom| names.rank(&atom.name));
        }
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        let Some((scope, _)) = self.stack.pop() else {
            return;
        };
        match self.stack.last_mut() {
            Some((parent, _)) => parent.children.push(scope),
            None => self.root = Some(scope),
        }
    }
}
