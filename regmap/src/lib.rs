//! Register and address tables of spinneret, the one source for hardware, software and documentation.
//!
//! The tables are plain constants, so hardware generators, host libraries and firmware can all use
//! them: this crate has no dependencies and needs neither `std` nor an allocator.
//!
//! - [`bar`]: what the application BAR of the PCIe device maps to;
//! - [`ether`]: the frames that control a board over Ethernet;
//! - [`pspin`]: the address space of the cluster, as programs on it and the host see it;
//! - [`pci`]: the PCI function around it, where the NIC has one of its own;
//! - [`registers`]: the control registers as data, one [`Register`] each, with typed accessors per group
//!   ([`cl`], [`stats`], [`ingress`], [`egress`], [`host_write`], [`host_read`], [`bar_access`], [`me`], [`her`],
//!   [`her_meta`], [`guard`], [`events`], [`caps`]), and [`words`], the same word by word;
//! - [`model`]: a reference model of the registers, for tests of hardware and software;
//! - [`matching`]: one rule of the matching engine, in plain numbers and as its registers hold it;
//! - [`shares`]: registers of spinneret's own clusters, with the shares of contexts;
//! - [`message_id`]: the context in the message id of a handler execution request;
//! - [`render`]: the tables as Markdown, from which `docs/registers.md` is made;
//! - [`header`]: the tables as C headers and a linker script, from which `include/spinneret_regs.h` and the runtime's
//!   `spin_map.h` and `spin_map.ld` are made, and the table of the kernel driver.
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
pub mod ether;
mod groups;
pub mod header;
pub mod matching;
pub mod model;
pub mod pspin;
mod register;
pub mod render;
pub mod shares;

pub use groups::counters::{bar_access, egress, host_read, host_write, ingress};
pub use groups::extensions::{caps, events, guard, slots};
pub use groups::{cl, her, her_meta, me, stats};
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

/// Groups of counters, ordered by offset.
const COUNTERS: [&[Register]; 5] = [
    ingress::ALL,
    egress::ALL,
    host_write::ALL,
    host_read::ALL,
    bar_access::ALL,
];

/// Returns every counter register, in the order of hardware, statistics and reports.
pub fn counters() -> impl Iterator<Item = &'static Register> {
    COUNTERS.into_iter().flatten()
}

/// Returns every word of a counter, and whether it counts errors, which raise [`events::ERRORS_LINE`].
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

pub mod message_id {
    //! The message id of a handler execution request, where the context is a part of it (`caps.features`, `context_in_message_id`).
    //!
    //! ```text
    //! | id, its other bits | context | id, its lowest bits |
    //!                       `---- queue of 16 -----------'
    //! ```
    //!
    //! The public cluster takes the lowest bits of it as the message's queue (`mpq_engine.sv`), and the lowest of those as the
    //! cluster that the message prefers (`scheduler.sv`). So contexts never meet in a queue, and the messages of each context have
    //! [`ID_BITS`] bits of queues, that prefer all clusters.

    use crate::CONTEXTS;

    /// Lowest bits of the id, which stay lowest.
    pub const ID_BITS: u32 = 2;
    /// Bits of the context, above them.
    pub const CONTEXT_BITS: u32 = CONTEXTS.ilog2();
    /// Lowest bits of a message id that keep contexts apart. A cluster has as many queues as they can say, or more.
    pub const QUEUE_BITS: u32 = ID_BITS + CONTEXT_BITS;

    /// The message id for an id and a context. Bits of the context that do not fit are left out.
    ///
    /// ```
    /// use spinneret_regmap::message_id;
    ///
    /// assert_eq!(message_id::compose(0b1101, 0b10), 0b11_10_01);
    /// assert_eq!(message_id::context(0b11_10_01), 0b10);
    /// ```
    pub const fn compose(id: u64, context: u32) -> u64 {
        let low = id & ((1 << ID_BITS) - 1);
        (id >> ID_BITS) << QUEUE_BITS | ((context % CONTEXTS) as u64) << ID_BITS | low
    }

    /// The context of a message id, or of the queue that is its lowest bits.
    pub const fn context(message_id: u32) -> u32 {
        message_id >> ID_BITS & (CONTEXTS - 1)
    }
}

pub mod pci {
    //! The PCI function of a NIC that has one to itself: what device, drivers and host library agree on.
    //!
    //! Corundum's function is not this one: there the application BAR belongs to the function of the `mqnic` driver, and
    //! spinneret raises no interrupts.

    use crate::events;

    /// Vendor: an unassigned id, which Corundum and QEMU use as well.
    pub const VENDOR: u16 = 0x1234;
    /// Device: "SP".
    pub const DEVICE: u16 = u16::from_be_bytes(*b"SP");
    /// Vendor of the subsystem.
    pub const SUBSYSTEM_VENDOR: u16 = VENDOR;
    /// Subsystem.
    pub const SUBSYSTEM: u16 = 0x0001;
    /// Revision.
    pub const REVISION: u8 = 1;
    /// Class: a processing accelerator.
    pub const CLASS: u32 = 0x12_0000;
    /// The BAR that is the application BAR: 64 bits, not prefetchable.
    pub const APPLICATION_BAR: u32 = 0;
    /// The BAR with the table of MSI-X: 32 bits.
    pub const MSIX_BAR: u32 = 2;
    /// Size of that BAR.
    pub const MSIX_BAR_BYTES: u32 = 0x1000;
    /// Offset of the table in it.
    pub const MSIX_TABLE: u32 = 0;
    /// Offset of its pending bits.
    pub const MSIX_PENDING: u32 = 0x800;
    /// Vectors of MSI-X: one for each line of `events.pending`, with its number.
    pub const VECTORS: u32 = events::LINES;

    /// Each number with its name in the C header, after `PCI_`, and a description.
    pub(crate) const TABLE: &[(&str, u32, &str)] = &[
        ("VENDOR", VENDOR as u32, "vendor id"),
        ("DEVICE", DEVICE as u32, "device id"),
        (
            "SUBSYSTEM_VENDOR",
            SUBSYSTEM_VENDOR as u32,
            "vendor id of the subsystem",
        ),
        ("SUBSYSTEM", SUBSYSTEM as u32, "subsystem id"),
        ("REVISION", REVISION as u32, "revision"),
        ("CLASS", CLASS, "class: processing accelerator"),
        (
            "APPLICATION_BAR",
            APPLICATION_BAR,
            "number of the application BAR: 64 bits, not prefetchable",
        ),
        (
            "MSIX_BAR",
            MSIX_BAR,
            "number of the BAR with the table of MSI-X: 32 bits",
        ),
        ("MSIX_BAR_SIZE", MSIX_BAR_BYTES, "its size in bytes"),
        ("MSIX_TABLE", MSIX_TABLE, "where the table begins in it"),
        ("MSIX_PENDING", MSIX_PENDING, "where its pending bits begin"),
        (
            "VECTORS",
            VECTORS,
            "vectors of MSI-X: vector n is that of bit n of `events.pending`",
        ),
    ];
}
