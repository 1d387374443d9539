//! The modules of a board, sorted into what is built and what only stands for the vendor's primitives.

use crate::Error;
use crate::render::{File, HEADER, LICENCE};
use spinneret_bsp::PRIMITIVES;
use spinneret_verilog::Library;

/// Folder of the modules.
pub const RTL: &str = "rtl";
/// Folder of the declarations of primitives, which only tools that do not know them may read.
const LINT: &str = "lint";

/// Prefix of the modules that a user's tree could have as well.
const PREFIX: &str = "spinneret_";
/// Names that need no prefix: those of the public design's blocks and of what is inside.
const CONTRACT_PREFIXES: [&str; 2] = ["pspin_", "mqnic_"];

/// The modules of a board.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// What is built, a module after all that it instantiates; paths are below the output directory.
    pub sources: Vec<File>,
    /// Declarations of the vendor's primitives, for lint.
    pub primitives: Vec<File>,
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
            let (list, folder) = if PRIMITIVES.contains(&module.name.as_str()) {
                (&mut contents.primitives, LINT)
            } else {
                (&mut contents.sources, RTL)
            };
            list.push(File {
                name: format!("{folder}/{}.sv", module.name),
                text: format!("{HEADER}\n{LICENCE}\n{}", module.text),
            });
        }
        contents
    }

    /// The list of the sources, in their order.
    pub fn file_list(&self) -> File {
        let mut text = format!("{HEADER}\n{LICENCE}\n");
        text.push_str("// Dependency order; names are relative to this folder (`verilator -F`).\n");
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

/// The error of a design that the back-end cannot translate.
pub(crate) fn backend(module: &'static str) -> impl Fn(spinneret_verilog::Error) -> Error {
    move |source| Error::Backend { module, source }
}
