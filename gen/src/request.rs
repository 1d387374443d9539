//! Requests: names and settings of a command line, resolved against the catalog.

use crate::error::{Advice, unknown};
use anyhow::{anyhow, bail};
use spinneret_hdl::entry::{Config, Entry, Parameter, ParameterError, Values};
use std::fmt;
use std::num::IntErrorKind;
use std::str::FromStr;

/// A configuration and the blocks to generate.
#[derive(Clone, Debug)]
pub struct Request {
    /// The source of parameter values that are not set.
    pub config: Config,
    /// The blocks, in the order of the catalog.
    pub blocks: Vec<Chosen>,
    /// Whether these are exactly the shipped blocks, with the values and names of the configuration.
    pub whole: bool,
    /// Prefix of all module names.
    pub prefix: String,
}

/// One block with a value for each of its parameters.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The block.
    pub entry: &'static Entry,
    /// Its parameters; `value` is the one to use.
    pub parameters: Vec<Parameter>,
}

impl Chosen {
    /// The values by name, as the block's constructor takes them.
    pub fn values(&self) -> Values {
        self.parameters
            .iter()
            .map(|p| (p.name.to_owned(), p.value))
            .collect()
    }
}

impl Request {
    /// Resolves a configuration name, module names (none: all that are shipped) and `--set` texts.
    ///
    /// # Errors
    /// Unknown names, with a suggestion; malformed, duplicate or unknown settings; values outside
    /// the range of their parameter.
    pub fn new(
        catalog: &'static [Entry],
        config: &str,
        modules: &[String],
        settings: &[String],
    ) -> anyhow::Result<Self> {
        let config = find_config(config)?;
        let entries = select(catalog, modules)?;
        let settings = Setting::parse_all(settings)?;
        for setting in &settings {
            check_target(catalog, &entries, config, setting)?;
        }
        let blocks = entries
            .iter()
            .map(|entry| choose(entry, config, &settings))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            config,
            blocks,
            whole: modules.is_empty() && settings.is_empty(),
            prefix: String::new(),
        })
    }

    /// Adds a prefix to all module names, so that two variants fit into one design.
    ///
    /// # Errors
    /// The prefix is not the beginning of a name.
    pub fn with_prefix(self, prefix: &str) -> anyhow::Result<Self> {
        let is_plain = prefix.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_plain || prefix.is_empty() || prefix.starts_with(|c: char| c.is_ascii_digit()) {
            bail!(
                "`--prefix {prefix}` is not the beginning of a name: write letters, digits and `_`, no digit first, such as \
                 wide_"
            );
        }
        Ok(Self {
            whole: false,
            prefix: prefix.to_owned(),
            ..self
        })
    }

    /// The name of the top module of a block.
    pub fn top(&self, chosen: &Chosen) -> String {
        format!("{}{}", self.prefix, chosen.entry.name)
    }
}

fn find_config(name: &str) -> anyhow::Result<Config> {
    Config::ALL
        .into_iter()
        .find(|config| config.name() == name)
        .ok_or_else(|| unknown("configuration", name, Config::ALL.map(Config::name)))
}

/// The selected entries, in the order of the catalog.
fn select(catalog: &'static [Entry], modules: &[String]) -> anyhow::Result<Vec<&'static Entry>> {
    for name in modules {
        check_module(catalog, name)?;
    }
    let wanted = |entry: &&'static Entry| match modules {
        [] => entry.shipped,
        names => names.iter().any(|name| name == entry.name),
    };
    Ok(catalog.iter().filter(wanted).collect())
}

fn check_module(catalog: &'static [Entry], name: &str) -> anyhow::Result<()> {
    if catalog.iter().any(|entry| entry.name == name) {
        return Ok(());
    }
    Err(unknown("module", name, catalog.iter().map(|entry| entry.name)))
}

/// Checks that a setting applies to at least one parameter, to catch mistakes.
fn check_target(
    catalog: &'static [Entry],
    selected: &[&'static Entry],
    config: Config,
    setting: &Setting,
) -> anyhow::Result<()> {
    if let Some(module) = &setting.module {
        check_module(catalog, module)?;
        if !selected.iter().any(|entry| entry.name == module) {
            bail!(
                "`--set {setting}` names module `{module}`, which is not selected: add `--module {module}`"
            );
        }
    }
    let in_reach = |entry: &&&'static Entry| setting.module.as_deref().is_none_or(|own| own == entry.name);
    let mut names: Vec<&'static str> = Vec::new();
    for parameter in selected
        .iter()
        .filter(in_reach)
        .flat_map(|entry| (entry.parameters)(config))
    {
        if !names.contains(&parameter.name) {
            names.push(parameter.name);
        }
    }
    if names.contains(&setting.name.as_str()) {
        return Ok(());
    }
    let advice = Advice::new(&setting.name, names);
    bail!("no selected module has a parameter `{setting}`: {advice}")
}

fn choose(entry: &'static Entry, config: Config, settings: &[Setting]) -> anyhow::Result<Chosen> {
    let mut parameters = (entry.parameters)(config);
    for parameter in &mut parameters {
        let applies = |setting: &&Setting| setting.applies_to(entry.name, parameter.name);
        // A setting that names the module is more specific and wins.
        let chosen = settings
            .iter()
            .filter(applies)
            .max_by_key(|setting| setting.module.is_some());
        if let Some(setting) = chosen {
            parameter.value = setting.value;
        }
        check_range(entry, parameter)?;
    }
    Ok(Chosen { entry, parameters })
}

fn check_range(entry: &Entry, parameter: &Parameter) -> Result<(), ParameterError> {
    if (parameter.min..=parameter.max).contains(&parameter.value) {
        return Ok(());
    }
    Err(ParameterError {
        block: entry.name.to_owned(),
        parameter: parameter.name.to_owned(),
        value: parameter.value,
        reason: format!("it must be from {} to {}", parameter.min, parameter.max),
    })
}

/// One value for one parameter, of one module or of every selected module that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The module, if the setting names one.
    pub module: Option<String>,
    /// The parameter.
    pub name: String,
    /// The value.
    pub value: u64,
}

