//! Builds the modules of a design, children first.

use std::collections::BTreeMap;

use rust_hdl::core::ast::Verilog;

use super::check::check;
use super::design::{Child, Design, Parameter, Port};
use super::domains::check_domains;
use super::elaborate::{Kernel, elaborate};
use super::entry::Origin;
use super::error::{Error, clash};
use super::file::Body;
use super::ir::{Kind, SignalId};
use super::metadata::{Metadata, ModuleParameter};
use super::module;
use super::names;
use super::plain;
use super::plan::{Plan, plan};
use super::prune::{drop_overwritten, drop_unread};
use super::records::Views;
use super::store::Store;
use super::symbols::{self, Symbols};
use super::tables::{self, Instance, Made};
use super::verbatim;
use super::walk::Scope;

/// The ports of a module, each with the comment above it.
type Ports = Vec<(Port, Option<String>)>;

/// The result of building a scope.
enum Built {
    /// It has neither ports nor logic.
    Nothing,
    /// It is an instance of this module.
    Module(Made),
}

/// How a module gets its name.
enum Naming<'a> {
    Top(&'a str, &'a [Parameter]),
    Child,
}

/// Builds the modules of one design into the store of a library.
pub(crate) struct Builder<'a> {
    pub(crate) store: &'a mut Store,
    /// Name of the top module, which no other module may take.
    pub(crate) top: &'a str,
}

