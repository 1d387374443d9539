//! Catalog data of a block, for generation by name: parameters, ranges and values, and the constructor.

use spinneret_verilog::prelude::Block;
use std::collections::BTreeMap;
use thiserror::Error;

/// A named set of parameter values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Config {
    /// Each block alone, with the parameter values of the public FPsPIN design, as a drop-in.
    Reference,
    /// The configuration of the application block on boards, with every extension on.
    Board,
}

impl Config {
    /// All configurations, in the order in which they are listed.
    pub const ALL: [Self; 2] = [Self::Reference, Self::Board];

    /// The name on the command line and of the output directory.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Board => "board",
        }
    }
}

/// One parameter of a block: a whole number with a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name as in `--set name=value`.
    pub name: &'static str,
    /// Value in the configuration that was asked for.
    pub value: u64,
    /// Smallest valid value; the block checks combinations.
    pub min: u64,
    /// Largest valid value.
    pub max: u64,
    /// The name of the Verilog parameter that carries it in the public design, if there is one.
    pub verilog: Option<&'static str>,
    /// One line with units.
    pub doc: &'static str,
}

impl Parameter {
    /// A parameter that only this project has.
    pub(crate) fn new(name: &'static str, value: u64, [min, max]: [u64; 2], doc: &'static str) -> Self {
        let verilog = None;
        Self {
            name,
            value,
            min,
            max,
            verilog,
            doc,
        }
    }

    /// The same parameter, which the public design carries in that Verilog parameter.
    pub(crate) fn carried_by(self, verilog: &'static str) -> Self {
        let verilog = Some(verilog);
        Self { verilog, ..self }
    }
}

/// The parameters of a block as a struct; `#[derive(Parameters)]` implements it.
pub trait Parameters: Sized {
    /// All of them, with their values in a configuration.
    fn parameters(config: Config) -> Vec<Parameter>;

    /// The struct, from values in their ranges.
    ///
    /// # Errors
    /// If they are not possible together.
    fn read(checked: Checked<'_>) -> Result<Self, ParameterError>;

    /// Its values by name.
    fn values(&self) -> Values;

    /// The struct, of the values of the block of that name.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    fn of(block: &'static str, values: &Values) -> Result<Self, ParameterError> {
        Self::read(Checked::new(block, &Self::parameters(Config::Reference), values)?)
    }
}

/// The values that the reference configuration has not, as a part of a module's name.
pub(crate) fn suffix<P: Parameters>(shape: &P) -> String {
    let values = shape.values();
    let other = P::parameters(Config::Reference)
        .into_iter()
        .filter(|parameter| values[parameter.name] != parameter.value)
        .map(|parameter| format!("{}_{}", parameter.name, values[parameter.name]));
    other.collect::<Vec<_>>().join("_")
}

/// The reason why a block cannot be built with the given parameters: it begins with "it must" and names possible values.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{block}: {parameter} = {value} is not possible: {reason}")]
pub struct ParameterError {
    /// Name of the block.
    pub block: String,
    /// Name of the parameter.
    pub parameter: String,
    /// The value that was refused.
    pub value: u64,
    /// The possible values, "it must be ...", and why.
    pub reason: String,
}

/// Parameter values by name; complete once it comes from [`Entry::values`].
pub type Values = BTreeMap<String, u64>;

/// Lists the parameters of a block with their values in a configuration.
pub(crate) type List = fn(Config) -> Vec<Parameter>;
/// Builds a block of complete parameter values.
pub(crate) type Build = fn(&Values) -> Result<Box<dyn Block>, ParameterError>;

/// A block of the catalog.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name of the block and of its top module.
    pub name: &'static str,
    /// One line that says what the block does.
    pub doc: &'static str,
    /// Whether `gen-verilog` writes the block by default (test-only variants are not written).
    pub shipped: bool,
    /// Parameters with their values in a configuration.
    pub parameters: List,
    /// Verilog parameters of the public design that follow from the others, such as the width of tkeep.
    pub derived: fn(&Values) -> Vec<(&'static str, u64)>,
    /// Builds the block; every parameter must be present in the values.
    pub build: Build,
}

impl Entry {
    /// A block that `gen-verilog` writes by default.
    pub(crate) const fn shipped(
        name: &'static str,
        doc: &'static str,
        parameters: List,
        build: Build,
    ) -> Self {
        Self {
            name,
            doc,
            shipped: true,
            parameters,
            derived: |_| Vec::new(),
            build,
        }
    }

    /// A block that is written when it is asked for.
    pub(crate) const fn part(name: &'static str, doc: &'static str, parameters: List, build: Build) -> Self {
        Self {
            shipped: false,
            ..Self::shipped(name, doc, parameters, build)
        }
    }

