//! Checks the rules of one half of a bus.

use super::ports::{Half, Ports, Protocol};
use super::rules::{Finished, ReadRules, WriteBeat, WriteRules};
use crate::agent::{Agent, Violation};
use crate::handshake::{Counts, Watch};
use crate::model::{Instance, Model, ModelError};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Checks the rules of the write or the read channels, in either direction, and counts; clones share one state.
///
/// Of both:
///
/// - Valid of each channel stays high, and the payload the same, until ready is high.
/// - Valid of each channel is low at the end of a reset.
/// - No burst crosses 4 KiB, uses AxBURST 3, has beats wider than the bus or a length that its kind
///   does not allow.
/// - EXOKAY answers exclusive bursts only.
///
/// Of writes:
///
/// - WLAST is high in the last beat of a burst and in no other.
/// - Strobes are inside of the bytes that the beat addresses.
/// - A response is for a burst of that id that is complete, comes after its last beat, and comes once.
///
/// Of reads:
///
/// - A beat is for a read of that id, not earlier than in the cycle after its address.
/// - A read has as many beats as its address says, and RLAST is high in the last and in no other. Reads
///   of one id are answered in their order and not mixed; beats of different ids may be.
///
/// A violation names the side at fault. Data before its address is allowed, as in AXI4, and checked when the address
/// comes. The form of exclusive and atomic accesses is not checked. Where the design has AWATOP, an atomic operation
/// with returned data is expected to respond on the read channel as well, and its id must not be used by others until
/// then. Slaves and masters attach a monitor themselves.
#[derive(Clone, Debug)]
pub struct AxiMonitor {
    state: Rc<RefCell<State>>,
}

/// The counters of an [`AxiMonitor`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AxiCounts {
    /// Address channel; `frames` is the number of bursts.
    pub address: Counts,
    /// Data channel; `frames` is the number of last beats.
    pub data: Counts,
    /// Response channel, where `frames` is the number of responses; reads have theirs with the data.
    pub response: Counts,
}

#[derive(Debug)]
struct State {
    prefix: String,
    ports: Ports,
    address: Watch,
    data: Watch,
    /// B; reads are answered by their data.
    response: Option<Watch>,
    rules: Rules,
}

/// The rules that join the channels.
#[derive(Debug)]
enum Rules {
    /// With the completed bursts, if they are recorded.
    Write(WriteRules, Option<VecDeque<Finished>>),
    Read(ReadRules),
}

impl AxiMonitor {
    /// Puts a monitor on that half of the AXI4 bus with that prefix.
    ///
    /// # Errors
    /// If the design has no such channels.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, prefix: &str, half: Half) -> Result<Self, ModelError> {
        Self::of(sim, prefix, (half, Protocol::Full))
    }

    /// The same for any protocol.
    pub(super) fn of<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        kind: (Half, Protocol),
    ) -> Result<Self, ModelError> {
        let ports = Ports::find(sim.dut.instance(), prefix, kind, None)?;
        let state = State {
            prefix: prefix.to_owned(),
            address: Watch::new(ports.address.channel.clone()),
            data: Watch::new(ports.data.clone()),
            response: ports.response.clone().map(Watch::new),
            rules: match ports.half {
                Half::Write => Rules::Write(WriteRules::new(ports.bytes), None),
                Half::Read => Rules::Read(ReadRules::new(ports.bytes)),
            },
            ports,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self { state })
    }

    /// The counters since the start.
    #[inline]
    pub fn counts(&self) -> AxiCounts {
        let state = self.state.borrow();
        AxiCounts {
            address: state.address.counts,
            data: state.data.counts,
            response: state.response.as_ref().unwrap_or(&state.data).counts,
        }
    }

    /// Bursts that wait for data or for their answer; of reads also the atomic operations that load.
    pub fn under_way(&self) -> usize {
        self.state.borrow().under_way().0
    }

    /// From now on, ignores what only a master can do wrong within a burst: its type, length, size and address, WLAST
    /// and strobes. Handshakes and responses are checked as before.
    pub fn check_slave_only(&self) {
        match &mut self.state.borrow_mut().rules {
            Rules::Write(rules, _) => rules.check_slave_only(),
            Rules::Read(rules) => rules.check_slave_only(),
        }
    }

    /// Keeps complete writes until they are taken.
    pub(super) fn keep_finished(&self) {
        if let Rules::Write(_, finished) = &mut self.state.borrow_mut().rules {
            *finished = Some(VecDeque::new());
        }
    }

    /// Takes the oldest completed write.
    pub(super) fn take_finished(&self) -> Option<Finished> {
        match &mut self.state.borrow_mut().rules {
            Rules::Write(_, finished) => finished.as_mut()?.pop_front(),
            Rules::Read(_) => None,
        }
    }
}

