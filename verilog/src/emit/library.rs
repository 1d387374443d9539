//! The modules of all designs: equal ones once, each variant under a name of its own.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use rust_hdl::core::block::Block;

use super::build::Builder;
use super::design::{Child, Design, Module, Parameter, TopOptions};
use super::error::Error;
use super::family;
use super::file::Body;
use super::names;
use super::parameters::Named;
use super::walk::walk;

/// Stack of the translation, in bytes: enough for the deepest kernel that is accepted.
const STACK_BYTES: usize = 256 << 20;

/// Name space of modules shared by several top-level designs.
#[derive(Debug, Default)]
pub struct Library {
    entries: Vec<Entry>,
    by_name: BTreeMap<String, usize>,
    prefix: Prefix,
}

/// What is put before the names of sub-blocks, and which names need nothing before them.
#[derive(Debug, Default)]
struct Prefix {
    text: String,
    kept: Vec<String>,
}

impl Prefix {
    /// The name with the prefix, unless it begins as those that are kept.
    fn apply<'a>(&self, name: &'a str) -> Cow<'a, str> {
        if self.kept.iter().any(|kept| name.starts_with(kept)) {
            Cow::Borrowed(name)
        } else {
            Cow::Owned(format!("{}{name}", self.text))
        }
    }
}

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

/// What is known of a module beside its text.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    /// The block that it was made of.
    pub(crate) block: String,
    pub(crate) children: Vec<Child>,
    /// Numbers that the kernel names.
    pub(crate) named: Vec<Named>,
}

/// What a module is made of.
#[derive(Debug, PartialEq)]
pub(crate) enum Content {
    Translated(Body),
    Verbatim(String),
}

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
        Self {
            prefix: Prefix {
                text: prefix.to_owned(),
                kept: kept.map(|kept| (*kept).to_owned()).collect(),
            },
            ..Self::default()
        }
    }

    /// The same, but no name stays as it is: two variants of a design, each of a library of its own with a prefix of its
    /// own, can be compiled together.
    #[must_use]
    pub fn with_prefix_for_all(prefix: &str) -> Self {
        Self {
            prefix: Prefix {
                text: prefix.to_owned(),
                kept: Vec::new(),
            },
            ..Self::default()
        }
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
        family::modules(&self.entries)
    }

    /// The name that a sub-block gets which asks for `name`.
    pub(crate) fn child_name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        self.prefix.apply(name)
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
                    library: self,
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

    fn find(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name).map(|index| &self.entries[*index])
    }

    /// Adds the module of a top-level design, unless it is there already.
    pub(crate) fn place_top(
        &mut self,
        name: &str,
        parameters: &[Parameter],
        body: Body,
        origin: Origin,
    ) -> Result<(), Error> {
        let content = Content::Translated(body);
        match self.find(name) {
            None => self.insert(name, None, content, parameters, origin),
            Some(entry) if entry.content == content && entry.fixed == parameters => {}
            Some(_) => {
                return Err(Error::ModuleNameTaken {
                    path: name.to_owned(),
                    name: name.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Finds or adds the module of a sub-block and returns its name: `base`, with a number if another module
    /// has that name. If the block does not insist on its name, any equal module will do.
    pub(crate) fn place_child(
        &mut self,
        base: &str,
        insists: bool,
        top: &str,
        body: Body,
        origin: Origin,
    ) -> String {
        let content = Content::Translated(body);
        let equal = self.entries.iter().find(|entry| entry.content == content);
        if let (false, Some(entry)) = (insists, equal) {
            return entry.name.clone();
        }
        let mut name = base.to_owned();
        for number in 1_usize.. {
            match self.find(&name) {
                Some(entry) if entry.content == content => return name,
                None if name != top => break,
                _ => name = format!("{base}_{number}"),
            }
        }
        self.insert(&name, Some(base.to_owned()), content, &[], origin);
        name
    }

    /// Adds a verbatim module; false if another module has its name.
    pub(crate) fn place_verbatim(&mut self, name: &str, code: &str) -> bool {
        let content = Content::Verbatim(code.to_owned());
        match self.find(name) {
            Some(entry) => entry.content == content,
            None => {
                self.insert(name, None, content, &[], Origin::default());
                true
            }
        }
    }

    /// Notes that a module instantiates another one.
    pub(crate) fn add_instance(&mut self, name: &str, instance: String) {
        if let Some(index) = self.by_name.get(name) {
            let cores = &mut self.entries[*index].cores;
            if !cores.contains(&instance) {
                cores.push(instance);
            }
        }
    }

    fn insert(
        &mut self,
        name: &str,
        wish: Option<String>,
        content: Content,
        fixed: &[Parameter],
        origin: Origin,
    ) {
        self.by_name.insert(name.to_owned(), self.entries.len());
        self.entries.push(Entry {
            name: name.to_owned(),
            wish,
            content,
            fixed: fixed.to_vec(),
            origin,
            cores: Vec::new(),
        });
    }

    /// The modules that `top` needs, children first.
    pub(crate) fn closure(&self, top: &str) -> Vec<Module> {
        let modules = self.modules();
        let by_name: BTreeMap<&str, &Module> = modules
            .iter()
            .map(|module| (module.name.as_str(), module))
            .collect();
        let mut needed = BTreeSet::new();
        let mut open = vec![top];
        while let Some(name) = open.pop() {
            if let Some(module) = by_name.get(name)
                && needed.insert(name)
            {
                open.extend(module.instances.iter().map(String::as_str));
            }
        }
        modules
            .iter()
            .filter(|module| needed.contains(module.name.as_str()))
            .cloned()
            .collect()
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

/// The error of a name that stands for two things in the top module.
pub(crate) fn clash(top: &str, name: &str) -> Error {
    Error::NameClash {
        path: top.to_owned(),
        first: name.to_owned(),
        second: name.to_owned(),
        identifier: name.to_owned(),
    }
}
