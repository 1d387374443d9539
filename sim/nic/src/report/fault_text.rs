//! Faults and refusals in words.

use super::symbols::Symbols;
use spinneret_cluster::map::{self, Place};
use spinneret_cluster::rv::{Op, Trap};
use spinneret_cluster::{
    Config, Fault, HpuId, Named, REFUSED_COMMAND, REFUSED_HOST, REFUSED_LENGTH, SILENCE, TERMINATED, WATCHDOG,
};
use spinneret_regmap::MAX_FRAME;
use spinneret_regmap::pspin;
use std::fmt::Write as _;

/// State of the cluster that explains a fault.
#[derive(Clone, Copy, Debug)]
pub(super) struct Explainer {
    clusters: usize,
    watchdog: u64,
}

impl Explainer {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            clusters: config.clusters,
            watchdog: config.watchdog,
        }
    }

    /// The message about a fault or refusal; `how` is the consequence for the handler.
    pub(super) fn describe(self, fault: &Fault, how: &str, symbols: &Symbols) -> String {
        let pc = fault.pc;
        let packet = fault.packet.map(|packet| (packet, fault.message));
        let head = headline(&who(fault, symbols), how, fault.hpu, packet);
        let mut text = format!("{head}: {}", self.what(fault, symbols));
        let instruction = symbols.instruction(pc);
        if matches!(fault.trap, Trap::LoadFault | Trap::StoreFault)
            && instruction.is_some_and(|instruction| instruction.op().is_atomic())
        {
            text.push_str(ATOMIC);
        }
        let _ = match instruction {
            Some(instruction) => write!(
                text,
                "\n  {pc:#010x} <{}>: {}",
                symbols.name(pc),
                instruction.at(pc)
            ),
            None => write!(text, "\n  {pc:#010x}: no code of the program"),
        };
        where_it_is(&mut text, pc, symbols);
        text
    }

    /// The reason.
    fn what(self, fault: &Fault, symbols: &Symbols) -> String {
        let (value, pc) = (fault.value, fault.pc);
        match fault.trap {
            Trap::InstructionFault => format!(
                "jump to {pc:#010x}, which is not executable ({})",
                self.region(pc)
            ),
            Trap::Illegal => match symbols.instruction(pc) {
                Some(instruction) if instruction.op() != Op::Illegal => {
                    format!("illegal instruction: handlers may not use {instruction}")
                }
                _ => format!("illegal instruction {value:#010x}"),
            },
            Trap::Breakpoint => "it terminated itself: abort, exit or a failed assertion".to_owned(),
            Trap::LoadMisaligned => format!("misaligned load from {value:#010x}"),
            Trap::StoreMisaligned => format!("misaligned store or atomic operation at {value:#010x}"),
            _ if fault.named == Some(Named::Read) => format!(
                "its command or copy reads {value:#010x}, which does not belong to this task ({})",
                self.region(value)
            ),
            _ if fault.named == Some(Named::Written) => format!(
                "its command or copy writes {value:#010x}, which this task may not write ({})",
                self.region(value)
            ),
            Trap::LoadFault => format!(
                "load from {value:#010x}, which does not belong to this task ({})",
                self.region(value)
            ),
            Trap::StoreFault => {
                format!(
                    "store or atomic operation at {value:#010x}, which this task may not write ({})",
                    self.region(value)
                )
            }
            Trap::EnvironmentCallU => "unknown environment call".to_owned(),
            Trap::Custom(SILENCE) => format!(
                "no answer from {:#010x}: the watchdog ended it; PsPIN's cluster has no watchdog and would hang",
                fault.value
            ),
            Trap::Custom(WATCHDOG) => format!("the watchdog ended it: it ran for {} clocks", self.watchdog),
            Trap::Custom(REFUSED_COMMAND) => {
                format!("its command has an invalid type, or names {value:#010x}, where there is no memory")
            }
            Trap::Custom(REFUSED_LENGTH) => {
                format!("a packet of {value} bytes: the NIC sends 1 to {MAX_FRAME}")
            }
            Trap::Custom(REFUSED_HOST) => format!(
                "host memory rejected an access to line 0x...{value:08x}: does it belong to the context?"
            ),
            trap => cause(trap).to_owned(),
        }
    }

    /// The kind of memory at an address.
    fn region(self, address: u32) -> String {
        match map::place(address, 1, self.clusters) {
            Some(Place::Handler(_)) => "L2 handler memory".to_owned(),
            Some(Place::Packet(_)) => "L2 packet buffer".to_owned(),
            Some(Place::Program(_)) => "program memory".to_owned(),
            Some(Place::L1(cluster, offset)) => format!("L1 of cluster {cluster}, {}", l1(offset as u32)),
            None => match map::target(address, 1, 0, self.clusters) {
                Some(map::Target::Memory(Place::L1(_, offset))) => {
                    format!("L1 of its cluster, {}", l1(offset as u32))
                }
                Some(map::Target::Silence) => "no register".to_owned(),
                Some(_) => "a register".to_owned(),
                None if address < 0x1000 => "no memory: a null pointer?".to_owned(),
                None => "no memory".to_owned(),
            },
        }
    }
}