impl Setting {
    /// Parses all settings of a command line.
    ///
    /// # Errors
    /// The first malformed setting, or the first that sets the same name again.
    pub fn parse_all(texts: &[String]) -> anyhow::Result<Vec<Self>> {
        let mut settings: Vec<Self> = Vec::new();
        for text in texts {
            let setting: Self = text.parse()?;
            if settings
                .iter()
                .any(|s| s.module == setting.module && s.name == setting.name)
            {
                bail!("`--set {setting}` is given twice: keep one of the two");
            }
            settings.push(setting);
        }
        Ok(settings)
    }

    /// Whether the setting applies to this parameter of this module.
    pub fn applies_to(&self, module: &str, parameter: &str) -> bool {
        self.name == parameter && self.module.as_deref().is_none_or(|own| own == module)
    }
}

/// The name without the value, as it was given.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(module) = &self.module {
            write!(f, "{module}.")?;
        }
        f.write_str(&self.name)
    }
}

impl FromStr for Setting {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let malformed = |reason| {
            anyhow!("`--set {text}` is malformed: {reason}; write `name=value` or `module.name=value`")
        };
        let (target, value) = text.split_once('=').ok_or_else(|| malformed("there is no `=`"))?;
        let (module, name) = match target.split_once('.') {
            Some((module, name)) => (Some(module), name),
            None => (None, target),
        };
        if !module.is_none_or(is_identifier) {
            return Err(malformed("the module name is not an identifier"));
        }
        if !is_identifier(name) {
            return Err(malformed("the parameter name is not an identifier"));
        }
        let value = parse_number(value).map_err(malformed)?;
        Ok(Self {
            module: module.map(str::to_owned),
            name: name.to_owned(),
            value,
        })
    }
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Reads decimal or `0x` hexadecimal, with `_` between digits allowed.
fn parse_number(text: &str) -> Result<u64, &'static str> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    // A sign is left for the parser to find only behind a digit, where it is refused.
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return Err("the value is not a whole number (decimal or 0x hexadecimal)");
    }
    u64::from_str_radix(&digits.replace('_', ""), radix).map_err(|error| match error.kind() {
        IntErrorKind::PosOverflow => "the value does not fit in 64 bits",
        _ => "the value is not a whole number (decimal or 0x hexadecimal)",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn setting(module: Option<&str>, name: &str, value: u64) -> Setting {
        Setting {
            module: module.map(str::to_owned),
            name: name.to_owned(),
            value,
        }
    }

    #[test]
    fn reads_both_forms_and_both_radices() {
        assert_eq!(
            "width=512".parse::<Setting>().unwrap(),
            setting(None, "width", 512)
        );
        assert_eq!(
            "fifo.depth=0x1_0".parse::<Setting>().unwrap(),
            setting(Some("fifo"), "depth", 16)
        );
    }

    #[test]
    fn every_malformed_form_says_what_is_wrong() {
        let number = "the value is not a whole number (decimal or 0x hexadecimal)";
        let cases = [
            ("width", "there is no `=`"),
            ("=5", "the parameter name is not an identifier"),
            (".width=5", "the module name is not an identifier"),
            ("a.b.c=5", "the parameter name is not an identifier"),
            ("width=", number),
            ("width=-1", number),
            ("width=+1", number),
            ("width=0x", number),
            ("width=0x+1", number),
            ("width=1=2", number),
            ("width=5 12", number),
            ("width=_", number),
            ("width=18446744073709551616", "the value does not fit in 64 bits"),
        ];
        for (text, reason) in cases {
            let expected =
                format!("`--set {text}` is malformed: {reason}; write `name=value` or `module.name=value`");
            assert_eq!(text.parse::<Setting>().unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_name_may_be_set_once_in_general_and_once_for_a_module() {
        let texts = |list: &[&str]| list.iter().map(|&s| s.to_owned()).collect::<Vec<_>>();
        assert_eq!(Setting::parse_all(&texts(&["a=1", "m.a=2"])).unwrap().len(), 2);
        let error = Setting::parse_all(&texts(&["m.a=1", "b=1", "m.a=1"])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`--set m.a` is given twice: keep one of the two"
        );
    }

    proptest! {
        #[test]
        fn never_panics(text in ".*") {
            let _ = text.parse::<Setting>();
        }

        #[test]
        fn reads_back_what_it_prints(name in "[a-z_][a-z0-9_]{0,9}", value: u64) {
            let setting = setting(None, &name, value);
            prop_assert_eq!(format!("{setting}={value}").parse::<Setting>().unwrap(), setting);
        }
    }
}
