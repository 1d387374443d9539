//! One line of the register table.

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
    /// Access by software.
    pub access: Access,
    /// The bits that exist; all others read 0 and ignore what is written.
    pub bits: Bits,
    /// Value after reset.
    pub reset: Reset,
    /// Unit or meaning of the value, for people: `bytes`, `bit mask`, ...
    pub unit: &'static str,
    /// One sentence on what the register does.
    pub description: &'static str,
    /// Side effect of an access; empty if there is none.
    pub side_effect: &'static str,
    /// Names of the elements where each means something else; empty otherwise.
    pub elements: &'static [&'static str],
    /// Parts of the value that have names of their own.
    pub fields: &'static [Field],
    /// Whether only spinneret's own configurations have it, and the drop-in for the public design does not.
    pub extension: bool,
}

impl Register {
    /// A register that is held, 32 bits wide and 0 after reset, as the public design has most of them.
    pub(crate) const fn held(group: &'static str, name: &'static str, offset: u32, count: u32) -> Self {
        Self {
            group,
            name,
            offset,
            count,
            access: Access::ReadWrite,
            bits: Bits::All(u32::MAX),
            reset: Reset::All(0),
            unit: "",
            description: "",
            side_effect: "",
            elements: &[],
            fields: &[],
            extension: false,
        }
    }

    /// A register that shows the state of the hardware.
    pub(crate) const fn shown(group: &'static str, name: &'static str, offset: u32, count: u32) -> Self {
        Self {
            access: Access::ReadOnly,
            reset: Reset::Live,
            ..Self::held(group, name, offset, count)
        }
    }

    /// Every element as a word of its own.
    pub fn words(&'static self) -> impl Iterator<Item = Word> {
        (0..self.count).map(move |index| Word {
            register: self,
            index,
        })
    }

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

/// Access of software to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads give what was written; byte strobes are honoured.
    ReadWrite,
    /// Reads have no side effect; writes change nothing and are answered with an error.
    ReadOnly,
    /// Each read takes one element from a queue; writes are answered with an error.
    ReadPops,
    /// A bit that is written as 1 acts once; reads give 0.
    WritePulse,
    /// The hardware sets bits; one that is written as 1 is cleared.
    WriteClears,
}

impl Access {
    /// Whether the hardware sets its value.
    pub const fn shows_hardware(self) -> bool {
        matches!(self, Self::ReadOnly | Self::WriteClears)
    }

    /// Whether a write is answered with OKAY.
    pub const fn takes_writes(self) -> bool {
        matches!(self, Self::ReadWrite | Self::WritePulse | Self::WriteClears)
    }
}

/// Shows the access as the documentation spells it.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ReadWrite => "rw",
            Self::ReadOnly => "r",
            Self::ReadPops => "r, pops",
            Self::WritePulse => "w, pulse",
            Self::WriteClears => "rw, 1 clears",
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
    /// The value is a constant of the hardware that was generated.
    Generated,
}

impl Reset {
    /// Reset value of element `index`; `None` if it is not known from the table alone.
    pub const fn value(&self, index: u32) -> Option<u32> {
        match self {
            Self::All(value) => Some(*value),
            Self::Each(values) if (index as usize) < values.len() => Some(values[index as usize]),
            Self::Each(_) | Self::Live | Self::Generated => None,
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
            Self::Generated => f.write_str("constant"),
        }
    }
}

/// The bits of a register that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// Every element has these.
    All(u32),
    /// The elements have these; the slice is as long as the register's count.
    Each(&'static [u32]),
}

impl Bits {
    /// The bits of element `index` that exist; none if there is no such element in a list.
    pub const fn mask(&self, index: u32) -> u32 {
        match self {
            Self::All(mask) => *mask,
            Self::Each(masks) if (index as usize) < masks.len() => masks[index as usize],
            Self::Each(_) => 0,
        }
    }
}

/// Shows the bits as ranges: `31:0`, or one range per element where they differ.
impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |f: &mut fmt::Formatter<'_>, mask: u32| match mask {
            0 => f.write_str("none"),
            1 => f.write_str("0"),
            mask => write!(f, "{}:{}", 31 - mask.leading_zeros(), mask.trailing_zeros()),
        };
        match self {
            Self::All(mask) => range(f, *mask),
            Self::Each(masks) => {
                for (index, mask) in masks.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    range(f, *mask)?;
                }
                Ok(())
            }
        }
    }
}

/// A part of a register's value that has a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name within the register.
    pub name: &'static str,
    /// Number of its lowest bit.
    pub bit: u32,
    /// Number of its bits.
    pub width: u32,
    /// Its meaning, as the rest of a sentence.
    pub description: &'static str,
}

impl Field {
    /// A field of one bit.
    pub(crate) const fn flag(name: &'static str, bit: u32, description: &'static str) -> Self {
        Self {
            name,
            bit,
            width: 1,
            description,
        }
    }

    /// The bits of the field in the register's value.
    pub const fn mask(&self) -> u32 {
        (u32::MAX >> (32 - self.width)) << self.bit
    }
}

/// One word of the control register window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The register that it belongs to.
    pub register: &'static Register,
    /// Its number within the register.
    pub index: u32,
}

impl Word {
    /// Byte offset from the start of the control register window.
    pub const fn offset(&self) -> u32 {
        self.register.offset + REGISTER_BYTES * self.index
    }

    /// The bits that exist.
    pub const fn mask(&self) -> u32 {
        self.register.bits.mask(self.index)
    }

    /// Value after reset; `None` if it is not known from the table alone.
    pub const fn reset(&self) -> Option<u32> {
        self.register.reset.value(self.index)
    }

    /// Shows the word as reports name it: `ingress.matched`, or `host_write.errors[3]` if there are several.
    pub fn title(&self) -> impl fmt::Display {
        let Self { register, index } = *self;
        fmt::from_fn(move |f| match register.count {
            1 => write!(f, "{register}"),
            _ => write!(f, "{register}[{index}]"),
        })
    }
}

/// Shows the word as an identifier, such as `me_mask_3`; an element with a name of its own by that, and
/// the only element of a register without a number.
impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Register { group, name, .. } = self.register;
        match self.register.elements.get(self.index as usize) {
            Some(element) => write!(f, "{group}_{element}"),
            None if self.register.count == 1 => write!(f, "{group}_{name}"),
            None => write!(f, "{group}_{name}_{}", self.index),
        }
    }
}
