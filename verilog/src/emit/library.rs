//! The modules of all designs: equal ones once, each under a name of its own.

use std::collections::{BTreeMap, BTreeSet};

use rust_hdl::core::ast::Verilog;
use rust_hdl::core::block::Block;

use super::check::check;
use super::design::{Design, Module, Parameter, Port, TopOptions};
use super::error::Error;
use super::lower::lower;
use super::metadata::Metadata;
use super::module::{self, Body};
use super::names;
use super::plan::plan;
use super::prune::drop_overwritten;
use super::symbols::Symbols;
use super::tables::{self, Instance};
use super::walk::{Scope, walk};

/// Stack of the translation, in bytes: enough for the deepest kernel that is accepted.
const STACK_BYTES: usize = 256 << 20;

/// Name space of modules shared by several top-level designs.
#[derive(Debug, Default)]
pub struct Library {
    entries: Vec<Entry>,
    by_name: BTreeMap<String, usize>,
}

/// A module with what it is compared by.
#[derive(Debug)]
struct Entry {
    module: Module,
    content: Content,
    parameters: Vec<Parameter>,
}

#[derive(Debug, PartialEq)]
enum Content {
    Translated(Body),
    Verbatim(String),
}

/// The ports of a module, each with the comment above it.
type Ports = Vec<(Port, Option<String>)>;

/// What became of a scope.
enum Built {
    /// It has neither ports nor logic.
    Nothing,
    /// It is an instance of the module of this name.
    Module(String),
}

/// How a module gets its name.
enum Naming<'a> {
    Top(&'a str, &'a [Parameter]),
    Child,
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
                let mut builder = Builder { library: self, top: name };
                builder.design(&scope, name, &options.parameters)
            };
            let spawned = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(threads, translate);
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

    fn insert(&mut self, entry: Entry) {
        self.by_name.insert(entry.module.name.clone(), self.entries.len());
        self.entries.push(entry);
    }

    /// The modules that `top` needs, children first.
    fn closure(&self, top: &str) -> Vec<Module> {
        let mut needed = BTreeSet::new();
        let mut open = vec![top];
        while let Some(name) = open.pop() {
            if let Some(index) = self.by_name.get(name)
                && needed.insert(*index)
            {
                open.extend(self.entries[*index].module.instances.iter().map(String::as_str));
            }
        }
        needed.into_iter().map(|index| self.entries[index].module.clone()).collect()
    }
}

fn check_names(name: &str, options: &TopOptions) -> Result<(), Error> {
    let mut seen = BTreeSet::from([name]);
    let parameters = options.parameters.iter().map(|parameter| parameter.name.as_str());
    for identifier in std::iter::once(name).chain(parameters.clone()) {
        if !names::is_identifier(identifier) {
            return Err(Error::Identifier { path: name.to_owned(), name: identifier.to_owned() });
        }
    }
    for parameter in parameters {
        if !seen.insert(parameter) {
            return Err(clash(name, parameter));
        }
    }
    Ok(())
}

fn clash(top: &str, name: &str) -> Error {
    Error::NameClash {
        path: top.to_owned(),
        first: name.to_owned(),
        second: name.to_owned(),
        identifier: name.to_owned(),
    }
}

struct Builder<'a> {
    library: &'a mut Library,
    top: &'a str,
}

