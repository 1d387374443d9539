//! The modules of a board, sorted into what is built and what only stands for others' modules.

use crate::Error;
use crate::render::{File, HEADER, LICENCE};
use spinneret_verilog::Library;

/// Folder of the modules.
pub const RTL: &str = "rtl";
/// Folder of the declarations of modules that come from elsewhere, which only tools that lack those may read.
pub(super) const LINT: &str = "lint";

/// Prefix of the modules that a user's tree could have as well.
const PREFIX: &str = "spinneret_";
/// Names that need no prefix: those of the public design's blocks and of what is inside.
const CONTRACT_PREFIXES: [&str; 2] = ["pspin_", "mqnic_"];
/// What marks a declaration without content.
const BLACK_BOX: &str = "(* blackbox *)";

/// The modules of a board.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// What is built, a module after all that it instantiates; paths are below the output directory.
    pub sources: Vec<File>,
    /// Declarations of modules that come from elsewhere, such as the vendor's primitives, for lint.
    pub declarations: Vec<File>,
}

impl Contents {
    /// An empty library for the modules of a board.
    pub fn library() -> Library {
        Library::with_prefix(PREFIX, &CONTRACT_PREFIXES)
    }

    /// The modules of all designs of a library.
    pub fn of(library: &Library) -> Self {
        let mut contents = Self::default();
        for module in library.modules() {
            contents.add(&module.name, &module.text);
        }
        contents
    }

    /// Adds a module behind those that it instantiates.
    pub fn add(&mut self, name: &str, text: &str) {
        if text.contains(BLACK_BOX) {
            self.declarations.push(verilog_file(LINT, name, text));
        } else {
            self.sources.push(verilog_file(RTL, name, text));
        }
    }

    /// The list of the sources, in their order; `top` is the module that they are for.
    pub fn file_list(&self, top: &str) -> File {
        let mut text = format!("{HEADER}\n{LICENCE}\n");
        text.push_str("// Dependency order; names are relative to this folder (`verilator -F`).\n");
        text.push_str(&format!("// block: {top}\n"));
        for file in &self.sources {
            text.push_str(&file.name);
            text.push('\n');
        }
        File {
            name: crate::render::FILE_LIST.to_owned(),
            text,
        }
    }
}

/// Verilog in a file of its own.
pub(super) fn verilog_file(folder: &str, name: &str, text: &str) -> File {
    File {
        name: format!("{folder}/{name}.sv"),
        text: format!("{HEADER}\n{LICENCE}\n{}\n", text.trim_end()),
    }
}

/// The error of a design that the back-end cannot translate.
pub(super) fn backend(module: &'static str) -> impl Fn(spinneret_verilog::Error) -> Error {
    move |source| Error::Backend { module, source }
}