impl Builder<'_> {
    /// Builds the top and everything below it.
    pub(crate) fn design(
        &mut self,
        scope: &Scope,
        name: &str,
        parameters: &[Parameter],
    ) -> Result<Design, Error> {
        let ports = match self.build(scope, &Naming::Top(name, parameters))? {
            (Built::Module(_), ports) => ports.into_iter().map(|(port, _)| port).collect(),
            (Built::Nothing, _) => Vec::new(),
        };
        Ok(Design {
            name: name.to_owned(),
            modules: self.store.closure(name),
            ports,
        })
    }

    fn build(&mut self, scope: &Scope, naming: &Naming<'_>) -> Result<(Built, Ports), Error> {
        match &scope.code {
            Verilog::Combinatorial(_) | Verilog::Empty => self.kernel(scope, naming),
            Verilog::Custom(text) => self.custom(scope, text, false, naming),
            Verilog::Wrapper(wrapper) => {
                let cores = self.external(scope, &wrapper.cores)?;
                let (built, ports) = self.custom(scope, &wrapper.code, true, naming)?;
                if let (Built::Module(made), Some(cores)) = (&built, cores) {
                    self.store.add_instance(&made.name, cores);
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
                Ok((
                    Built::Module(Made {
                        name: blackbox.name.clone(),
                        parameters: Vec::new(),
                    }),
                    symbols.ports(&Metadata::default()),
                ))
            }
        }
    }

    fn kernel(&mut self, scope: &Scope, naming: &Naming<'_>) -> Result<(Built, Ports), Error> {
        let mut instances = Vec::new();
        for child in scope
            .children
            .iter()
            .filter(|child| tables::register_shape(child).is_none())
        {
            if let (Built::Module(module), _) = self.build(child, &Naming::Child)? {
                instances.push(Instance { scope: child, module });
            }
        }
        let (mut symbols, mut identifiers) = tables::of_kernel(scope, instances)?;
        let plain = match (&scope.tree, &scope.code) {
            (None, Verilog::Combinatorial(statements)) => plain::translate(scope, statements),
            _ => None,
        };
        let mut kernel = match scope.tree.as_ref().or(plain.as_ref()) {
            Some(tree) => elaborate(&mut symbols, &mut identifiers, tree)?,
            None => Kernel::default(),
        };
        check(&symbols, &kernel.statements)?;
        check_domains(&symbols, &kernel.statements)?;
        drop_unread(&symbols, &mut kernel.statements, &kernel.checks);
        drop_overwritten(&mut kernel.statements);
        let ports = symbols.ports(&kernel.metadata);
        let is_child = matches!(naming, Naming::Child);
        if is_child && ports.is_empty() && symbols.children.is_empty() {
            return Ok((Built::Nothing, ports));
        }
        self.check_parameters(naming, |name| identifiers.is_taken(name))?;
        let plan = plan(&symbols, &kernel.statements, kernel.checks);
        let views = Views::new(&symbols, &mut identifiers, kernel.records, &plan)?;
        let (content, names) = module::content(&symbols, &kernel.metadata, &plan, &views);
        let body = Body {
            doc: kernel.metadata.doc.clone(),
            parameters: Vec::new(),
            ports: ports.clone(),
            output_nets: false,
            ranges: BTreeMap::new(),
            initials: module::initial_outputs(&symbols),
            content,
        };
        let children = symbols.children.iter().zip(names);
        let origin = Origin {
            block: kernel.metadata.block.clone().unwrap_or_default(),
            children: children
                .map(|(child, name)| child_of(&symbols, &plan, child, name))
                .collect(),
            named: match is_child {
                true => kernel.metadata.named.clone(),
                // Tops are what they are asked to be; everything below them serves several.
                false => Vec::new(),
            },
        };
        let name = self.place(scope, naming, kernel.metadata.module.as_deref(), body, origin)?;
        let made = Made {
            name,
            parameters: Vec::new(),
        };
        Ok((Built::Module(made), ports))
    }

    /// A module whose body is given as Verilog.
    fn custom(
        &mut self,
        scope: &Scope,
        text: &str,
        wrapper: bool,
        naming: &Naming<'_>,
    ) -> Result<(Built, Ports), Error> {
        // The parts of a wrapper in Rust are its simulation model only.
        if !wrapper && let Some(child) = scope.children.first() {
            return Err(Error::Unsupported {
                path: scope.path.clone(),
                construct: names::display(&child.name),
                advice: "a block whose body is verbatim Verilog cannot have sub-blocks: use a `Wrapper`",
            });
        }
        let mut metadata = Metadata::default();
        let text = metadata.take_head(text);
        let (mut symbols, identifiers) = tables::of_atoms(scope)?;
        self.check_parameters(naming, |name| identifiers.is_taken(name))?;
        symbols.name_widths(&metadata)?;
        let ports = symbols.ports(&metadata);
        let ranges = symbols.named_ranges();
        // A port whose range has a name is the same for every width.
        let mut generic = ports.clone();
        let named = generic
            .iter_mut()
            .filter(|(port, _)| ranges.contains_key(&port.name));
        named.for_each(|(port, _)| port.width = 1);
        let body = Body {
            doc: metadata.doc.clone(),
            parameters: declared(&metadata.parameters, naming),
            ports: generic,
            output_nets: wrapper,
            ranges,
            initials: BTreeMap::new(),
            content: verbatim::content(&symbols, text),
        };
        let name = self.place(scope, naming, metadata.module.as_deref(), body, Origin::default())?;
        let parameters = values(&metadata.parameters);
        Ok((Built::Module(Made { name, parameters }), ports))
    }

    fn check_parameters(&self, naming: &Naming<'_>, taken: impl Fn(&str) -> bool) -> Result<(), Error> {
        let Naming::Top(top, parameters) = naming else {
            return Ok(());
        };
        match parameters.iter().find(|parameter| taken(&parameter.name)) {
            Some(parameter) => Err(clash(top, &parameter.name)),
            None => Ok(()),
        }
    }

    /// Finds or adds the module with this body and returns its name.
    fn place(
        &mut self,
        scope: &Scope,
        naming: &Naming<'_>,
        wish: Option<&str>,
        body: Body,
        origin: Origin,
    ) -> Result<String, Error> {
        if let Naming::Top(name, parameters) = naming {
            self.store.place_top(name, parameters, body, origin)?;
            return Ok((*name).to_owned());
        }
        let field = names::identifier(&names::without_index(&scope.name));
        let base = self.store.child_name(wish.unwrap_or(&field));
        if !names::is_identifier(&base) {
            return Err(Error::Identifier {
                path: scope.path.clone(),
                name: base.into_owned(),
            });
        }
        Ok(self
            .store
            .place_child(&base, wish.is_some(), self.top, body, origin))
    }

    /// Adds verbatim modules and returns the name of the first one, if there is any.
    fn external(&mut self, scope: &Scope, code: &str) -> Result<Option<String>, Error> {
        if code.trim().is_empty() {
            return Ok(None);
        }
        let Some(name) = verbatim::declared_module(code) else {
            return Err(Error::Unsupported {
                path: scope.path.clone(),
                construct: "verbatim Verilog of an external core".to_owned(),
                advice: "it must declare the module that it stands for",
            });
        };
        if name == self.top || !self.store.place_verbatim(name, code) {
            return Err(Error::ModuleNameTaken {
                path: scope.path.clone(),
                name: name.to_owned(),
            });
        }
        Ok(Some(name.to_owned()))
    }
}

/// Parameters as a module declares them. Modules for several instances are the same text, so their defaults say nothing.
fn declared(parameters: &[ModuleParameter], naming: &Naming<'_>) -> Vec<Parameter> {
    let declared = parameters.iter().map(|parameter| Parameter {
        name: parameter.name.clone(),
        value: match naming {
            Naming::Top(..) => parameter.value,
            Naming::Child => 1,
        },
        doc: String::new(),
    });
    declared.collect()
}

/// Parameters as an instance sets them.
fn values(parameters: &[ModuleParameter]) -> Vec<(String, String)> {
    let values = parameters.iter();
    values
        .map(|parameter| (parameter.name.clone(), parameter.value.to_string()))
        .collect()
}

/// Describes an instance for the users of the design: its name, module and connections.
fn child_of(symbols: &Symbols, plan: &Plan, child: &symbols::Child, name: String) -> Child {
    let signal_of = |(port, id): &(String, SignalId)| match plan.inputs.get(id)?.kind {
        Kind::Signal(signal) => Some((port.clone(), symbols.signal(signal).identifier.clone())),
        _ => None,
    };
    Child {
        name,
        module: child.module.clone(),
        connections: child.ports.iter().filter_map(signal_of).collect(),
    }
}
