//! What went wrong in handlers, in words.

use super::symbols::Symbols;
use serde::Serialize;
use spinneret_cluster::map::{self, Place};
use spinneret_cluster::rv::{Op, Trap};
use spinneret_cluster::{Config, Ending, Fault, HpuId, Run, SILENCE, TERMINATED, WATCHDOG};
use std::collections::HashSet;
use std::fmt::Write as _;

/// Kinds that are counted apart; jumps into nowhere can make any number of them.
const KINDS: usize = 256;
/// Cause that stands for all kinds behind the last one.
const OTHERS: &str = "other faults";

/// Cause of an environment call of a handler.
const ENVIRONMENT_CALL: u32 = Trap::EnvironmentCallU.cause();

/// Faults of one kind: in the same handler, at the same instruction, for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultKind {
    /// The handler.
    pub handler: String,
    /// The instruction, as function and offset; empty if it is not known.
    pub place: String,
    /// Address of the instruction, if it is known.
    pub pc: Option<u32>,
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
    /// HPUs whose handler has trapped and not yet ended.
    trapped: HashSet<HpuId>,
    clusters: usize,
    watchdog: u64,
}

impl Faults {
    pub(crate) fn new(full: usize, config: &Config) -> Self {
        Self {
            full,
            kinds: Vec::new(),
            broken: Vec::new(),
            trapped: HashSet::new(),
            clusters: config.clusters,
            watchdog: config.watchdog,
        }
    }

    /// A handler trapped: what is to be said about it, if anything.
    pub(crate) fn failed(&mut self, fault: &Fault, symbols: &Symbols) -> Option<String> {
        self.trapped.insert(fault.hpu);
        self.count(fault.handler, Some(fault.pc), cause(fault.trap), symbols);
        let text = self.describe(fault, symbols);
        self.in_full(text)
    }

    /// A handler has ended: what is to be said, if it failed without a trap that was told. So do environment calls, of which
    /// only the runtime knows whether they exist.
    pub(crate) fn ended(&mut self, run: &Run, symbols: &Symbols) -> Option<String> {
        let is_told = self.trapped.remove(&run.hpu);
        let Ending::Failed(number) = run.ending else {
            return None;
        };
        if is_told {
            return None;
        }
        let cause = match number {
            ENVIRONMENT_CALL => cause(Trap::EnvironmentCallU),
            _ => "error that the runtime told",
        };
        self.count(run.handler, None, cause, symbols);
        let text = format!(
            "{}: {cause} (cause {number})",
            headline(run.handler, run.hpu, (run.packet, run.message), symbols)
        );
        self.in_full(text)
    }

    /// The text, if there were not too many before.
    fn in_full(&mut self, mut text: String) -> Option<String> {
        self.full = self.full.checked_sub(1)?;
        if self.full == 0 {
            text.push_str("\n  further faults are only counted");
        }
        Some(text)
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

    fn count(&mut self, handler: u32, pc: Option<u32>, cause: &str, symbols: &Symbols) {
        let handler = symbols.name(handler);
        let same = |kind: &&mut FaultKind| kind.pc == pc && kind.cause == cause && kind.handler == handler;
        if let Some(kind) = self.kinds.iter_mut().find(same) {
            kind.count += 1;
            return;
        }
        let mut kind = FaultKind {
            place: pc.map_or(String::new(), |pc| symbols.name(pc)),
            handler,
            pc,
            cause: cause.to_owned(),
            count: 1,
        };
        if self.kinds.len() >= KINDS {
            if let Some(others) = self.kinds.get_mut(KINDS) {
                others.count += 1;
                return;
            }
            kind = FaultKind {
                place: String::new(),
                handler: String::new(),
                pc: None,
                cause: OTHERS.to_owned(),
                count: 1,
            };
        }
        self.kinds.push(kind);
    }

    fn describe(&self, fault: &Fault, symbols: &Symbols) -> String {
        let pc = fault.pc;
        let head = headline(fault.handler, fault.hpu, (fault.packet, fault.message), symbols);
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
            None => write!(text, "\n  {pc:#010x}: there is no code of the program"),
        };
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
                Some(instruction) if instruction.op() != Op::Illegal => {
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
            Trap::Custom(SILENCE) => format!(
                "nothing answers at {:#010x}: the watchdog ended it, but the public cluster has none and would hang",
                fault.value
            ),
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
                Some(map::Target::Silence) => "no register is there".to_owned(),
                Some(_) => "a register".to_owned(),
                None if address < 0x1000 => "no memory is there: a null pointer?".to_owned(),
                None => "no memory is there".to_owned(),
            },
        }
    }
}

