//! Everything that can go wrong between a block and its text.

use thiserror::Error;

/// Why a block cannot be turned into Verilog.
///
/// `path` is the block's place in the design, for example `top.fifo`; names of signals inside it are
/// written as in the kernel with `.` between their parts.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A kernel does what has no hardware.
    #[error("{path}: {message}{line}")]
    Kernel {
        /// Path of the block.
        path: String,
        /// The fault, and how to fix it.
        message: String,
        /// The line in the source, in parentheses; nothing if the kernel has none.
        line: String,
    },
    /// A kernel uses a signal that is not its own.
    #[error("{path}: the kernel uses {name}: pass what it needs through ports")]
    UnknownName {
        /// Path of the block.
        path: String,
        /// The name as the kernel writes it.
        name: String,
    },
    /// A literal does not fit the width that its context gives it.
    #[error(
        "{path}: the literal {value} in `{construct}` does not fit {width} bits: use a smaller literal or a wider signal"
    )]
    LiteralRange {
        /// Path of the block.
        path: String,
        /// The literal in decimal.
        value: String,
        /// The construct that holds it.
        construct: String,
        /// Width of the context, in bits.
        width: usize,
    },
    /// A signal or an intermediate value is too wide or has no bits.
    #[error("{path}: `{construct}` is {width} bits wide: widths from 1 to {max} can be written as Verilog")]
    Width {
        /// Path of the block.
        path: String,
        /// The signal or construct.
        construct: String,
        /// Its width in bits.
        width: usize,
        /// The largest width that is accepted, in bits.
        max: usize,
    },
    /// A construct has no certain translation.
    #[error("{path}: `{construct}` cannot be translated: {advice}")]
    Unsupported {
        /// Path of the block.
        path: String,
        /// The construct.
        construct: String,
        /// The alternative to use.
        advice: &'static str,
    },
    /// Nothing drives the clock of a register.
    #[error(
        "{path}: the register `{name}` has no clock: give the block a `clk`, or write `#[clock(...)]` above the field"
    )]
    NoClock {
        /// Path of the block.
        path: String,
        /// The register.
        name: String,
    },
    /// Nothing drives the reset of a register.
    #[error(
        "{path}: the register `{name}` has a reset, but its clock has none: give the block a `rst`, write `#[clock(clk, rst)]` above the field, or make the register without a reset"
    )]
    NoReset {
        /// Path of the block.
        path: String,
        /// The register.
        name: String,
    },
    /// A part is a clone of another one.
    #[error(
        "{path}: `{name}` is a clone of another signal: write `#[new(part)] parts: [Part; n]` in place of `vec![part; n]`"
    )]
    Cloned {
        /// Path of the block.
        path: String,
        /// The signal.
        name: String,
    },
    /// A register reads one of another clock.
    #[error(
        "{path}: the register `{name}` reads `{other}`, which is on another clock: bring it over by a synchroniser, or take it as it is, without logic, from a register marked `DontTouch`"
    )]
    Crossing {
        /// Path of the block.
        path: String,
        /// The register.
        name: String,
        /// The register of the other clock.
        other: String,
    },
    /// A sub-block has no clock or no reset.
    #[error(
        "{path}: nothing drives `{part}.{port}`: give the block a port of that name, write `#[clock(clk, rst)]` above `{part}`, or assign it in the kernel"
    )]
    PartWithoutClock {
        /// Path of the block.
        path: String,
        /// The sub-block.
        part: String,
        /// Its clock or reset.
        port: &'static str,
    },
    /// Nothing drives a signal.
    #[error("{path}: nothing drives `{name}`: assign it in the kernel")]
    Undriven {
        /// Path of the block.
        path: String,
        /// The signal.
        name: String,
    },
    /// A signal keeps its value on some path through the kernel.
    #[error(
        "{path}: `{name}` is not assigned in every bit on every path, which would make a latch: give it a default at the start of the kernel"
    )]
    Latch {
        /// Path of the block.
        path: String,
        /// The signal.
        name: String,
    },
    /// A name cannot be written in Verilog.
    #[error("{path}: `{name}` is no Verilog identifier or is a keyword of SystemVerilog: rename the field")]
    Identifier {
        /// Path of the block.
        path: String,
        /// The name.
        name: String,
    },
    /// Two names of one module become the same identifier.
    #[error(
        "{path}: `{first}` and `{second}` are both called `{identifier}` in Verilog: rename one of the fields"
    )]
    NameClash {
        /// Path of the block.
        path: String,
        /// The first name.
        first: String,
        /// The second name.
        second: String,
        /// The identifier they share.
        identifier: String,
    },
    /// A module of this name is already in the library with another content.
    #[error(
        "{path}: the library already holds another module named `{name}`: choose another name, or add this top-level design first"
    )]
    ModuleNameTaken {
        /// Path of the block.
        path: String,
        /// The name.
        name: String,
    },
}

/// The error of a name with two meanings in the top module.
pub(crate) fn clash(top: &str, name: &str) -> Error {
    Error::NameClash {
        path: top.to_owned(),
        first: name.to_owned(),
        second: name.to_owned(),
        identifier: name.to_owned(),
    }
}
