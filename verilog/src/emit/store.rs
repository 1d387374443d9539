//! The content of a library: the variants of all modules by name.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::design::{Module, Parameter};
use super::entry::{Content, Entry, Origin};
use super::error::Error;
use super::family;
use super::file::Body;

/// The modules of all designs that were added.
#[derive(Debug, Default)]
pub(crate) struct Store {
    entries: Vec<Entry>,
    by_name: BTreeMap<String, usize>,
    prefix: Prefix,
}

/// The prefix for the names of sub-blocks, and the names that get none.
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

impl Store {
    /// An empty one, whose sub-blocks get the prefix unless their names begin with one of `kept`.
    pub(crate) fn with_prefix(prefix: &str, kept: Vec<String>) -> Self {
        Self {
            prefix: Prefix {
                text: prefix.to_owned(),
                kept,
            },
            ..Self::default()
        }
    }

    /// The modules, each once, children before those that instantiate them.
    pub(crate) fn modules(&self) -> Vec<Module> {
        family::modules(&self.entries)
    }

    /// The name that a sub-block gets which asks for `name`.
    pub(crate) fn child_name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        self.prefix.apply(name)
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
