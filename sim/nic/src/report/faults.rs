//! Faults of handlers: counted by kind, the first of each described in full.

use super::fault_text::{Explainer, cause, headline, kind, where_it_is, who};
use super::symbols::Symbols;
use serde::Serialize;
use spinneret_cluster::rv::Trap;
use spinneret_cluster::{Config, Ending, Fault, HpuId, Run};
use std::collections::HashSet;

/// Maximum number of kinds; wild jumps can cause any number of them.
const KINDS: usize = 256;
/// Cause of all further kinds.
const OTHERS: &str = "other faults";

/// Cause of an environment call of a handler.
const ENVIRONMENT_CALL: u32 = Trap::EnvironmentCallU.cause();

/// Faults or refusals of one kind: in the same handler, at the same instruction, for the same reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultKind {
    /// The handler; `start-up` outside of handlers.
    pub handler: String,
    /// The instruction, as function and offset; empty if it is not known.
    pub place: String,
    /// The handler's source line, as file and number; empty if it is not known.
    pub source: String,
    /// Address of the instruction, if it is known.
    pub pc: Option<u32>,
    /// Why.
    pub cause: String,
    /// How many.
    pub count: u64,
}

/// An HPU that has stopped.
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

/// Counts of faults.
#[derive(Clone, Debug)]
pub(super) struct FaultCounts {
    /// Faults, the most frequent kind first.
    pub(super) faults: Vec<FaultKind>,
    /// Refused commands, the most frequent kind first.
    pub(super) refusals: Vec<FaultKind>,
    /// HPUs that have stopped.
    pub(super) broken: Vec<BrokenHpu>,
}

/// A kind, and whether its first fault was reported.
#[derive(Clone, Debug, Default)]
struct Kind {
    report: FaultKind,
    is_told: bool,
}

impl Kind {
    /// The message after one more of this kind: in full for the first one, unless there are too many kinds; then the count,
    /// at each power of ten.
    fn tell(&mut self, full: &mut usize, text: impl FnOnce() -> String) -> Option<String> {
        let FaultKind {
            handler,
            place,
            cause,
            count,
            ..
        } = &self.report;
        if *count == 1 {
            *full = full.checked_sub(1)?;
            self.is_told = true;
            let mut text = text();
            if *full == 0 {
                text.push_str("\n  further kinds of faults and refusals are only counted");
            }
            return Some(text);
        }
        let is_due = self.is_told && 10_u64.pow(count.ilog10()) == *count;
        let place = match &place[..] {
            "" => String::new(),
            place => format!(" in {place}"),
        };
        is_due.then(|| format!("{count} times so far: {cause}{place} of {handler}"))
    }
}

/// Kinds and their counts.
#[derive(Clone, Debug, Default)]
struct Kinds(Vec<Kind>);

impl Kinds {
    /// Counts one: its kind.
    fn count(&mut self, handler: String, pc: Option<u32>, cause: &str, symbols: &Symbols) -> &mut Kind {
        let same = |Kind { report, .. }: &Kind| {
            report.pc == pc && report.cause == cause && report.handler == handler
        };
        let place = self.0.iter().position(same).unwrap_or(self.0.len().min(KINDS));
        if place == self.0.len() {
            let report = match place {
                KINDS => FaultKind {
                    cause: OTHERS.to_owned(),
                    ..FaultKind::default()
                },
                _ => FaultKind {
                    place: pc.map_or(String::new(), |pc| symbols.name(pc)),
                    source: pc.map_or(String::new(), |pc| source(pc, symbols)),
                    handler,
                    pc,
                    cause: cause.to_owned(),
                    count: 0,
                },
            };
            self.0.push(Kind {
                report,
                is_told: false,
            });
        }
        let kind = &mut self.0[place];
        kind.report.count += 1;
        kind
    }

    /// The most frequent one first.
    fn sorted(&self) -> Vec<FaultKind> {
        let mut kinds: Vec<_> = self.0.iter().map(|kind| kind.report.clone()).collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
        kinds
    }
}

/// The source line of an instruction in its function, not in inlined code.
fn source(pc: u32, symbols: &Symbols) -> String {
    let places = symbols.places(pc);
    match places.last() {
        Some(place) => match (&place.file, place.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => String::new(),
        },
        None => String::new(),
    }
}

/// Counts faults, and describes the first ones.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    /// Remaining number of kinds that are described in full.
    full: usize,
    faults: Kinds,
    refusals: Kinds,
    broken: Vec<BrokenHpu>,
    /// HPUs whose handler has trapped and not yet ended.
    trapped: HashSet<HpuId>,
    explainer: Explainer,
}

impl Faults {
    pub(super) fn new(full: usize, config: &Config) -> Self {
        Self {
            full,
            faults: Kinds::default(),
            refusals: Kinds::default(),
            broken: Vec::new(),
            trapped: HashSet::new(),
            explainer: Explainer::new(config),
        }
    }

    /// A handler trapped: the message, if any.
    pub(super) fn failed(&mut self, fault: &Fault, symbols: &Symbols) -> Option<String> {
        self.trapped.insert(fault.hpu);
        let kind = self
            .faults
            .count(who(fault, symbols), Some(fault.pc), kind(fault), symbols);
        kind.tell(&mut self.full, || {
            self.explainer.describe(fault, "failed", symbols)
        })
    }

