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
    #[error("{path}: {message} ({file}:{line})")]
    Kernel {
        /// Path of the block.
        path: String,
        /// What is wrong, and what to do.
        message: String,
        /// The source file.
        file: String,
        /// The line in it.
        line: u32,
    },
    /// A name in the kernel belongs to no signal, constant, enum value or loop variable.
    #[error(
        "{path}: the kernel uses `{name}`, which is no signal, constant or enum value of this block: declare a field for it (a const generic needs a `Constant` field)"
    )]
    UnknownName {
        /// Path of the block.
        path: String,
        /// The name as the kernel writes it.
        name: String,
    },
    /// Two bundles of ports that `connect!` cannot join.
    #[error("{path}: connect! cannot join {reason}: name ports that differ after `except`, and assign them")]
    Connection {
        /// Path of the block.
        path: String,
        /// The two, and why.
        reason: String,
    },
    /// Two enum types of one name give one value name different encodings.
    #[error(
        "{path}: the enum value `{name}` is defined differently by two types of the same name: rename one of the types"
    )]
    AmbiguousEnum {
        /// Path of the block.
        path: String,
        /// The enum value.
        name: String,
    },
    /// Two operands, or a value and its target, have different widths.
    #[error(
        "{path}: `{construct}` joins {left} bits with {right} bits: make both the same width with `resize`, or with `bit_cast` for `Bits`"
    )]
    WidthMismatch {
        /// Path of the block.
        path: String,
        /// The construct.
        construct: String,
        /// Width of the left operand or of the target, in bits.
        left: usize,
        /// Width of the right operand or of the value, in bits.
        right: usize,
    },
    /// A comparison or product joins a signed with an unsigned operand.
    #[error(
        "{path}: `{construct}` joins a signed with an unsigned value: convert one of them with `signed_cast` or `unsigned_cast`"
    )]
    SignMismatch {
        /// Path of the block.
        path: String,
        /// The construct.
        construct: String,
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
    /// Nothing in the construct says how wide a literal is.
    #[error("{path}: nothing gives the literals in `{construct}` a width: write them as `lit(value, width)`")]
    UnsizedLiteral {
        /// Path of the block.
        path: String,
        /// The construct.
        construct: String,
    },
    /// The width that a `signed_bit_cast` extends to is not known where it is used.
    #[error(
        "{path}: the width of `signed_bit_cast` in `{construct}` is not known here: assign it to a Local signal of that width first"
    )]
    UnknownCastWidth {
        /// Path of the block.
        path: String,
        /// The construct.
        construct: String,
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
    /// A constant offset lies beyond the end of the value it selects from.
    #[error(
        "{path}: `{construct}` selects bit {offset} of a value of {width} bits: keep the offset inside the value"
    )]
    OutOfRange {
        /// Path of the block.
        path: String,
        /// The construct.
        construct: String,
        /// The constant offset, in decimal.
        offset: String,
        /// Width of the value, in bits.
        width: usize,
    },
    /// A sum or product in an offset could mean one that wraps or one that grows.
    #[error(
        "{path}: the arithmetic in the offset of `{construct}` may wrap, and the syntax tree does not say at which width: compute it in a Local signal first"
    )]
    AmbiguousOffset {
        /// Path of the block.
        path: String,
        /// The construct.
        construct: String,
    },
    /// An array index is not a constant.
    #[error(
        "{path}: the array index in `{name}` is not a constant here: use literals and loop variables, from 0 upwards"
    )]
    ArrayIndex {
        /// Path of the block.
        path: String,
        /// The name with its index.
        name: String,
    },
    /// A loop or a whole kernel unrolls to too many statements.
    #[error("{path}: the kernel unrolls to more than {limit} statements: move the loop into a sub-block")]
    TooManyStatements {
        /// Path of the block.
        path: String,
        /// The limit.
        limit: usize,
    },
    /// An expression or a statement is nested too deeply.
    #[error("{path}: the kernel nests deeper than {limit} levels: split the expression with Local signals")]
    TooDeep {
        /// Path of the block.
        path: String,
        /// The limit.
        limit: usize,
    },
    /// A construct has no certain translation.
    #[error("{path}: `{construct}` cannot be translated: {advice}")]
    Unsupported {
        /// Path of the block.
        path: String,
        /// The construct.
        construct: String,
        /// What to do instead.
        advice: &'static str,
    },
    /// A pattern of a `match` is no literal and no enum value.
    #[error(
        "{path}: the pattern `{label}` of a match is no literal and no enum value of {width} bits: use one, or `_`"
    )]
    CaseLabel {
        /// Path of the block.
        path: String,
        /// The pattern.
        label: String,
        /// Width of the matched value, in bits.
        width: usize,
    },
    /// The kernel assigns something that is not its own to drive.
    #[error(
        "{path}: the kernel assigns `{name}`, which is {role}: only outputs, Local signals, and inputs of sub-blocks and registers can be assigned"
    )]
    NotAssignable {
        /// Path of the block.
        path: String,
        /// The signal.
        name: String,
        /// What the signal is.
        role: &'static str,
    },
    /// A register has no clock.
    #[error(
        "{path}: the register `{name}` has no clock: give the block a `clk`, write `#[clock(...)]` above the field, or name it in `clocked!`"
    )]
    NoClock {
        /// Path of the block.
        path: String,
        /// The register.
        name: String,
    },
    /// A register with a reset has a clock without one.
    #[error(
        "{path}: the register `{name}` has a reset, but its clock has none: write `#[clock(clk, rst)]` above the field or `clocked!(clk, rst => ...)`, or make the register without a reset"
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
        "{path}: nothing drives `{part}.{port}`: write `#[clock(clk, rst)]` above `{part}`, name it in `clocked!`, or assign it in the kernel"
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
    /// A signal is read where the kernel has not assigned it yet.
    #[error(
        "{path}: `{name}` is read before it is assigned on every path, which closes a combinational loop: assign it first, or keep the old value in a register"
    )]
    ReadBeforeWrite {
        /// Path of the block.
        path: String,
        /// The signal.
        name: String,
    },
    /// An input of a sub-block is read before its last assignment.
    #[error(
        "{path}: the input `{name}` of a sub-block or register is read before its last assignment: read it afterwards, or use a Local signal"
    )]
    InputReadEarly {
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

/// The error of a name that stands for two things in the top module.
pub(crate) fn clash(top: &str, name: &str) -> Error {
    Error::NameClash {
        path: top.to_owned(),
        first: name.to_owned(),
        second: name.to_owned(),
        identifier: name.to_owned(),
    }
}
