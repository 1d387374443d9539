//! A variant of a module, before all variants of it are known.

use super::design::{Child, Parameter};
use super::file::Body;
use super::parameters::Named;

/// A variant of a module.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its name, unless it becomes one module with others.
    pub(crate) name: String,
    /// The name that it asks for, if it is not called so anyway.
    pub(crate) wish: Option<String>,
    pub(crate) content: Content,
    /// Parameters of a top that can have one value only.
    pub(crate) fixed: Vec<Parameter>,
    pub(crate) origin: Origin,
    /// Other modules that it needs, which its text does not name.
    pub(crate) cores: Vec<String>,
}

/// Data about a module, apart from its text.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    /// The block that it was made of.
    pub(crate) block: String,
    pub(crate) children: Vec<Child>,
    /// Numbers that the kernel names.
    pub(crate) named: Vec<Named>,
}

/// The content of a module: a translated body, or Verilog that is taken verbatim.
#[derive(Debug, PartialEq)]
pub(crate) enum Content {
    Translated(Body),
    Verbatim(String),
}
