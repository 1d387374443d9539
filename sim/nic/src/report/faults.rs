//! What went wrong in handlers, in words.

use super::symbols::Symbols;
use serde::Serialize;
use spinneret_cluster::map::{self, Place};
use spinneret_cluster::rv::Trap;
use spinneret_cluster::{Config, Fault, HpuId, TERMINATED, WATCHDOG};
use std::fmt::Write as _;

/// Kinds that are counted apart; jumps into nowhere can make any number of them.
const KINDS: usize = 256;
/// Cause that stands for all kinds behind the last one.
const OTHERS: &str = "other faults";

/// Faults of one kind: in the same handler, at the same instruction, for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultKind {
    /// The handler.
    pub handler: String,
    /// The instruction, as function and offset.
    pub place: String,
    /// Address of the instruction.
    pub pc: u32,
    /// Why.
    pub cause: String,
    /// How many.
    pub count: u64,
}

/// An HPU that stands still.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenHpu {
    /// Cluster.
    pub cluster: usize,
    /// Core within it.
    pub core: usize,
    /// Where it trapped, as function and offset.
    pub place: String,
    /// Address of the instruction.
    pub pc: u32,
    /// Why.
    pub cause: String,
}

/// Counts faults, and describes the first ones.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    /// How many are still described in full.
    full: usize,
    kinds: Vec<FaultKind>,
    broken: Vec<BrokenHpu>,
    clusters: usize,
    watchdog: u64,
}

impl Faults {
    pub(crate) fn new(full: usize, config: &Config) -> Self {
        Self {
            full,
            kinds: Vec::new(),
            broken: Vec::new(),
            clusters: config.clusters,
            watchdog: config.watchdog,
        }
    }

    /// A handler trapped: what is to be said about it, if anything.
    pub(crate) fn failed(&mut self, fault: &Fault, symbols: &Symbols) -> Option<String> {
        self.count(fault, symbols);
        match self.full {
            0 => None,
            _ => {
                self.full -= 1;
                let mut text = self.describe(fault, symbols);
                if self.full == 0 {
                    text.push_str("\n  further faults are only counted");
                }
                Some(text)
            }
        }
    }

    /// An HPU trapped outside of any handler: what is to be said.
    pub(crate) fn broken(&mut self, hpu: HpuId, trap: Trap, pc: u32, symbols: &Symbols) -> String {
        let cause = cause(trap).to_owned();
        let broken = BrokenHpu {
            cluster: hpu.cluster,
            core: hpu.core,
            place: symbols.name(pc),
            pc,
            cause,
        };
        let mut text = format!(
            "HPU {}.{} stands still: {} outside of any handler, in {} (pc {pc:#010x})",
            hpu.cluster, hpu.core, broken.cause, broken.place
        );
        where_it_is(&mut text, pc, symbols);
        text.push_str("\n  it runs nothing until the cluster is reset");
        self.broken.push(broken);
        text
    }

    /// Kinds of faults, the most frequent first, and HPUs that stand still.
    pub(crate) fn finish(mut self) -> (Vec<FaultKind>, Vec<BrokenHpu>) {
        self.kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
        (self.kinds, self.broken)
    }

    fn count(&mut self, fault: &Fault, symbols: &Symbols) {
        let cause = cause(fault.trap);
        let handler = symbols.name(fault.handler);
        let same =
            |kind: &&mut FaultKind| kind.pc == fault.pc && kind.cause == cause && kind.handler == handler;
        if let Some(kind) = self.kinds.iter_mut().find(same) {
            kind.count += 1;
            return;
        }
        if self.kinds.len() > KINDS
            && let Some(others) = self.kinds.last_mut()
        {
            others.count += 1;
            return;
        }
        let is_apart = self.kinds.len() < KINDS;
        self.kinds.push(FaultKind {
            place: if is_apart {
                symbols.name(fault.pc)
            } else {
                String::new()
            },
            handler: if is_apart { handler } else { String::new() },
            pc: if is_apart { fault.pc } else { 0 },
            cause: if is_apart { cause } else { OTHERS }.to_owned(),
            count: 1,
        });
    }

