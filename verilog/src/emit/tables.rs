//! Builds the symbol table of a module from its scope and its sub-blocks, and gives every name its identifier.

use std::collections::BTreeMap;

use rust_hdl::core::atom::AtomKind;

use super::error::Error;
use super::names;
use super::symbols::{Child, Register, Role, Symbols};
use super::walk::{AtomInfo, Scope};

/// A module for one instance.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) name: String,
    /// Its parameters and what the instance sets them to.
    pub(crate) parameters: Vec<(String, String)>,
}

/// A sub-block that is instantiated.
#[derive(Debug)]
pub(crate) struct Instance<'a> {
    pub(crate) scope: &'a Scope,
    /// Name of its module, and its parameters.
    pub(crate) module: Made,
}

/// The names of a module whose kernel is translated: its own signals, its registers and its instances.
pub(crate) fn of_kernel(
    scope: &Scope,
    instances: Vec<Instance<'_>>,
) -> Result<(Symbols, Identifiers), Error> {
    let (mut symbols, mut identifiers) = of_atoms(scope)?;
    let registers: Vec<_> = scope
        .children
        .iter()
        .filter_map(|child| Some((child, register_shape(child)?)))
        .collect();
    for (child, _) in &registers {
        identifiers.claim(&symbols.block, &child.name, &names::identifier(&child.name))?;
    }
    for (child, shape) in registers {
        add_register(&mut symbols, &mut identifiers, child, &shape)?;
    }
    for instance in instances {
        add_instance(&mut symbols, &mut identifiers, instance)?;
    }
    for constant in symbols
        .constants
        .iter_mut()
        .filter(|constant| constant.is_enum_value)
    {
        constant.identifier = identifiers.derive(&constant.identifier);
    }
    Ok((symbols, identifiers))
}

/// The names of a module that has only its own signals.
pub(crate) fn of_atoms(scope: &Scope) -> Result<(Symbols, Identifiers), Error> {
    let mut symbols = Symbols::new(&scope.path);
    let mut identifiers = Identifiers::default();
    for atom in &scope.atoms {
        identifiers.claim(&scope.path, &atom.name, &atom.identifier)?;
        symbols.add_atom(atom)?;
    }
    Ok((symbols, identifiers))
}

fn add_instance(
    symbols: &mut Symbols,
    identifiers: &mut Identifiers,
    instance: Instance<'_>,
) -> Result<(), Error> {
    let scope = instance.scope;
    let mut ports = Vec::new();
    for atom in ports_of(scope) {
        let path = format!("{}${}", scope.name, atom.name);
        symbols.check_width(&path, atom.width)?;
        let role = match atom.kind {
            AtomKind::InputParameter => Role::ChildInput,
            AtomKind::InOutParameter => Role::ChildInOut,
            _ => Role::ChildOutput,
        };
        if role == Role::ChildInOut {
            return Err(Error::Unsupported {
                path: symbols.block.clone(),
                construct: names::display(&path),
                advice: "a tri-state port of a sub-block cannot be connected: keep the tri-state buffer in the top block",
            });
        }
        let within = format!("{}_{}", names::identifier(&scope.name), atom.identifier);
        let identifier = identifiers.derive(&within);
        let id = symbols.add_signal(&path, &identifier, atom, role);
        symbols.add_enums(&atom.descriptor);
        ports.push((atom.identifier.clone(), id));
    }
    symbols.children.push(Child {
        name: scope.name.clone(),
        identifier: identifiers.derive(&format!("u_{}", names::identifier(&scope.name))),
        module: instance.module.name,
        parameters: instance.module.parameters,
        ports,
    });
    Ok(())
}

/// The ports of a scope.
pub(crate) fn ports_of(scope: &Scope) -> impl Iterator<Item = &AtomInfo> {
    scope.atoms.iter().filter(|atom| atom.kind.is_parameter())
}