/// The explanation of a refused atomic instruction.
const ATOMIC: &str = "\n  atomic instructions work on words of L2 only, and handlers cannot use their results: \
    use amo_add, compare_and_swap or another function of pspin.h";

/// The handler, HPU and packet.
pub(super) fn headline(
    handler: &str,
    how: &str,
    HpuId { cluster, core }: HpuId,
    packet: Option<(u64, u32)>,
) -> String {
    let packet = packet.map(|(packet, message)| format!(" on packet {packet} (message {message})"));
    let packet = packet.unwrap_or_default();
    format!("{handler} {how}{packet}, HPU {cluster}.{core}")
}

/// The handler, or the code outside of handlers.
pub(super) fn who(fault: &Fault, symbols: &Symbols) -> String {
    match fault.packet {
        Some(_) => symbols.name(fault.handler),
        None => "start-up".to_owned(),
    }
}

fn l1(offset: u32) -> &'static str {
    match offset {
        0..pspin::L1_PACKETS => "contexts and stacks",
        pspin::L1_PACKETS..pspin::L1_SCRATCHPADS => "packets",
        _ => "scratchpads",
    }
}

/// The kind of a fault or refusal, without its figures.
pub(super) fn kind(fault: &Fault) -> &'static str {
    match fault.named {
        Some(Named::Read) => "read of memory outside of the task",
        Some(Named::Written) => "write to memory outside of the task",
        None => cause(fault.trap),
    }
}

/// The kind of a trap, without its figures.
pub(super) fn cause(trap: Trap) -> &'static str {
    match trap {
        Trap::InstructionMisaligned => "misaligned jump",
        Trap::InstructionFault => "jump outside of the program",
        Trap::Illegal => "illegal instruction",
        Trap::Breakpoint => "abort, exit or failed assertion",
        Trap::LoadMisaligned => "misaligned load",
        Trap::LoadFault => "load not allowed",
        Trap::StoreMisaligned => "misaligned store",
        Trap::StoreFault => "store not allowed",
        Trap::EnvironmentCallU => "unknown environment call",
        Trap::EnvironmentCallM => "environment call of the runtime",
        Trap::Custom(WATCHDOG) => "watchdog",
        Trap::Custom(SILENCE) => "access without an answer",
        Trap::Custom(TERMINATED) => "the program terminated itself",
        Trap::Custom(REFUSED_COMMAND) => "invalid command",
        Trap::Custom(REFUSED_LENGTH) => "packet of invalid length",
        Trap::Custom(REFUSED_HOST) => "failed access to host memory",
        Trap::Custom(_) => "external trap",
    }
}

/// Adds source lines, from the innermost to the function that is called.
pub(super) fn where_it_is(text: &mut String, pc: u32, symbols: &Symbols) {
    for (number, place) in symbols.places(pc).iter().enumerate() {
        let how = if number == 0 { "in" } else { "inlined into" };
        let _ = write!(text, "\n  {how} {place}");
        if number == 0
            && let (Some(file), Some(line)) = (&place.file, place.line)
            && let Some(source) = symbols.source(file, line)
        {
            let _ = write!(text, "\n    {source}");
        }
    }
}