    fn describe(&self, fault: &Fault, symbols: &Symbols) -> String {
        let Fault {
            hpu,
            pc,
            packet,
            message,
            ..
        } = *fault;
        let handler = symbols.name(fault.handler);
        let place = symbols.name(pc);
        let what = self.what(fault, symbols);
        let mut text = format!(
            "{handler} failed on packet {packet} (message {message}), HPU {}.{}: {what}",
            hpu.cluster, hpu.core
        );
        match symbols.instruction(pc) {
            Some(instruction) => {
                let _ = write!(text, "\n  {pc:#010x} <{place}>: {}", instruction.at(pc));
            }
            None => {
                let _ = write!(text, "\n  {pc:#010x}: there is no code of the program");
            }
        }
        where_it_is(&mut text, pc, symbols);
        text
    }

    /// Why, in words.
    fn what(&self, fault: &Fault, symbols: &Symbols) -> String {
        let (value, pc) = (fault.value, fault.pc);
        match fault.trap {
            Trap::InstructionFault => format!(
                "it jumped to {pc:#010x}, where it may execute nothing ({})",
                self.region(pc)
            ),
            Trap::Illegal => match symbols.instruction(pc) {
                Some(instruction) if instruction.op() != spinneret_cluster::rv::Op::Illegal => {
                    format!("illegal instruction: handlers may not use {instruction}")
                }
                _ => format!("illegal instruction {value:#010x}"),
            },
            Trap::Breakpoint => {
                "it stopped itself: abort, exit or an assertion that does not hold".to_owned()
            }
            Trap::LoadMisaligned => format!("misaligned load from {value:#010x}"),
            Trap::StoreMisaligned => format!("misaligned store or atomic operation at {value:#010x}"),
            Trap::LoadFault => format!(
                "load from {value:#010x}, which is not this task's ({})",
                self.region(value)
            ),
            Trap::StoreFault => {
                format!(
                    "store or atomic operation at {value:#010x}, which this task may not change ({})",
                    self.region(value)
                )
            }
            Trap::EnvironmentCallU => "environment call that does not exist".to_owned(),
            Trap::Custom(WATCHDOG) => format!("the watchdog ended it: it ran for {} clocks", self.watchdog),
            trap => cause(trap).to_owned(),
        }
    }

    /// What is at an address.
    fn region(&self, address: u32) -> String {
        match map::place(address, 1, self.clusters) {
            Some(Place::Handler(_)) => "L2 handler memory".to_owned(),
            Some(Place::Packet(_)) => "L2 packet buffer".to_owned(),
            Some(Place::Program(_)) => "program memory".to_owned(),
            Some(Place::L1(cluster, offset)) => format!("L1 of cluster {cluster}, {}", l1(offset as u32)),
            None => match map::target(address, 1, 0, self.clusters) {
                Some(map::Target::Memory(Place::L1(_, offset))) => {
                    format!("L1 of its cluster, {}", l1(offset as u32))
                }
                Some(_) => "a register".to_owned(),
                None if address < 0x1000 => "no memory is there: a null pointer?".to_owned(),
                None => "no memory is there".to_owned(),
            },
        }
    }
}

fn l1(offset: u32) -> &'static str {
    match offset {
        0..map::L1_PACKETS => "contexts and stacks",
        map::L1_PACKETS..map::L1_SCRATCHPADS => "packets",
        _ => "scratchpads",
    }
}

/// The kind of a trap, without its figures.
fn cause(trap: Trap) -> &'static str {
    match trap {
        Trap::InstructionMisaligned => "misaligned jump",
        Trap::InstructionFault => "jump to where there is no program",
        Trap::Illegal => "illegal instruction",
        Trap::Breakpoint => "abort, exit or failed assertion",
        Trap::LoadMisaligned => "misaligned load",
        Trap::LoadFault => "load from memory of others",
        Trap::StoreMisaligned => "misaligned store",
        Trap::StoreFault => "store to memory of others",
        Trap::EnvironmentCallU => "environment call that does not exist",
        Trap::EnvironmentCallM => "environment call of the runtime",
        Trap::Custom(WATCHDOG) => "watchdog",
        Trap::Custom(TERMINATED) => "the program terminated itself",
        Trap::Custom(_) => "trap from outside",
    }
}

/// Adds source lines, from the innermost to the function that is called.
fn where_it_is(text: &mut String, pc: u32, symbols: &Symbols) {
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
