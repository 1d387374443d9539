//! The modules of all designs: equal ones once, each variant under a name of its own.

use std::collections::BTreeSet;

use rust_hdl::core::block::Block;

use super::build::Builder;
use super::design::{Design, Module, TopOptions};
use super::error::{Error, clash};
use super::names;
use super::store::Store;
use super::walk::walk;

/// Stack of the translation, in bytes: enough for the deepest kernel that is accepted.
const STACK_BYTES: usize = 256 << 20;

/// Name space of modules shared by several top-level designs.
#[derive(Debug, Default)]
pub struct Library(Store);

/// Translates one block into a design in a library of its own.
///
/// The top module is called `name` and its ports are called as the fields of the block.
///
/// # Errors
/// Returns an [`Error`] with the path of the block and the construct if anything in the design has no
/// certain translation.
pub fn generate(top: &dyn Block, name: &str) -> Result<Design, Error> {
    Library::new().add(top, name, &TopOptions::default())
}

impl Library {
    /// An empty library.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty library in which the modules of sub-blocks are called `prefix` and their own name, so that
    /// they do not meet modules of other sources that are compiled with them.
    ///
    /// Names that begin with `prefix` or with one of `kept` stay as they are. So do the names of top-level
    /// designs, which the caller chooses, and those of verbatim modules and black boxes, which others know.
    #[must_use]
    pub fn with_prefix(prefix: &str, kept: &[&str]) -> Self {
        let kept = kept.iter().chain([&prefix]);
        Self(Store::with_prefix(
            prefix,
            kept.map(|kept| (*kept).to_owned()).collect(),
        ))
    }

    /// The same, but no name stays as it is: two variants of a design, each of a library of its own with a prefix of its
    /// own, can be compiled together.
    #[must_use]
    pub fn with_prefix_for_all(prefix: &str) -> Self {
        Self(Store::with_prefix(prefix, Vec::new()))
    }

    /// The modules of all designs that were added, each once, children before those that instantiate them.
    ///
    /// Variants of a block that differ in numbers which its kernel names are one module with parameters. So a module may have
    /// another text, and another name, when designs are added.
    ///
    /// Several top-level designs that go into one build are added to one library one after the other; a
    /// top that is a sub-block of another one has to be added first.
    #[must_use]
    pub fn modules(&self) -> Vec<Module> {
        self.0.modules()
    }

    /// Adds a top-level design under the given name and returns it with all modules it needs.
    ///
    /// Modules that are equal to one in the library are shared with the designs added before.
    ///
    /// # Errors
    /// Returns an [`Error`] with the path of the block and the construct if anything in the design has no
    /// certain translation, or if the library holds another module of this name. The library may then hold
    /// sub-blocks of the design; they do no harm to later designs.
    pub fn add(&mut self, top: &dyn Block, name: &str, options: &TopOptions) -> Result<Design, Error> {
        check_names(name, options)?;
        let scope = walk(top, name).ok_or_else(|| Error::Unsupported {
            path: name.to_owned(),
            construct: name.to_owned(),
            advice: "the top must be one block, not an array or an interface",
        })?;
        // Kernels may nest deeper than the stack of a thread lets a recursion go. The tree moves to the
        // thread as dropping it recurses as well.
        std::thread::scope(|threads| {
            let translate = move || {
                let mut builder = Builder {
                    store: &mut self.0,
                    top: name,
                };
                builder.design(&scope, name, &options.parameters)
            };
            let spawned = std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(threads, translate);
            match spawned.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(design)) => design,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(_) => Err(Error::Unsupported {
                    path: name.to_owned(),
                    construct: name.to_owned(),
                    advice: "the system refuses a thread with the stack that the translation needs",
                }),
            }
        })
    }
}

fn check_names(name: &str, options: &TopOptions) -> Result<(), Error> {
    let mut seen = BTreeSet::from([name]);
    let parameters = options.parameters.iter().map(|parameter| parameter.name.as_str());
    for identifier in std::iter::once(name).chain(parameters.clone()) {
        if !names::is_identifier(identifier) {
            return Err(Error::Identifier {
                path: name.to_owned(),
                name: identifier.to_owned(),
            });
        }
    }
    for parameter in parameters {
        if !seen.insert(parameter) {
            return Err(clash(name, parameter));
        }
    }
    Ok(())
}
