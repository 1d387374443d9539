//! What to generate: names and settings of a command line, resolved against the catalog.

use crate::Error;
use crate::error::Advice;
use crate::setting::Setting;
use spinneret_hdl::entry::{Config, Entry, Parameter, ParameterError, Values};

/// A configuration and the blocks of it that are to be generated.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where parameter values come from unless they are set.
    pub config: Config,
    /// The blocks, in the order of the catalog.
    pub blocks: Vec<Chosen>,
    /// Whether these are all shipped blocks with the values and names of the configuration, nothing else.
    pub whole: bool,
    /// What the names of all modules begin with.
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
    ) -> Result<Self, Error> {
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

    /// The same with something in front of the names of all modules, so that it fits into a design beside another variant.
    ///
    /// # Errors
    /// If names cannot begin so.
    pub fn with_prefix(self, prefix: &str) -> Result<Self, Error> {
        let is_plain = prefix.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_plain || prefix.is_empty() || prefix.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Error::MalformedPrefix {
                text: prefix.to_owned(),
            });
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

fn find_config(name: &str) -> Result<Config, Error> {
    Config::ALL
        .into_iter()
        .find(|config| config.name() == name)
        .ok_or_else(|| Error::UnknownName {
            kind: "configuration",
            name: name.to_owned(),
            advice: Advice::new(name, Config::ALL.map(Config::name)),
        })
}

/// The entries that are asked for; the order is the catalog's, whatever the order of the names.
fn select(catalog: &'static [Entry], modules: &[String]) -> Result<Vec<&'static Entry>, Error> {
    for name in modules {
        check_module(catalog, name)?;
    }
    let wanted = |entry: &&'static Entry| match modules {
        [] => entry.shipped,
        names => names.iter().any(|name| name == entry.name),
    };
    Ok(catalog.iter().filter(wanted).collect())
}

fn check_module(catalog: &'static [Entry], name: &str) -> Result<(), Error> {
    if catalog.iter().any(|entry| entry.name == name) {
        return Ok(());
    }
    let advice = Advice::new(name, catalog.iter().map(|entry| entry.name));
    Err(Error::UnknownName {
        kind: "module",
        name: name.to_owned(),
        advice,
    })
}

/// A setting must reach at least one parameter, or it is a slip that would pass unnoticed.
fn check_target(
    catalog: &'static [Entry],
    selected: &[&'static Entry],
    config: Config,
    setting: &Setting,
) -> Result<(), Error> {
    if let Some(module) = &setting.module {
        check_module(catalog, module)?;
        if !selected.iter().any(|entry| entry.name == module) {
            let setting = setting.to_string();
            return Err(Error::SettingOfUnselectedModule {
                setting,
                module: module.clone(),
            });
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
    Err(Error::UnknownParameter {
        name: setting.to_string(),
        advice: Advice::new(&setting.name, names),
    })
}

fn choose(entry: &'static Entry, config: Config, settings: &[Setting]) -> Result<Chosen, Error> {
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
