//! Register and address tables of spinneret, the one source for hardware, software and documentation.
//!
//! The tables are plain constants, so hardware generators, host libraries and firmware can all use
//! them: this crate has no dependencies and needs neither `std` nor an allocator.
//!
//! - [`bar`]: what the application BAR of the PCIe device maps to;
//! - [`registers`]: the control registers as data, one [`Register`] each, with typed accessors per group
//!   ([`cl`], [`stats`], [`ingress`], [`egress`], [`host_write`], [`host_read`], [`bar_access`], [`me`], [`her`],
//!   [`her_meta`], [`guard`], [`caps`]), and [`words`], the same word by word;
//! - [`model`]: what accesses to them do, for tests of hardware and software;
//! - [`matching`]: one rule of the matching engine, in plain numbers and as its registers hold it;
//! - [`render`]: the tables as Markdown, from which `docs/registers.md` is made;
//! - [`header`]: the tables as a C header, from which `include/spinneret_regs.h` is made.
//!
//! ```
//! use spinneret_regmap::{me, matching::Rule};
//!
//! // Program rule 2 of ruleset 0 to match UDP packets to port 9330.
//! let raw = Rule::udp_destination_port(9330, 9330).to_registers();
//! assert_eq!(me::mask(0, 2), Some(0x205c));
//! assert_eq!(raw.mask, 0x0000_ffff);
//! ```
#![no_std]
#![forbid(unsafe_code)]

pub mod bar;
mod groups;
pub mod header;
pub mod matching;
pub mod model;
mod register;
pub mod render;

pub use groups::counters::{bar_access, egress, host_read, host_write, ingress};
pub use groups::{caps, cl, guard, her, her_meta, me, stats};
pub use register::{Access, Bits, Field, Register, Reset, Word};

/// Number of rulesets of the matching engine in the reference configuration.
pub const RULESETS: u32 = 4;
/// Rules of a ruleset: three that decide the match, and the end-of-message rule, which is the last.
pub const RULES_PER_RULESET: u32 = 4;
/// Number of execution contexts; ruleset `n` starts handlers of context `n`.
pub const CONTEXTS: u32 = 4;
/// Longest frame that handlers can send, in bytes, with which the application block is generated.
pub const MAX_FRAME: u32 = 9600;
/// Number of PsPIN clusters in the reference configuration.
pub const CLUSTERS: u32 = 2;
/// Number of message processing queues in the reference configuration.
pub const MPQS: u32 = 16;
/// Bytes of one register: every register is a 32-bit little-endian word.
pub const REGISTER_BYTES: u32 = 4;

/// Every control register, ordered by offset.
pub fn registers() -> impl Iterator<Item = &'static Register> {
    groups::ALL.iter().flat_map(|group| group.iter())
}

/// Every word of the control registers, ordered by offset.
pub fn words() -> impl Iterator<Item = Word> {
    registers().flat_map(Register::words)
}

/// Value after reset of the word at a byte offset into the control register window.
///
/// `None` for an offset that is not the first byte of a register, and for one whose value is not known from the
/// table: the state of the hardware, and constants of the hardware that was generated.
pub fn reset_word(offset: u32) -> Option<u32> {
    let (register, index) = find(offset)?;
    register.reset.value(index)
}

/// The register and the index within it at a byte offset into the control register window.
///
/// `None` for an offset that is not the first byte of a register.
pub fn find(offset: u32) -> Option<(&'static Register, u32)> {
    registers()
        .find(|register| (register.offset..register.end()).contains(&offset))
        .filter(|_| offset.is_multiple_of(REGISTER_BYTES))
        .map(|register| (register, (offset - register.offset) / REGISTER_BYTES))
}