impl State {
    fn check_answer(&mut self, dut: &Instance) -> Result<(), Violation> {
        let watch = self.response.as_mut().unwrap_or(&mut self.data);
        let transferred = watch.check(dut)?;
        if !watch.levels.valid {
            return Ok(());
        }
        let (id, code) = self.ports.answer(dut);
        let last = match &self.rules {
            Rules::Write(rules, _) => rules.offer(id, code).map(|()| true),
            Rules::Read(rules) => {
                let last = self.ports.is_last(dut);
                rules.offer(id, code, last).map(|()| last)
            }
        };
        let last = last.map_err(|rule| watch.bus.violation(rule))?;
        if transferred {
            watch.count(last);
            match &mut self.rules {
                Rules::Write(rules, _) => rules.answer(id),
                Rules::Read(rules) => rules.take(id),
            }
        }
        Ok(())
    }

    fn check_request(&mut self, dut: &Instance) -> Result<(), Violation> {
        if self.address.check(dut)? {
            self.address.count(true);
            let request = self.ports.address.request(dut);
            let opened = match &mut self.rules {
                Rules::Write(rules, finished) => rules.address(request).map(|burst| keep(finished, burst)),
                Rules::Read(rules) => rules.address(request),
            };
            opened.map_err(|rule| self.address.bus.violation(rule))?;
        }
        match &mut self.rules {
            Rules::Write(rules, finished) => {
                if !self.data.check(dut)? {
                    return Ok(());
                }
                let beat = WriteBeat {
                    bytes: dut.bytes(self.ports.lanes)[..self.ports.bytes].to_vec(),
                    strobes: self.ports.strobes.map_or(0, |port| dut.value(port)),
                    last: self.ports.is_last(dut),
                };
                self.data.count(beat.last);
                let burst = rules.data(beat).map_err(|rule| self.data.bus.violation(rule))?;
                keep(finished, burst);
                Ok(())
            }
            // The handshake of atomic operations is for the monitor of the write channels.
            Rules::Read(rules) => match &self.ports.atomics {
                Some(ports) if ports.channel.transfers(dut) => {
                    let opened = rules.atomic(ports.request(dut));
                    opened.map_err(|rule| ports.channel.violation(rule))
                }
                _ => Ok(()),
            },
        }
    }

    /// All channels, each with the side that drives its valid.
    fn watches(&self) -> impl Iterator<Item = (&Watch, &'static str)> {
        let [data, answers] = match self.ports.half {
            Half::Write => [MASTER, SLAVE],
            Half::Read => [SLAVE, SLAVE],
        };
        let response = self.response.iter().map(move |watch| (watch, answers));
        [(&self.address, MASTER), (&self.data, data)]
            .into_iter()
            .chain(response)
    }

    /// Bursts that wait for data or for their answer, and beats that wait for an address.
    fn under_way(&self) -> (usize, usize) {
        match &self.rules {
            Rules::Write(rules, _) => rules.under_way(),
            Rules::Read(rules) => (rules.under_way(), 0),
        }
    }
}

const MASTER: &str = "master";
const SLAVE: &str = "slave";

/// Adds the name of the side at fault.
fn blame(side: &str) -> impl Fn(Violation) -> Violation {
    move |violation| Violation {
        rule: format!("{}: a fault of the {side}", violation.rule),
        ..violation
    }
}

fn keep(finished: &mut Option<VecDeque<Finished>>, burst: Option<Finished>) {
    if let Some(queue) = finished {
        queue.extend(burst);
    }
}

impl Agent for State {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        // A response must not come in the cycle of its request, so it is checked before that.
        self.check_answer(dut).map_err(blame(SLAVE))?;
        self.check_request(dut).map_err(blame(MASTER))
    }

    fn reset(&mut self, _dut: &mut Instance) {
        self.address.reset();
        self.data.reset();
        if let Some(response) = &mut self.response {
            response.reset();
        }
        match &mut self.rules {
            Rules::Write(rules, finished) => {
                rules.reset();
                if let Some(queue) = finished {
                    queue.clear();
                }
            }
            Rules::Read(rules) => rules.reset(),
        }
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        self.watches()
            .try_for_each(|(watch, side)| watch.check_reset(dut).map_err(blame(side)))
    }

    fn unfinished(&self) -> Option<String> {
        let waits = self.watches().any(|(watch, _)| watch.is_waiting());
        (waits || self.under_way() != (0, 0)).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let what = self.ports.half.plural();
        let (bursts, beats) = self.under_way();
        let seen = [self.address.counts.beats, self.data.counts.beats];
        let levels = self
            .watches()
            .map(|(watch, _)| format!("{} {}", watch.bus.bus, watch.levels));
        format!(
            "{}: monitor has seen {} {what}, {} beats; {bursts} {what} and {beats} beats are under way, {}",
            self.prefix,
            seen[0],
            seen[1],
            levels.collect::<Vec<_>>().join(", ")
        )
    }
}