impl Builder<'_> {
    fn design(&mut self, scope: &Scope, name: &str, parameters: &[Parameter]) -> Result<Design, Error> {
        let ports = match self.build(scope, &Naming::Top(name, parameters))? {
            (Built::Module(_), ports) => ports.into_iter().map(|(port, _)| port).collect(),
            (Built::Nothing, _) => Vec::new(),
        };
        Ok(Design { name: name.to_owned(), modules: self.library.closure(name), ports })
    }

    fn build(&mut self, scope: &Scope, naming: &Naming<'_>) -> Result<(Built, Ports), Error> {
        match &scope.code {
            Verilog::Combinatorial(_) | Verilog::Empty => self.kernel(scope, naming),
            Verilog::Custom(text) => self.custom(scope, text, false, naming),
            Verilog::Wrapper(wrapper) => {
                let cores = self.external(scope, &wrapper.cores)?;
                let (built, ports) = self.custom(scope, &wrapper.code, true, naming)?;
                if let (Built::Module(name), Some(cores)) = (&built, cores)
                    && let Some(index) = self.library.by_name.get(name)
                {
                    let instances = &mut self.library.entries[*index].module.instances;
                    if !instances.contains(&cores) {
                        instances.push(cores);
                    }
                }
                Ok((built, ports))
            }
            Verilog::Blackbox(blackbox) => {
                let (symbols, _) = tables::of_atoms(scope)?;
                let declared = self.external(scope, &blackbox.code)?;
                if matches!(naming, Naming::Top(..)) || declared.as_deref() != Some(blackbox.name.as_str()) {
                    return Err(Error::Unsupported {
                        path: scope.path.clone(),
                        construct: format!("black box {}", blackbox.name),
                        advice: "its code must declare the module of that name first, and it cannot be the top",
                    });
                }
                Ok((Built::Module(blackbox.name.clone()), symbols.ports(&Metadata::default())))
            }
        }
    }

    fn kernel(&mut self, scope: &Scope, naming: &Naming<'_>) -> Result<(Built, Ports), Error> {
        let mut instances = Vec::new();
        for child in scope.children.iter().filter(|child| tables::register_shape(child).is_none()) {
            if let (Built::Module(module), _) = self.build(child, &Naming::Child)? {
                instances.push(Instance { scope: child, module });
            }
        }
        let mut used: Vec<String> = Vec::new();
        for instance in &instances {
            if !used.contains(&instance.module) {
                used.push(instance.module.clone());
            }
        }
        let (symbols, identifiers) = tables::of_kernel(scope, instances)?;
        let statements = match &scope.code {
            Verilog::Combinatorial(block) => block.as_slice(),
            _ => &[],
        };
        let mut kernel = lower(&symbols, statements)?;
        check(&symbols, &kernel.statements)?;
        drop_overwritten(&mut kernel.statements);
        let ports = symbols.ports(&kernel.metadata);
        let is_child = matches!(naming, Naming::Child);
        if is_child && ports.is_empty() && symbols.children.is_empty() {
            return Ok((Built::Nothing, ports));
        }
        self.check_parameters(naming, |name| identifiers.is_taken(name))?;
        let plan = plan(&symbols, &kernel.statements);
        let body = Body {
            doc: kernel.metadata.doc.clone(),
            ports: module::port_list(&ports, false),
            content: module::content(&symbols, &kernel, &plan),
        };
        let name = self.name(scope, naming, kernel.metadata.module.as_deref(), body, used)?;
        Ok((Built::Module(name), ports))
    }

    /// A module whose body is given as Verilog.
    fn custom(
        &mut self,
        scope: &Scope,
        text: &str,
        wrapper: bool,
        naming: &Naming<'_>,
    ) -> Result<(Built, Ports), Error> {
        // What a wrapper holds in Rust is its simulation model only.
        if !wrapper && let Some(child) = scope.children.first() {
            return Err(Error::Unsupported {
                path: scope.path.clone(),
                construct: names::display(&child.name),
                advice: "a block whose body is verbatim Verilog cannot have sub-blocks: use a `Wrapper`",
            });
        }
        let mut metadata = Metadata::default();
        let text = metadata.take_head(text);
        let (symbols, identifiers) = tables::of_atoms(scope)?;
        self.check_parameters(naming, |name| identifiers.is_taken(name))?;
        let ports = symbols.ports(&metadata);
        let body = Body {
            doc: metadata.doc.clone(),
            ports: module::port_list(&ports, wrapper),
            content: verbatim_content(&symbols, text),
        };
        let name = self.name(scope, naming, metadata.module.as_deref(), body, Vec::new())?;
        Ok((Built::Module(name), ports))
    }

    fn check_parameters(&self, naming: &Naming<'_>, taken: impl Fn(&str) -> bool) -> Result<(), Error> {
        let Naming::Top(top, parameters) = naming else { return Ok(()) };
        match parameters.iter().find(|parameter| taken(&parameter.name)) {
            Some(parameter) => Err(clash(top, &parameter.name)),
            None => Ok(()),
        }
    }

    /// Finds or adds the module with this body and returns its name.
    fn name(
        &mut self,
        scope: &Scope,
        naming: &Naming<'_>,
        wish: Option<&str>,
        body: Body,
        instances: Vec<String>,
    ) -> Result<String, Error> {
        if let Naming::Top(name, parameters) = naming {
            return self.top_module(name, parameters, body, instances);
        }
        let field = names::identifier(&names::without_index(&scope.name));
        let base = wish.unwrap_or(&field);
        if !names::is_identifier(base) {
            return Err(Error::Identifier { path: scope.path.clone(), name: base.to_owned() });
        }
        let content = Content::Translated(body);
        let equal = self.library.entries.iter().find(|entry| entry.content == content);
        if let (None, Some(entry)) = (wish, equal) {
            return Ok(entry.module.name.clone());
        }
        let mut name = base.to_owned();
        for number in 1_usize.. {
            match self.library.find(&name) {
                Some(entry) if entry.content == content => return Ok(name),
                None if name != self.top => break,
                _ => name = format!("{base}_{number}"),
            }
        }
        self.insert(&name, content, &[], instances);
        Ok(name)
    }

    fn top_module(
        &mut self,
        name: &str,
        parameters: &[Parameter],
        body: Body,
        instances: Vec<String>,
    ) -> Result<String, Error> {
        let content = Content::Translated(body);
        match self.library.find(name) {
            None => self.insert(name, content, parameters, instances),
            Some(entry) if entry.content == content && entry.parameters == parameters => {}
            Some(_) => return Err(Error::ModuleNameTaken { path: name.to_owned(), name: name.to_owned() }),
        }
        Ok(name.to_owned())
    }

    fn insert(
        &mut self,
        name: &str,
        content: Content,
        parameters: &[Parameter],
        instances: Vec<String>,
    ) {
        let (text, doc) = match &content {
            Content::Translated(body) => (module::file(name, body, parameters), body.doc.join("\n")),
            Content::Verbatim(code) => (module::verbatim_file(code), String::new()),
        };
        let module = Module { name: name.to_owned(), text, doc, instances };
        self.library.insert(Entry { module, content, parameters: parameters.to_vec() });
    }

    /// Adds verbatim modules and returns the name of the first one, if there is any.
    fn external(&mut self, scope: &Scope, code: &str) -> Result<Option<String>, Error> {
        if code.trim().is_empty() {
            return Ok(None);
        }
        let Some(name) = declared_module(code) else {
            return Err(Error::Unsupported {
                path: scope.path.clone(),
                construct: "verbatim Verilog of an external core".to_owned(),
                advice: "it must declare the module that it stands for",
            });
        };
        let content = Content::Verbatim(code.to_owned());
        match self.library.find(name) {
            Some(entry) if entry.content == content => {}
            None if name != self.top => self.insert(name, content, &[], Vec::new()),
            _ => {
                return Err(Error::ModuleNameTaken { path: scope.path.clone(), name: name.to_owned() });
            }
        }
        Ok(Some(name.to_owned()))
    }
}

/// The name of the first module that verbatim Verilog declares.
fn declared_module(code: &str) -> Option<&str> {
    let mut words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.find(|word| *word == "module")?;
    words.next().filter(|name| names::is_identifier(name))
}

/// Verbatim Verilog with the declarations of the constants and signals of its block that it uses.
fn verbatim_content(symbols: &Symbols, text: &str) -> String {
    use super::ir::{ConstantId, SignalId};
    use super::symbols::Role;
    let words: BTreeSet<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$').collect();
    let mut out = String::from("\n");
    for (number, constant) in symbols.constants.iter().enumerate() {
        if !constant.is_enum_value && words.contains(constant.identifier.as_str()) {
            out.push_str(&module::constant(symbols, ConstantId(number)));
        }
    }
    for (number, signal) in symbols.signals.iter().enumerate() {
        if signal.role == Role::Local && words.contains(signal.identifier.as_str()) {
            out.push_str(&module::net(symbols, SignalId(number), ""));
        }
    }
    for text in text.trim_matches('\n').trim_end().lines() {
        let text = text.trim_end();
        if !text.is_empty() {
            out.push_str("    ");
        }
        out.push_str(text);
        out.push('\n');
    }
    out
}
