//! Register and address tables of spinneret, the one source for hardware, software and documentation.
//!
//! The tables are plain constants, so hardware generators, host libraries and firmware can all use
//! them: this crate has no dependencies and needs neither `std` nor an allocator.
//!
//! - [`bar`]: what the application BAR of the PCIe device maps to;
//! - [`pspin`]: the address space of the cluster, as programs on it and the host see it;
//! - [`pci`]: the PCI function around it, where the NIC has one of its own;
//! - [`registers`]: the control registers as data, one [`Register`] each, with typed accessors per group
//!   ([`cl`], [`stats`], [`ingress`], [`egress`], [`host_write`], [`host_read`], [`bar_access`], [`me`], [`her`],
//!   [`her_meta`], [`guard`], [`events`], [`caps`]), and [`words`], the same word by word;
//! - [`model`]: what accesses to them do, for tests of hardware and software;
//! - [`matching`]: one rule of the matching engine, in plain numbers and as its registers hold it;
//! - [`message_id`]: where the context stands in the message id of a request for a handler;
//! - [`render`]: the tables as Markdown, from which `docs/registers.md` is made;
//! - [`header`]: the tables as C headers and a linker script, from which `include/spinneret_regs.h` and the runtime's
//!   `spin_map.h` and `spin_map.ld` are made;
//! - [`kernel`]: the control registers as a table for the kernel driver.
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
pub mod kernel;
pub mod matching;
pub mod message_id;
pub mod model;
pub mod pci;
pub mod pspin;
mod register;
pub mod render;
mod sizes;

pub use groups::counters::{bar_access, egress, host_read, host_write, ingress};
pub use groups::{caps, cl, events, guard, her, her_meta, me, stats};
pub use register::{Access, Bits, Field, Register, Reset, Word};
pub use sizes::{CLUSTERS, CONTEXTS, MAX_FRAME, MPQS, REGISTER_BYTES, RULES_PER_RULESET, RULESETS};

/// Every control register, ordered by offset.
pub fn registers() -> impl Iterator<Item = &'static Register> {
    groups::ALL.iter().flat_map(|group| group.iter())
}

/// Groups of counters, ordered by offset.
const COUNTERS: [&[Register]; 5] = [
    ingress::ALL,
    egress::ALL,
    host_write::ALL,
    host_read::ALL,
    bar_access::ALL,
];

/// Every register that counts, in the one order in which hardware, statistics and reports have them.
pub fn counters() -> impl Iterator<Item = &'static Register> {
    COUNTERS.into_iter().flatten()
}

/// Every word of a counter, and whether it moves only when something went wrong, which [`events::ERRORS_LINE`] tells.
pub fn error_counters() -> impl Iterator<Item = (Word, bool)> {
    counters().flat_map(|counter| {
        let counts_errors = groups::counters::counts_errors(counter);
        counter.words().map(move |word| (word, counts_errors))
    })
}

/// Every counter of the datapaths: all but those of the BAR, which software causes itself.
pub fn datapath_counters() -> impl Iterator<Item = Word> {
    let of_bar = bar_access::ALL[0].group;
    let registers = counters().filter(move |register| register.group != of_bar);
    registers.flat_map(Register::words)
}

/// How many counters there are, each a word.
pub const COUNTER_WORDS: usize = {
    let (mut group, mut words) = (0, 0);
    while group < COUNTERS.len() {
        let mut register = 0;
        while register < COUNTERS[group].len() {
            words += COUNTERS[group][register].count as usize;
            register += 1;
        }
        group += 1;
    }
    words
};

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