    /// The same block, with Verilog parameters that follow from the others.
    pub(crate) const fn derives(self, derived: fn(&Values) -> Vec<(&'static str, u64)>) -> Self {
        Self { derived, ..self }
    }

    /// The complete parameter values of a configuration.
    pub fn values(&self, config: Config) -> Values {
        (self.parameters)(config)
            .into_iter()
            .map(|p| (p.name.to_owned(), p.value))
            .collect()
    }

    /// The parameters that an instantiation of the public design may set, with their values: those of the block that have
    /// a Verilog name, and those that follow from them.
    pub fn verilog_parameters(&self, values: &Values) -> Vec<spinneret_verilog::Parameter> {
        let get = |name: &str| values.get(name).copied().unwrap_or(0);
        let named = (self.parameters)(Config::Reference)
            .into_iter()
            .filter_map(|p| Some((p.verilog?, get(p.name), p.doc)));
        let derived = (self.derived)(values).into_iter();
        let derived = derived.map(|(name, value)| (name, value, "follows from the other parameters"));
        named
            .chain(derived)
            .map(|(name, value, doc)| spinneret_verilog::Parameter {
                name: name.to_owned(),
                value,
                doc: doc.to_owned(),
            })
            .collect()
    }

    /// A model of the block for the testbenches, with the values that differ from the reference configuration, as `--set` has
    /// them: `"depth=4 margin=1"`.
    pub(crate) const fn variant(&'static self, name: &'static str, settings: &'static str) -> Variant {
        Variant {
            name,
            entry: self,
            config: Config::Reference,
            settings,
        }
    }

    /// The values of a configuration, some of them replaced.
    pub(crate) fn with(&self, config: Config, settings: &[(&str, u64)]) -> Values {
        let mut values = self.values(config);
        values.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), *value)));
        values
    }
}

/// A block that is made of its parameters alone: `entry!(part NAME, Block(Shape): "what it does")`. With `?` behind it its constructor
/// may refuse them; a block without parameters is `Block()`.
macro_rules! entry {
    ($kind:ident $name:expr, $block:ident(): $doc:expr) => {
        $crate::entry::Entry::$kind($name, $doc, |_| Vec::new(), |_| Ok(Box::new($block::new())))
    };
    ($kind:ident $name:expr, $block:ident($shape:ident): $doc:expr) => {
        entry!(@of $kind $name, $shape, $doc, |shape| Ok(Box::new($block::new(shape))))
    };
    ($kind:ident $name:expr, $block:ident($shape:ident)?: $doc:expr) => {
        entry!(@of $kind $name, $shape, $doc, |shape| Ok(Box::new($block::new(shape)?)))
    };
    (@of $kind:ident $name:expr, $shape:ident, $doc:expr, |$parameters:ident| $build:expr) => {{
        // Some have the functions of that trait as their own.
        #[allow(unused_imports)]
        use $crate::entry::Parameters as _;
        $crate::entry::Entry::$kind($name, $doc, $shape::parameters, |values| {
            let $parameters = $shape::new(values)?;
            $build
        })
    }};
}

/// A block as a model for the testbenches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant {
    name: &'static str,
    entry: &'static Entry,
    config: Config,
    settings: &'static str,
}

impl Variant {
    /// The same with the values of the board's configuration.
    pub(crate) const fn of_boards(self) -> Self {
        Self {
            config: Config::Board,
            ..self
        }
    }

    /// The model with complete parameter values.
    pub(crate) fn complete(&self) -> Simulated {
        let mut values = self.entry.values(self.config);
        values.extend(self.settings.split_whitespace().map(setting));
        (self.name.to_owned(), self.entry, values)
    }
}

/// A setting of a model, `name=value`, decimal or with `0x`. Other text is the name of a parameter that no block has.
fn setting(text: &str) -> (String, u64) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let value = match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => value.parse(),
    };
    value.map_or((text.to_owned(), 0), |value| (name.to_owned(), value))
}

/// A model for the testbenches: its name, its block, and complete parameter values.
pub type Simulated = (String, &'static Entry, Values);

/// Parameter values of a block, each in its range.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'a> {
    block: &'static str,
    values: &'a Values,
}

impl<'a> Checked<'a> {
    /// Checks the values against the ranges of the block's parameters.
    pub(crate) fn new(
        block: &'static str,
        parameters: &[Parameter],
        values: &'a Values,
    ) -> Result<Self, ParameterError> {
        let checked = Self { block, values };
        for parameter in parameters {
            if !(parameter.min..=parameter.max).contains(&checked.get(parameter.name)) {
                let reason = format!("it must be from {} to {}", parameter.min, parameter.max);
                return Err(checked.refuse(parameter.name, reason));
            }
        }
        Ok(checked)
    }

    /// Refuses a value that is no power of two.
    pub(crate) fn power_of_two(self, name: &str) -> Result<(), ParameterError> {
        match self.get(name).is_power_of_two() {
            true => Ok(()),
            false => Err(self.refuse(name, "it must be a power of two".into())),
        }
    }

    /// Refuses a value that is no multiple of a number, and says what that number is.
    pub(crate) fn multiple_of(self, name: &str, divisor: u64, is: &str) -> Result<(), ParameterError> {
        match self.get(name).is_multiple_of(divisor) {
            true => Ok(()),
            false => Err(self.refuse(name, format!("it must be a multiple of {divisor}, {is}"))),
        }
    }

    /// The value of a parameter; 0 if it is missing, which few ranges contain.
    pub(crate) fn get(self, name: &str) -> u64 {
        self.values.get(name).copied().unwrap_or(0)
    }

    /// The error for a value that does not fit the others.
    pub(crate) fn refuse(self, parameter: &str, reason: String) -> ParameterError {
        ParameterError {
            block: self.block.into(),
            parameter: parameter.into(),
            value: self.get(parameter),
            reason,
        }
    }
}