/// What is to be said if an atomic instruction is refused.
const ATOMIC: &str = "\n  atomic instructions are for words of L2 alone, and their results for nobody: \
    use amo_add, compare_and_swap or another function of pspin.h";

fn headline(handler: u32, hpu: HpuId, (packet, message): (u64, u32), symbols: &Symbols) -> String {
    let handler = symbols.name(handler);
    format!(
        "{handler} failed on packet {packet} (message {message}), HPU {}.{}",
        hpu.cluster, hpu.core
    )
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
        Trap::LoadFault => "load that is not allowed",
        Trap::StoreMisaligned => "misaligned store",
        Trap::StoreFault => "store that is not allowed",
        Trap::EnvironmentCallU => "environment call that does not exist",
        Trap::EnvironmentCallM => "environment call of the runtime",
        Trap::Custom(WATCHDOG) => "watchdog",
        Trap::Custom(SILENCE) => "access that nothing answers",
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

#[cfg(test)]
mod tests {
    use super::*;
    use spinneret_cluster::task::Stage;

    const HPU: HpuId = HpuId { cluster: 1, core: 2 };

    fn fault(pc: u32) -> Fault {
        Fault {
            packet: 3,
            message: 4,
            stage: Stage::Payload,
            handler: 0x1d00_0200,
            hpu: HPU,
            trap: Trap::InstructionFault,
            pc,
            value: pc,
        }
    }

    fn run(ending: Ending) -> Run {
        Run {
            packet: 3,
            message: 4,
            size: 64,
            stage: Stage::Payload,
            handler: 0x1d00_0200,
            hpu: HPU,
            begun: 0,
            ended: 9,
            ending,
        }
    }

    #[test]
    fn jumps_to_many_places_stay_within_bounds() {
        let mut faults = Faults::new(0, &Config::default());
        for pc in 0..5000 {
            assert_eq!(faults.failed(&fault(pc), &Symbols::none()), None);
        }
        let (kinds, _) = faults.finish();
        assert_eq!(kinds.len(), KINDS + 1);
        assert_eq!(
            (kinds[0].cause.as_str(), kinds[0].count),
            (OTHERS, 5000 - KINDS as u64)
        );
    }

    #[test]
    fn a_failure_is_told_once() {
        let mut faults = Faults::new(10, &Config::default());
        let symbols = Symbols::none();
        assert!(
            faults
                .failed(&fault(0), &symbols)
                .is_some_and(|text| text.contains("a null pointer?"))
        );
        assert_eq!(faults.ended(&run(Ending::Failed(1)), &symbols), None);
        assert_eq!(faults.ended(&run(Ending::Done), &symbols), None);
        let told = faults.ended(&run(Ending::Failed(8)), &symbols).unwrap();
        assert_eq!(
            told,
            "0x1d000200 failed on packet 3 (message 4), HPU 1.2: environment call that does not exist (cause 8)"
        );
        assert_eq!(faults.finish().0.iter().map(|kind| kind.count).sum::<u64>(), 2);
    }

    #[test]
    fn an_hpu_that_stands_still_is_told_every_time() {
        let mut faults = Faults::new(0, &Config::default());
        let text = faults.broken(HPU, Trap::LoadFault, 0x1d00_0104, &Symbols::none());
        assert_eq!(
            text,
            "HPU 1.2 stands still: load that is not allowed outside of any handler, in 0x1d000104 (pc 0x1d000104)\n  \
             it runs nothing until the cluster is reset"
        );
        assert_eq!(faults.finish().1.len(), 1);
    }
}
