//! The windows of the application BAR of the PCIe device.

use crate::pspin;

/// Address bits of the application BAR, which is 16 MiB large.
pub const ADDRESS_BITS: u32 = 24;

/// PsPIN's L2 handler and packet memory.
pub const HANDLER_AND_PACKET_MEMORY: Window = Window {
    start: 0x00_0000,
    size_bytes: 0x40_0000,
    target: Target::Pspin {
        address: pspin::HANDLER_BASE,
    },
    description: "PsPIN L2 handler and packet memory",
};
/// PsPIN's L2 program memory.
pub const PROGRAM_MEMORY: Window = Window {
    start: 0x40_0000,
    size_bytes: 0x40_0000,
    target: Target::Pspin {
        address: pspin::PROGRAM_BASE,
    },
    description: "PsPIN L2 program memory",
};
/// The control registers.
pub const CONTROL_REGISTERS: Window = Window {
    start: 0x80_0000,
    size_bytes: 0x1_0000,
    target: Target::ControlRegisters,
    description: "control registers",
};
/// The rest, where every access is answered with a decode error.
pub const UNMAPPED: Window = Window {
    start: 0x81_0000,
    size_bytes: 0x7f_0000,
    target: Target::Nothing,
    description: "nothing: answered with a decode error",
};

/// All windows in the order of their addresses; they cover the BAR without gaps.
pub const WINDOWS: &[Window] = &[
    HANDLER_AND_PACKET_MEMORY,
    PROGRAM_MEMORY,
    CONTROL_REGISTERS,
    UNMAPPED,
];

/// A part of the BAR that maps to one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First byte of the window in the BAR.
    pub start: u32,
    /// Size of the window.
    pub size_bytes: u32,
    /// Target of an access.
    pub target: Target,
    /// The same for people.
    pub description: &'static str,
}

impl Window {
    /// Last byte of the window in the BAR.
    pub const fn last(&self) -> u32 {
        self.start + (self.size_bytes - 1)
    }
}

/// Target of an access to the BAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// PsPIN's address space; the window starts at this address.
    Pspin {
        /// Address in PsPIN of the window's first byte.
        address: u32,
    },
    /// The control registers; the window starts at offset 0.
    ControlRegisters,
    /// Nothing.
    Nothing,
}

/// Destination of an access to a BAR offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// An address of PsPIN.
    Pspin(u32),
    /// A byte offset into the control registers.
    ControlRegister(u32),
    /// Nothing: the access is answered with a decode error.
    Nothing,
}

/// Returns the destination of an access to a BAR offset; offsets beyond the BAR have none.
pub fn decode(offset: u32) -> Destination {
    WINDOWS
        .iter()
        .find(|window| (window.start..=window.last()).contains(&offset))
        .map_or(Destination::Nothing, |window| match window.target {
            Target::Pspin { address } => Destination::Pspin(address + (offset - window.start)),
            Target::ControlRegisters => Destination::ControlRegister(offset - window.start),
            Target::Nothing => Destination::Nothing,
        })
}

/// BAR offset of a byte offset into the control registers; `None` beyond their window.
pub const fn of_control_register(offset: u32) -> Option<u32> {
    if offset < CONTROL_REGISTERS.size_bytes {
        Some(CONTROL_REGISTERS.start + offset)
    } else {
        None
    }
}
