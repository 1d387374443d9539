//! The counters of the hardware, and those of handlers.

use crate::control::Control;
use crate::device::Device;
use crate::error::ErrorKind;
use spinneret_regmap::datapath_counters;
use std::fmt;

/// The counters of the hardware at one time, by the names of the register table: `ingress.overload`,
/// `ingress.hers[0]`, and so on. They count modulo 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(Vec<(String, u32)>);

/// What handlers have counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// The sum of what was counted, modulo 2^32.
    pub sum: u32,
    /// How often.
    pub count: u32,
}

impl Counters {
    /// Reads all that the device gives access to.
    pub(crate) fn read<D: Device>(control: &mut Control<'_, D>) -> Result<Self, ErrorKind> {
        let mut counters = Vec::new();
        for word in datapath_counters() {
            if control.0.has_register(word.offset()) {
                counters.push((word.title().to_string(), control.get(word.offset())?));
            }
        }
        Ok(Self(counters))
    }

    /// A counter by its name; `None` if there is no such counter on this device.
    pub fn get(&self, name: &str) -> Option<u32> {
        let found = self.0.iter().find(|(counter, _)| counter == name);
        found.map(|(_, value)| *value)
    }

    /// All of them in the order of their registers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// What has been counted since an earlier time.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let difference = |(name, value): (&str, u32)| {
            let before = earlier.get(name).unwrap_or(0);
            (name.to_owned(), value.wrapping_sub(before))
        };
        Self(self.iter().map(difference).collect())
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.iter().filter(|(_, value)| *value != 0) {
            writeln!(f, "{name:<32} {value:>10}")?;
        }
        Ok(())
    }
}
