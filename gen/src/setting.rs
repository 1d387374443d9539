//! Parameter values from the command line: `--set name=value` and `--set module.name=value`.

use crate::Error;
use std::fmt;
use std::num::IntErrorKind;
use std::str::FromStr;

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
    pub fn parse_all(texts: &[String]) -> Result<Vec<Self>, Error> {
        let mut settings: Vec<Self> = Vec::new();
        for text in texts {
            let setting: Self = text.parse()?;
            if settings
                .iter()
                .any(|s| s.module == setting.module && s.name == setting.name)
            {
                return Err(Error::DuplicateSetting {
                    name: setting.to_string(),
                });
            }
            settings.push(setting);
        }
        Ok(settings)
    }

    /// Whether the setting speaks of this parameter of this module.
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
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let malformed = |reason| Error::MalformedSetting {
            text: text.to_owned(),
            reason,
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
