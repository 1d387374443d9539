//! What the back-end hands out: designs, their modules and their ports.

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
