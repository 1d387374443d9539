//! The output of the back-end: designs, their modules and their ports.

use std::collections::BTreeMap;
use std::fmt;

/// One top-level design with every module it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// Name of the top module.
    pub name: String,
    /// All modules: children before the modules that instantiate them, the top last.
    pub modules: Vec<Module>,
    /// Ports of the top module in the order of the Rust fields.
    pub ports: Vec<Port>,
}

impl Design {
    /// Every instance below the top, each before those in it, in the order of the text.
    #[must_use]
    pub fn instances(&self) -> Vec<Instance<'_>> {
        let mut found = Vec::new();
        if let Some(top) = self.module(&self.name) {
            self.collect(top, &[], &mut found);
        }
        found
    }

    fn module(&self, name: &str) -> Option<&Module> {
        self.modules.iter().find(|module| module.name == name)
    }

    fn collect<'a>(&'a self, module: &'a Module, above: &[&'a Child], found: &mut Vec<Instance<'a>>) {
        for child in &module.children {
            let path = [above, &[child]].concat();
            if let Some(inner) = self.module(&child.module) {
                found.push(Instance {
                    module: inner,
                    path: path.clone(),
                });
                self.collect(inner, &path, found);
            }
        }
    }

    /// The text of all modules, children first, as one source file.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.modules.iter().map(|module| module.text.as_str()).collect();
        texts.join("\n")
    }
}

/// One SystemVerilog module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Name of the module.
    pub name: String,
    /// A complete source file: header comment, `` `default_nettype none ``, the module, `` `default_nettype wire ``.
    pub text: String,
    /// The `doc:` lines of the block, joined by line feeds.
    pub doc: String,
    /// Names of the modules that this one instantiates, each once, in order of first use.
    pub instances: Vec<String>,
    /// Name of the block that it was made of, whatever the parameters; empty if the block does not say.
    pub block: String,
    /// Its instances, in the order of the text.
    pub children: Vec<Child>,
}

/// One instance of a module within another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// Name of the instance.
    pub name: String,
    /// Name of its module.
    pub module: String,
    /// Inputs that are connected to a signal of the module around it, with the name of that signal.
    pub connections: BTreeMap<String, String>,
}

/// One instance of a module in a design.
#[derive(Clone, Debug)]
pub struct Instance<'a> {
    /// Its module.
    pub module: &'a Module,
    /// The instances around it, the outermost first, and itself.
    path: Vec<&'a Child>,
}

impl Instance<'_> {
    /// Its path below the top, with slashes as in constraints.
    #[must_use]
    pub fn path(&self) -> String {
        let names: Vec<&str> = self.path.iter().map(|child| child.name.as_str()).collect();
        names.join("/")
    }

    /// Where an input comes from, for inputs that signals are connected to directly, such as clocks: the
    /// port of the top, or else the path of a signal below it.
    #[must_use]
    pub fn source(&self, input: &str) -> Option<String> {
        let (child, mut above) = self.path.split_last()?;
        let mut signal = child.connections.get(input)?;
        while let Some((parent, rest)) = above.split_last() {
            match parent.connections.get(signal) {
                Some(outside) => (signal, above) = (outside, rest),
                None => break,
            }
        }
        let mut names: Vec<&str> = above.iter().map(|child| child.name.as_str()).collect();
        names.push(signal);
        Some(names.join("/"))
    }
}

/// One port of a top-level design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Name in the Verilog text.
    pub name: String,
    /// Direction as seen from inside the design.
    pub direction: PortDirection,
    /// Width in bits, at least 1.
    pub width: usize,
    /// Whether the port is declared `signed`.
    pub signed: bool,
    /// Documentation of the port; empty if there is none.
    pub doc: String,
}

/// Direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PortDirection {
    /// Driven from outside.
    Input,
    /// Driven by the design.
    Output,
    /// Driven from either side, one at a time.
    InOut,
}

impl fmt::Display for PortDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::InOut => "inout",
        })
    }
}

/// How the top module of a design is to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopOptions {
    /// Parameters to declare on the top module, in order.
    pub parameters: Vec<Parameter>,
}

/// A parameter declared on a top module.
///
/// The widths of a generated design are fixed, so the parameter changes nothing: it lets an instantiation
/// that sets it elaborate, and makes elaboration fail when it is set to another value than [`Parameter::value`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name in the Verilog text.
    pub name: String,
    /// The only value that elaborates.
    pub value: u64,
    /// Documentation; empty if there is none.
    pub doc: String,
}
