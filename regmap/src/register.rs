//! What one line of the register table says.

use crate::REGISTER_BYTES;
use core::fmt;

/// One register, or an array of equal registers, of the control register window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Group that the register belongs to, such as `me` for the matching engine.
    pub group: &'static str,
    /// Name within the group.
    pub name: &'static str,
    /// Byte offset of the first element from the start of the control register window.
    pub offset: u32,
    /// Number of elements; element `i` is at `offset + 4 * i`.
    pub count: u32,
    /// What software may do with it.
    pub access: Access,
    /// Value after reset.
    pub reset: Reset,
    /// Unit or meaning of the value, for people: `bytes`, `bit mask`, ...
    pub unit: &'static str,
    /// One sentence on what the register does.
    pub description: &'static str,
}

impl Register {
    /// Byte offset of element `index` in the control register window; `None` if there is no such element.
    pub const fn address(&self, index: u32) -> Option<u32> {
        if index < self.count {
            Some(self.offset + REGISTER_BYTES * index)
        } else {
            None
        }
    }

    /// First byte offset behind the last element.
    pub const fn end(&self) -> u32 {
        self.offset + REGISTER_BYTES * self.count
    }
}

/// Shows the full name, such as `me.mask`.
impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.group, self.name)
    }
}

/// What software may do with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads give what was written; byte strobes are honoured.
    ReadWrite,
    /// Reads have no side effect; writes change nothing and are answered with an error.
    ReadOnly,
    /// Each read takes one element from a queue; writes are answered with an error.
    ReadPops,
}

/// Shows the access as the documentation spells it.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ReadWrite => "rw",
            Self::ReadOnly => "r",
            Self::ReadPops => "r, pops",
        })
    }
}

/// Value of a register after reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// Every element has this value.
    All(u32),
    /// The elements have these values; the slice is as long as the register's count.
    Each(&'static [u32]),
    /// The register shows the state of the hardware and has no value of its own.
    Live,
}

impl Reset {
    /// Reset value of element `index`; `None` if it is live or there is no such element in a list.
    pub const fn value(&self, index: u32) -> Option<u32> {
        match self {
            Self::All(value) => Some(*value),
            Self::Each(values) if (index as usize) < values.len() => Some(values[index as usize]),
            Self::Each(_) | Self::Live => None,
        }
    }
}

/// Shows the value in hexadecimal, one per element where they differ.
impl fmt::Display for Reset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(value) => write!(f, "{value:#x}"),
            Self::Each(values) => {
                for (index, value) in values.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(f, "{separator}{value:#x}")?;
                }
                Ok(())
            }
            Self::Live => f.write_str("live"),
        }
    }
}