/// The parts of a block that is a register.
#[derive(Debug)]
pub(crate) struct RegisterShape<'a> {
    clock: &'a AtomInfo,
    data: &'a AtomInfo,
    output: &'a AtomInfo,
    reset: Option<&'a AtomInfo>,
    /// Its value at power-up, and in reset if it has one.
    value: Option<&'a AtomInfo>,
    attribute: Option<&'a str>,
}

/// Recognises the registers of this crate. Flip-flops of rust-hdl are modules.
pub(crate) fn register_shape(scope: &Scope) -> Option<RegisterShape<'_>> {
    let [timing] = &scope.timing[..] else { return None };
    let attribute = timing.name.strip_prefix("reg")?;
    let atom = |name: &str| scope.atoms.iter().find(|atom| atom.name == name);
    Some(RegisterShape {
        clock: atom("clock")?,
        data: atom("d")?,
        output: atom("q")?,
        reset: atom("reset"),
        value: atom("reset_value"),
        attribute: attribute.strip_prefix(' '),
    })
}

fn add_register(
    symbols: &mut Symbols,
    identifiers: &mut Identifiers,
    scope: &Scope,
    shape: &RegisterShape<'_>,
) -> Result<(), Error> {
    let number = symbols.registers.len();
    let name = names::identifier(&scope.name);
    let path = |part: &str| format!("{}${part}", scope.name);
    symbols.check_width(&path("q"), shape.output.width)?;
    let output = symbols.add_signal(&path("q"), &name, shape.output, Role::RegisterOutput);
    let next = identifiers.derive(&format!("{name}_d"));
    let data = symbols.add_signal(&path("d"), &next, shape.data, Role::RegisterData(number));
    let clock_name = identifiers.derive(&format!("{name}_clock"));
    let clock = symbols.add_signal(&path("clock"), &clock_name, shape.clock, Role::RegisterClock);
    symbols.add_enums(&shape.output.descriptor);
    let initial = match shape.value {
        Some(value) => {
            let value = symbols.constant_value(value)?;
            Some(symbols.named_value(&shape.output.descriptor, value, shape.output.width))
        }
        None => None,
    };
    let reset = shape.reset.zip(initial.clone()).map(|(reset, value)| {
        let reset_name = identifiers.derive(&format!("{name}_reset"));
        (
            symbols.add_signal(&path("reset"), &reset_name, reset, Role::RegisterReset),
            value,
        )
    });
    symbols.registers.push(Register {
        path: scope.name.clone(),
        clock,
        data,
        output,
        reset,
        initial,
        attribute: shape.attribute.map(str::to_owned),
    });
    Ok(())
}

/// The identifiers of a module and the names they stand for.
#[derive(Debug, Default)]
pub(crate) struct Identifiers {
    taken: BTreeMap<String, String>,
}

impl Identifiers {
    /// Takes the identifier of a field, which must be valid and free.
    pub(crate) fn claim(&mut self, block: &str, path: &str, identifier: &str) -> Result<(), Error> {
        if !names::is_identifier(identifier) {
            return Err(Error::Identifier {
                path: block.to_owned(),
                name: names::display(path),
            });
        }
        match self.taken.insert(identifier.to_owned(), path.to_owned()) {
            None => Ok(()),
            Some(first) => Err(Error::NameClash {
                path: block.to_owned(),
                first: names::display(&first),
                second: names::display(path),
                identifier: identifier.to_owned(),
            }),
        }
    }

    /// Whether the identifier stands for something already.
    pub(crate) fn is_taken(&self, identifier: &str) -> bool {
        self.taken.contains_key(identifier)
    }

    /// Takes a free identifier that is `wish` or begins with it.
    pub(crate) fn derive(&mut self, wish: &str) -> String {
        let numbered = (1..).map(|number| format!("{wish}_{number}"));
        let mut candidates = std::iter::once(wish.to_owned()).chain(numbered);
        let free = candidates.find(|name| !self.taken.contains_key(name) && names::is_identifier(name));
        let identifier = free.unwrap_or_else(|| wish.to_owned());
        self.taken.insert(identifier.clone(), identifier.clone());
        identifier
    }
}
