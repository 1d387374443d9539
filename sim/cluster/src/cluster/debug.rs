//! Debug interface: inspect and change HPUs and memory, and stop before any instruction.

use super::Cluster;
use crate::event::HpuId;
use crate::hpu::{Outcome, TERMINATED};
use crate::map::{self, Place, Target};
use crate::rv::{Hart, Instruction, Trap};
use spinneret_regmap::pspin::{HANDLER_BASE, L1_BASE, L1_STRIDE, PACKET_BASE, PROGRAM_BASE};
use std::fmt;

impl Cluster {
    /// Attaches a debugger.
    pub fn debug(&mut self, debugger: Box<dyn Debugger>) {
        self.debugger = Attached(Some(debugger));
    }

    /// Lets the debugger handle requests from outside.
    pub fn attend_debugger(&mut self) {
        self.with_debugger(|cluster, debugger| debugger.attend(cluster));
    }

    /// Returns the number of HPUs of all clusters.
    pub fn hpus(&self) -> usize {
        self.hpus.len()
    }

    /// Returns the id of the HPU with that number.
    pub fn id(&self, hpu: usize) -> HpuId {
        self.hpus[hpu].driver.id()
    }

    /// Returns the hart of an HPU.
    pub fn hart(&self, hpu: usize) -> &Hart {
        &self.hpus[hpu].hart
    }

    /// Returns the hart of an HPU for changes. An instruction that waits is retried.
    pub fn hart_mut(&mut self, hpu: usize) -> &mut Hart {
        let hpu = &mut self.hpus[hpu];
        hpu.sleeps = false;
        &mut hpu.hart
    }

    /// Reads memory or the words of the task as an HPU sees them, without side effects. Returns the number of bytes read.
    pub fn read_as(&self, hpu: usize, address: u32, bytes: &mut [u8]) -> usize {
        let driver = &self.hpus[hpu].driver;
        let task;
        let there = match map::target(address, 1, driver.cluster, self.config.clusters) {
            Some(Target::Memory(place)) => self.world.memory.from(place),
            Some(Target::Driver(offset)) => {
                task = driver.task_bytes();
                task.get(offset as usize..).unwrap_or_default()
            }
            _ => return 0,
        };
        let count = bytes.len().min(there.len());
        bytes[..count].copy_from_slice(&there[..count]);
        count
    }

    /// Writes memory as an HPU sees it, all bytes or none. Returns whether the memory exists.
    pub fn write_as(&mut self, hpu: usize, address: u32, bytes: &[u8]) -> bool {
        let length = u32::try_from(bytes.len()).ok();
        let place = length.and_then(|length| self.place_of(hpu, address, length));
        place.is_some_and(|place| self.write(address_of(place), bytes))
    }

    /// Returns the instruction at an address; [`Op::Illegal`](crate::rv::Op::Illegal) outside of programs.
    pub fn instruction_at(&self, address: u32) -> Instruction {
        let bytes = self.world.memory.read(address, 4);
        let bytes = bytes
            .or_else(|| self.world.memory.read(address, 2))
            .unwrap_or_default();
        Instruction::decode(
            bytes
                .iter()
                .rev()
                .fold(0, |bits, byte| bits << 8 | u32::from(*byte)),
        )
    }

    fn place_of(&self, hpu: usize, address: u32, bytes: u32) -> Option<Place> {
        let cluster = self.hpus[hpu].driver.cluster;
        match map::target(address, bytes, cluster, self.config.clusters)? {
            Target::Memory(place) => Some(place),
            _ => None,
        }
    }

    fn with_debugger(&mut self, act: impl FnOnce(&mut Self, &mut dyn Debugger)) {
        if let Some(mut debugger) = self.debugger.0.take() {
            act(self, &mut *debugger);
            self.debugger = Attached(Some(debugger));
        }
    }

    /// One clock of all HPUs with a debugger attached.
    #[cold]
    pub(super) fn run_debugged(&mut self) {
        self.with_debugger(|cluster, debugger| {
            for number in 0..cluster.hpus.len() {
                if let Some((trap, _)) = cluster.overdue(number) {
                    debugger.faulted(cluster, number, trap);
                }
                cluster.run(number, |cluster, number| {
                    cluster.execute_debugged(number, debugger)
                });
            }
        });
    }

    fn execute_debugged(&mut self, number: usize, debugger: &mut dyn Debugger) {
        if !debugger.before(self, number) {
            return;
        }
        let hart = self.hpus[number].hart.clone();
        let mut outcome = self.step(number);
        if let Some(trap) = self.fault(number, &outcome) {
            // An instruction that traps has no other effect, so the hart can be put back before it.
            if outcome.trap.is_some() {
                self.hpus[number].hart = hart;
            }
            debugger.faulted(self, number, trap);
            if outcome.trap.is_some() {
                outcome = self.step(number);
            }
        }
        let waits = self.hpus[number].sleeps;
        self.account(number, outcome);
        if !waits {
            debugger.after(self, number);
        }
    }

    /// The trap by which an instruction ends its handler.
    fn fault(&self, number: usize, outcome: &Outcome) -> Option<Trap> {
        match outcome.trap {
            Some((Trap::EnvironmentCallU, ..)) => None,
            Some((trap, ..)) => outcome.in_handler.then_some(trap),
            None => {
                let ends = outcome.effect.terminated && self.hpus[number].driver.is_running();
                ends.then_some(Trap::Custom(TERMINATED))
            }
        }
    }
}

/// The global address of a place.
fn address_of(place: Place) -> u32 {
    match place {
        Place::L1(cluster, offset) => L1_BASE + cluster as u32 * L1_STRIDE + offset as u32,
        Place::Handler(offset) => HANDLER_BASE + offset as u32,
        Place::Packet(offset) => PACKET_BASE + offset as u32,
        Place::Program(offset) => PROGRAM_BASE + offset as u32,
    }
}

/// A debugger. HPUs are numbered across clusters, beginning with those of cluster 0.
///
/// Every call has access to the whole cluster, in the middle of a clock. Simulated time stops until the call returns, so
/// debugging does not change the timing of a run.
pub trait Debugger {
    /// Handles requests from outside. Called between two clocks, also while the cluster is idle.
    fn attend(&mut self, cluster: &mut Cluster);

    /// Returns whether an HPU may execute the instruction at its program counter. If not, it asks again in the next clock.
    fn before(&mut self, cluster: &mut Cluster, hpu: usize) -> bool;

    /// Called after an HPU has executed an instruction.
    fn after(&mut self, cluster: &mut Cluster, hpu: usize);

    /// Called before a handler is ended, by a trap of the instruction at its program counter or by the watchdog. The trap
    /// follows, unless the debugger has removed its cause.
    fn faulted(&mut self, cluster: &mut Cluster, hpu: usize, trap: Trap);
}

/// Holds the attached debugger.
#[derive(Default)]
pub(crate) struct Attached(pub(crate) Option<Box<dyn Debugger>>);

/// A copy of a cluster has no debugger.
impl Clone for Attached {
    fn clone(&self) -> Self {
        Self(None)
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Attached").field(&self.0.is_some()).finish()
    }
}