    /// A command was refused: the message, if any.
    pub(super) fn refused(&mut self, fault: &Fault, symbols: &Symbols) -> Option<String> {
        let kind = self
            .refusals
            .count(who(fault, symbols), Some(fault.pc), kind(fault), symbols);
        kind.tell(&mut self.full, || {
            self.explainer.describe(fault, "was refused something", symbols)
        })
    }

    /// A handler has ended: the message, if it failed without a reported trap, such as by an environment call, of which
    /// only the runtime knows whether it exists.
    pub(super) fn ended(&mut self, run: &Run, symbols: &Symbols) -> Option<String> {
        let is_told = self.trapped.remove(&run.hpu);
        let Ending::Failed(number) = run.ending else {
            return None;
        };
        if is_told {
            return None;
        }
        let cause = match number {
            ENVIRONMENT_CALL => cause(Trap::EnvironmentCallU),
            _ => "error reported by the runtime",
        };
        let handler = symbols.name(run.handler);
        let kind = self.faults.count(handler.clone(), None, cause, symbols);
        kind.tell(&mut self.full, || {
            let head = headline(&handler, "failed", run.hpu, Some((run.packet, run.message)));
            format!("{head}: {cause} (cause {number})")
        })
    }

    /// An HPU trapped outside of handlers: the message.
    pub(super) fn broken(&mut self, hpu: HpuId, trap: Trap, pc: u32, symbols: &Symbols) -> String {
        let cause = cause(trap).to_owned();
        let broken = BrokenHpu {
            cluster: hpu.cluster,
            core: hpu.core,
            place: symbols.name(pc),
            pc,
            cause,
        };
        let mut text = format!(
            "HPU {}.{} stopped: {} outside of any handler, in {} (pc {pc:#010x})",
            hpu.cluster, hpu.core, broken.cause, broken.place
        );
        where_it_is(&mut text, pc, symbols);
        text.push_str("\n  it stays stopped until the cluster is reset");
        self.broken.push(broken);
        text
    }

    /// The counts so far.
    pub(super) fn troubles(&self) -> FaultCounts {
        FaultCounts {
            faults: self.faults.sorted(),
            refusals: self.refusals.sorted(),
            broken: self.broken.clone(),
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
            packet: Some(3),
            message: 4,
            stage: Stage::Payload,
            handler: 0x1d00_0200,
            hpu: HPU,
            trap: Trap::InstructionFault,
            pc,
            value: pc,
            named: None,
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
    fn the_number_of_kinds_is_bounded() {
        let mut faults = Faults::new(0, &Config::default());
        for pc in 0..5000 {
            assert_eq!(faults.failed(&fault(pc), &Symbols::none()), None);
        }
        let kinds = faults.troubles().faults;
        assert_eq!(kinds.len(), KINDS + 1);
        assert_eq!(
            (kinds[0].cause.as_str(), kinds[0].count),
            (OTHERS, 5000 - KINDS as u64)
        );
    }

    #[test]
    fn equal_faults_are_described_once_and_then_counted() {
        let mut faults = Faults::new(2, &Config::default());
        let symbols = Symbols::none();
        let mut tell = |pc: u32| faults.failed(&fault(pc), &symbols);
        assert!(tell(0x10).is_some_and(|text| !text.contains("only counted")));
        let later: Vec<String> = (0..999).filter_map(|_| tell(0x10)).collect();
        let so_far =
            |count| format!("{count} times so far: jump outside of the program in 0x00000010 of 0x1d000200");
        assert_eq!(later, [10, 100, 1000].map(so_far));
        // A second kind is described, and a third one only counted.
        assert!(tell(0x20).is_some_and(|text| text.contains("only counted")));
        assert!((0..100).all(|_| tell(0x30).is_none()));
        assert_eq!((0..9).filter_map(|_| tell(0x20)).collect::<Vec<_>>().len(), 1);
        let counts = faults
            .troubles()
            .faults
            .iter()
            .map(|kind| kind.count)
            .collect::<Vec<_>>();
        assert_eq!(counts, [1000, 100, 10]);
    }

    #[test]
    fn a_failure_is_reported_once() {
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
            "0x1d000200 failed on packet 3 (message 4), HPU 1.2: unknown environment call (cause 8)"
        );
        assert_eq!(
            faults
                .troubles()
                .faults
                .iter()
                .map(|kind| kind.count)
                .sum::<u64>(),
            2
        );
    }

    #[test]
    fn each_stopped_hpu_is_reported() {
        let mut faults = Faults::new(0, &Config::default());
        let text = faults.broken(HPU, Trap::LoadFault, 0x1d00_0104, &Symbols::none());
        assert_eq!(
            text,
            "HPU 1.2 stopped: load not allowed outside of any handler, in 0x1d000104 (pc 0x1d000104)\n  \
             it stays stopped until the cluster is reset"
        );
        assert_eq!(faults.troubles().broken.len(), 1);
    }
}
