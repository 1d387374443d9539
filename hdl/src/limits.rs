//! Parameters of small blocks: what they may be, for the catalog and for the code that builds the blocks.

use crate::entry::{Parameter, ParameterError, Values};

/// A payload: a beat of 2048 bits with its byte enables and side band at most.
pub(crate) const WIDTH: Limit = Limit::bits("width", [1, 4096], "width of the payload in bits");

/// A parameter with the smallest and the largest value that it may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    name: &'static str,
    range: [usize; 2],
    is_power_of_two: bool,
    /// The end of the range, after the largest value.
    unit: &'static str,
    doc: &'static str,
}

impl Limit {
    /// A number of something.
    pub(crate) const fn number(name: &'static str, range: [usize; 2], doc: &'static str) -> Self {
        Self {
            name,
            range,
            is_power_of_two: false,
            unit: "",
            doc,
        }
    }

    /// A number of bits.
    pub(crate) const fn bits(name: &'static str, range: [usize; 2], doc: &'static str) -> Self {
        Self {
            unit: " bits",
            ..Self::number(name, range, doc)
        }
    }

    /// The same, and it is a power of two.
    pub(crate) const fn power_of_two(self) -> Self {
        Self {
            is_power_of_two: true,
            ..self
        }
    }

    /// The parameter as the catalog has it.
    pub(crate) fn parameter(self, value: u64) -> Parameter {
        Parameter::new(self.name, value, self.range.map(|end| end as u64), self.doc)
    }

    /// Its value, which is not checked; 0 if it is missing.
    pub(crate) fn of(self, values: &Values) -> usize {
        let value = values.get(self.name).copied().unwrap_or(0);
        usize::try_from(value).unwrap_or(usize::MAX)
    }

    /// Refuses a value that the block cannot have, else gives it back.
    pub(crate) fn check(self, block: &str, value: usize) -> Result<usize, ParameterError> {
        let [min, max] = self.range;
        if (min..=max).contains(&value) && (value.is_power_of_two() || !self.is_power_of_two) {
            return Ok(value);
        }
        let kind = match self.is_power_of_two {
            true => "a power of two ",
            false => "",
        };
        let reason = format!("it must be {kind}from {min} to {max}{}", self.unit);
        Err(self.refuse(block, value, reason))
    }

    /// The error for a value.
    pub(crate) fn refuse(self, block: &str, value: usize, reason: impl Into<String>) -> ParameterError {
        ParameterError {
            block: block.into(),
            parameter: self.name.into(),
            value: value as u64,
            reason: reason.into(),
        }
    }
}
