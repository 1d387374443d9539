//! The symbol table of one module: its signals, named constants, registers and sub-blocks.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::{BigInt, BigUint};
use rust_hdl::core::atom::AtomKind;
use rust_hdl::core::type_descriptor::{TypeDescriptor, TypeKind};

use super::design::{Port, PortDirection};
use super::error::Error;
use super::ir::{ConstantId, Expr, Kind, SignalId};
use super::literal;
use super::metadata::Metadata;
use super::names;
use super::walk::AtomInfo;

/// The widest signal or intermediate value, in bits.
pub(crate) const MAX_WIDTH: usize = 1 << 20;

/// A signal that the kernel of the module can name.
#[derive(Debug)]
pub(crate) struct Signal {
    pub(crate) path: String,
    pub(crate) identifier: String,
    pub(crate) width: usize,
    /// The parameter that gives the width.
    pub(crate) width_name: Option<String>,
    pub(crate) signed: bool,
    pub(crate) role: Role,
}

/// The role of a signal in the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Input,
    Output,
    /// An output that is a register.
    RegisteredOutput,
    InOut,
    Local,
    /// Input of a sub-block.
    ChildInput,
    /// Output of a sub-block.
    ChildOutput,
    /// Tri-state port of a sub-block.
    ChildInOut,
    RegisterClock,
    RegisterReset,
    /// Next value of the register of this number.
    RegisterData(usize),
    RegisterOutput,
}

/// A constant field or a value of an enum.
#[derive(Debug)]
pub(crate) struct NamedConstant {
    pub(crate) identifier: String,
    pub(crate) width: usize,
    pub(crate) signed: bool,
    pub(crate) value: BigUint,
    /// Whether it is a value of an enum, not a field of the block.
    pub(crate) is_enum_value: bool,
}

/// A register that is written in the module's own text.
#[derive(Debug)]
pub(crate) struct Register {
    pub(crate) path: String,
    pub(crate) clock: SignalId,
    pub(crate) data: SignalId,
    pub(crate) output: SignalId,
    /// Reset signal and reset value.
    pub(crate) reset: Option<(SignalId, Expr)>,
    /// Value at power-up.
    pub(crate) initial: Option<Expr>,
    /// Name of its attribute for synthesis.
    pub(crate) attribute: Option<String>,
}

/// A sub-block that becomes an instance.
#[derive(Debug)]
pub(crate) struct Child {
    /// Canonical path of the field.
    pub(crate) name: String,
    /// Name of the instance.
    pub(crate) identifier: String,
    /// Name of the instantiated module.
    pub(crate) module: String,
    /// Its parameters and what they are set to.
    pub(crate) parameters: Vec<(String, String)>,
    /// The signals of its ports, in order, each with the name of the port.
    pub(crate) ports: Vec<(String, SignalId)>,
}

/// All names of a module.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    /// The block's path from the top, with dots.
    pub(crate) block: String,
    pub(crate) signals: Vec<Signal>,
    pub(crate) constants: Vec<NamedConstant>,
    pub(crate) registers: Vec<Register>,
    pub(crate) children: Vec<Child>,
    /// The constants that are all values of one enum, for every enum.
    pub(crate) enums: Vec<BTreeSet<usize>>,
    /// Signals by the identity of their atoms.
    pub(crate) atoms: BTreeMap<usize, SignalId>,
    /// The first signal that is a clone of another one, which a kernel of handles cannot distinguish.
    pub(crate) cloned: Option<SignalId>,
    /// Values of enums by type and name; none where two types define one differently.
    values: BTreeMap<String, Option<ConstantId>>,
}

impl Symbols {
    pub(crate) fn new(block: &str) -> Self {
        Self {
            block: block.to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn signal(&self, id: SignalId) -> &Signal {
        &self.signals[id.0]
    }

    pub(crate) fn constant(&self, id: ConstantId) -> &NamedConstant {
        &self.constants[id.0]
    }

    /// The path of a signal as people write it.
    pub(crate) fn display(&self, id: SignalId) -> String {
        names::display(&self.signal(id).path)
    }

    /// A value of an enum, by its name `State::Idle`.
    pub(crate) fn enum_value(&self, name: &str, value: BigUint, width: usize) -> Expr {
        match self.values.get(name) {
            Some(Some(id)) => Expr {
                kind: Kind::Constant(*id),
                width,
            },
            _ => Expr::literal(value, width),
        }
    }

    /// Adds a signal or constant of the block itself.
    pub(crate) fn add_atom(&mut self, atom: &AtomInfo) -> Result<(), Error> {
        self.check_width(&atom.name, atom.width)?;
        let role = match atom.kind {
            AtomKind::InputParameter => Role::Input,
            AtomKind::OutputParameter | AtomKind::OutputPassthrough => Role::Output,
            AtomKind::InOutParameter => Role::InOut,
            AtomKind::LocalSignal => Role::Local,
            AtomKind::Constant => return self.add_constant_field(atom),
            AtomKind::StubInputSignal | AtomKind::StubOutputSignal => {
                return Err(Error::Unsupported {
                    path: self.block.clone(),
                    construct: names::display(&atom.name),
                    advice: "declare the signal as In, Out, InOut or Local",
                });
            }
        };
        self.add_signal(&atom.name, &atom.identifier, atom, role);
        self.add_enums(&atom.descriptor);
        Ok(())
    }

    /// Adds a signal under a canonical path.
    pub(crate) fn add_signal(
        &mut self,
        path: &str,
        identifier: &str,
        atom: &AtomInfo,
        role: Role,
    ) -> SignalId {
        let id = SignalId(self.signals.len());
        if self.atoms.insert(atom.id, id).is_some() {
            self.cloned.get_or_insert(id);
        }
        self.signals.push(Signal {
            path: path.to_owned(),
            identifier: identifier.to_owned(),
            width: atom.width,
            width_name: None,
            signed: is_signed(&atom.descriptor),
            role,
        });
        id
    }

    /// Adds an unsigned signal that a kernel declares.
    pub(crate) fn add_declared(&mut self, identifier: &str, width: usize, role: Role) -> SignalId {
        self.signals.push(Signal {
            path: identifier.to_owned(),
            identifier: identifier.to_owned(),
            width,
            width_name: None,
            signed: false,
            role,
        });
        SignalId(self.signals.len() - 1)
    }

    pub(crate) fn check_width(&self, name: &str, width: usize) -> Result<(), Error> {
        if (1..=MAX_WIDTH).contains(&width) {
            return Ok(());
        }
        Err(Error::Width {
            path: self.block.clone(),
            construct: names::display(name),
            width,
            max: MAX_WIDTH,
        })
    }

    fn add_constant_field(&mut self, atom: &AtomInfo) -> Result<(), Error> {
        let signed = is_signed(&atom.descriptor);
        let value = self.constant_value(atom)?;
        self.constants.push(NamedConstant {
            identifier: atom.identifier.clone(),
            width: atom.width,
            signed,
            value,
            is_enum_value: false,
        });
        self.add_enums(&atom.descriptor);
        Ok(())
    }

    /// The bits of a constant atom.
    pub(crate) fn constant_value(&self, atom: &AtomInfo) -> Result<BigUint, Error> {
        let value = atom.value.clone().unwrap_or_default();
        let signed = value < BigInt::ZERO;
        literal::encode(&value, atom.width, signed).ok_or_else(|| Error::LiteralRange {
            path: self.block.clone(),
            value: value.to_string(),
            construct: names::display(&atom.name),
            width: atom.width,
        })
    }

    /// A value of a type: by its name if the type is an enum.
    pub(crate) fn named_value(&self, descriptor: &TypeDescriptor, value: BigUint, width: usize) -> Expr {
        let name = match &descriptor.kind {
            TypeKind::Enum(names) => usize::try_from(&value).ok().and_then(|value| names.get(value)),
            _ => None,
        };
        match name {
            Some(name) => self.enum_value(name, value, width),
            None => Expr::literal(value, width),
        }
    }

    /// Makes the values of the enums in a type known.
    pub(crate) fn add_enums(&mut self, descriptor: &TypeDescriptor) {
        match &descriptor.kind {
            TypeKind::Enum(values) => {
                let width = rust_hdl::core::bits::clog2(values.len());
                let mut all = BTreeSet::new();
                for (value, name) in values.iter().enumerate() {
                    if let Some(id) = self.add_enum_value(name, value, width) {
                        all.insert(id.0);
                    }
                }
                if all.len() == values.len() && !self.enums.contains(&all) {
                    self.enums.push(all);
                }
            }
            TypeKind::Composite(fields) => fields.iter().for_each(|field| self.add_enums(&field.kind)),
            TypeKind::Bits(_) | TypeKind::Signed(_) => {}
        }
    }

    fn add_enum_value(&mut self, name: &str, value: usize, width: usize) -> Option<ConstantId> {
        let value = BigUint::from(value);
        let id = match self.values.get(name).copied() {
            None => {
                self.constants.push(NamedConstant {
                    identifier: name.replace("::", "_"),
                    width,
                    signed: false,
                    value,
                    is_enum_value: true,
                });
                Some(ConstantId(self.constants.len() - 1))
            }
            Some(Some(id)) if self.constant(id).value == value && self.constant(id).width == width => {
                Some(id)
            }
            Some(_) => None,
        };
        self.values.insert(name.to_owned(), id);
        id
    }

    /// Gives widths the names of the parameters of verbatim text that say them.
    pub(crate) fn name_widths(&mut self, metadata: &Metadata) -> Result<(), Error> {
        for signal in &mut self.signals {
            let path = match signal.role {
                Role::RegisterData(_) | Role::RegisterOutput => signal
                    .path
                    .rsplit_once('$')
                    .map_or(signal.path.as_str(), |(path, _)| path),
                _ => signal.path.as_str(),
            };
            let Some(parameter) = metadata.parameter_of(path) else {
                continue;
            };
            if signal.width as u64 != parameter.value {
                return Err(Error::Unsupported {
                    path: self.block.clone(),
                    construct: names::display(path),
                    advice: "the parameter of the module that lists it has another value than it has bits",
                });
            }
            signal.width_name = Some(parameter.name.clone());
        }
        Ok(())
    }

    /// The ranges of ports whose widths have names, by the ports' identifiers.
    pub(crate) fn named_ranges(&self) -> BTreeMap<String, String> {
        let named = self.signals.iter().filter_map(|signal| {
            let name = signal.width_name.as_ref()?;
            Some((signal.identifier.clone(), format!("[{name}-1:0]")))
        });
        named.collect()
    }

    /// The ports of the module, in order, each with the comment to stand above it, if there is one.
    pub(crate) fn ports(&self, metadata: &Metadata) -> Vec<(Port, Option<String>)> {
        let mut before: Option<&str> = None;
        let own = self.signals.iter().filter_map(|signal| {
            let direction = match signal.role {
                Role::Input => PortDirection::Input,
                Role::Output | Role::RegisteredOutput => PortDirection::Output,
                Role::InOut => PortDirection::InOut,
                _ => return None,
            };
            let heading = metadata.heading(&signal.path, before).map(str::to_owned);
            before = Some(&signal.path);
            let port = Port {
                name: signal.identifier.clone(),
                direction,
                width: signal.width,
                signed: signal.signed,
                doc: metadata.doc(&signal.path).to_owned(),
            };
            Some((port, heading))
        });
        own.collect()
    }
}

/// Whether a type is a signed number.
pub(crate) fn is_signed(descriptor: &TypeDescriptor) -> bool {
    matches!(descriptor.kind, TypeKind::Signed(_))
}
