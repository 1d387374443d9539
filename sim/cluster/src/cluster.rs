//! The whole cluster, clock by clock.

mod clock;
mod debug;
mod ports;

pub use debug::Debugger;
pub use ports::size_class;

use crate::event::{Event, Fault, HpuId, Profile, TraceEntry};
use crate::hpu::{Hpu, World};
use crate::map::{Memory, shared, unknown};
use crate::queues::{Group, Queues};
use crate::rv::{CsrSet, DecodeCache};
use crate::task::{CommandId, Feedback, HostCommand, NicCommand, Task};
use crate::timing::{Icache, L2Contention, Timing};
use spinneret_program::Program;
use spinneret_regmap::pspin::{HANDLER_CLOCKS, PROGRAM_BASE, PROGRAM_BYTES, RESET_VECTOR};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Configuration of the clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Clusters, 1 to 8.
    pub clusters: usize,
    /// HPUs of each, 1 to 8.
    pub hpus: usize,
    /// Message processing queues, a power of two.
    pub queues: usize,
    /// Packets that can wait in the queues, in addition to one in each.
    pub shared_packets: usize,
    /// Clocks after which the watchdog ends a handler. A strict cluster has no watchdog and reports such a handler as endless.
    pub watchdog: u64,
    /// Whether the model has the defects and the undocumented behaviour of the PULP cluster, to find programs that would fail
    /// there. A strict cluster has no watchdog.
    pub is_strict: bool,
    /// Registers of the HPUs. Those of our own ([`CsrSet::Hpu`]) also have `csum`, and atomic operations and reservations in all
    /// memories that they can access.
    pub csrs: CsrSet,
    /// Latencies.
    pub timing: Timing,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            clusters: 2,
            hpus: 8,
            queues: 16,
            shared_packets: 128,
            watchdog: HANDLER_CLOCKS.into(),
            is_strict: false,
            csrs: CsrSet::Ri5cy,
            timing: Timing::default(),
        }
    }
}

impl Config {
    /// Spinneret's own clusters.
    pub fn spinneret() -> Self {
        Self {
            csrs: CsrSet::Hpu,
            timing: Timing::spinneret(),
            ..Self::default()
        }
    }
}

/// All clusters with their memories, scheduler and HPUs.
///
/// ```text
/// HER ==> Queues ==> Group (one a cluster): packet to L1 ==> Hpu: Hart, Driver ==> feedback
///            ^                                                 |   |
///            +--------------------- done ----------------------+   +==> commands: NIC, host
/// ```
///
/// [`tick`](Self::tick) is one clock. Between two clocks the caller exchanges HERs, feedback and commands with the cluster.
/// [`next`](Self::next) returns the next clock in which something happens without new input.
#[derive(Clone, Debug)]
pub struct Cluster {
    config: Config,
    world: World,
    queues: Queues,
    /// The task that left the queues and that no cluster has room for yet (`mpq_engine.sv`, state `Stalled`).
    chosen: Option<Task>,
    groups: Vec<Group>,
    hpus: Vec<Hpu>,
    feedback: VecDeque<Feedback>,
    sends: VecDeque<(u64, NicCommand)>,
    accesses: VecDeque<(u64, HostCommand)>,
    /// The origin of the last command with each id.
    commands: HashMap<CommandId, Fault>,
    events: Vec<Event>,
    entry: u32,
    shared: Range<u32>,
    fetch: u32,
    now: u64,
    /// Packets in flight: those that fit a small slot, and larger ones.
    inside: [u64; 2],
    /// Instructions of all HPUs since reset.
    instructions: u64,
    /// Steps of packets since the beginning.
    progress: u64,
    /// Refused commands.
    refused: u64,
    /// Recorded on request.
    profile: Option<Profile>,
    debugger: debug::Attached,
}

impl Cluster {
    /// Returns a cluster in the state after reset, with instruction fetch off.
    pub fn new(config: Config) -> Self {
        let world = World {
            memory: Memory::new(config.clusters),
            decoded: DecodeCache::new(PROGRAM_BASE, PROGRAM_BYTES),
            l2: L2Contention::default(),
            icaches: vec![Icache::new(); config.clusters],
            stdout: VecDeque::new(),
            printed: 0,
            trace: None,
        };
        let mut cluster = Self {
            queues: Queues::new(config.queues, config.shared_packets, config.clusters),
            chosen: None,
            groups: Vec::new(),
            hpus: Vec::new(),
            feedback: VecDeque::new(),
            sends: VecDeque::new(),
            accesses: VecDeque::new(),
            commands: HashMap::new(),
            events: Vec::new(),
            entry: PROGRAM_BASE + RESET_VECTOR,
            shared: unknown(),
            fetch: 0,
            now: 0,
            inside: [0; 2],
            instructions: 0,
            progress: 0,
            refused: 0,
            profile: None,
            debugger: debug::Attached::default(),
            world,
            config,
        };
        cluster.reset();
        cluster
    }

    /// Resets everything but the contents of the memories.
    pub fn reset(&mut self) {
        let Config { clusters, hpus, .. } = self.config;
        let Config { is_strict, csrs, .. } = self.config;
        let queues = Queues::new(self.config.queues, self.config.shared_packets, clusters);
        self.queues = queues.strict(is_strict);
        self.chosen = None;
        self.groups = (0..clusters).map(|cluster| Group::new(cluster, hpus)).collect();
        // Counters survive a reset.
        self.refused = self.refused();
        let mut busy: Vec<u64> = self.busy().collect();
        busy.resize(clusters * hpus, 0);
        let numbered = busy.into_iter().enumerate();
        self.hpus = numbered
            .map(|(number, busy)| {
                let mut hpu = Hpu::new(number / hpus, number % hpus, self.entry, csrs, is_strict);
                hpu.busy = busy;
                hpu
            })
            .collect();
        self.world.stdout.clear();
        self.world.l2 = L2Contention::default();
        self.world.icaches = vec![Icache::new(); clusters];
        self.feedback.clear();
        self.sends.clear();
        self.accesses.clear();
        self.commands.clear();
        self.inside = [0; 2];
        if let Some(profile) = &mut self.profile {
            profile.forget_waits();
        }
        self.fetch = 0;
    }

    /// Resets everything, and clears the memories.
    pub fn forget(&mut self) {
        self.world.memory = Memory::new(self.config.clusters);
        self.world.decoded.invalidate(PROGRAM_BASE, PROGRAM_BYTES);
        self.entry = PROGRAM_BASE + RESET_VECTOR;
        self.shared = unknown();
        self.reset();
    }

    /// Loads a program into memory, and resets the cluster.
    pub fn load(&mut self, program: &Program) {
        for segment in &program.segments {
            let is_there = self.world.memory.write(segment.address, &segment.bytes);
            debug_assert!(is_there, "the program's segments were checked");
        }
        self.world.decoded.invalidate(PROGRAM_BASE, PROGRAM_BYTES);
        self.entry = program.entry;
        self.shared = shared(program.free_memory);
        self.reset();
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the number of clocks since the cluster was created.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Returns the number of instructions that all HPUs have executed.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Returns the number of refused commands and copies. They named memory that does not exist, had no type, accessed host
    /// memory outside of a task, or were [refused](Self::refuse) by the NIC.
    pub fn refused(&self) -> u64 {
        self.refused + self.hpus.iter().map(|hpu| hpu.driver.dma.refused).sum::<u64>()
    }

    /// Starts to count the clocks of each instruction.
    pub fn enable_profile(&mut self) {
        self.profile = Some(Profile::new(self.hpus.len()));
    }

    /// Returns the clocks of each instruction, if they are counted.
    pub fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
    }

    /// Returns the number of packets that wait for an HPU.
    pub fn queued(&self) -> usize {
        let in_clusters: usize = self.groups.iter().map(Group::waiting).sum();
        self.queues.waiting() + usize::from(self.chosen.is_some()) + in_clusters
    }

    /// Returns the number of HPUs that run a handler.
    pub fn busy_hpus(&self) -> usize {
        self.hpus.iter().filter(|hpu| hpu.driver.is_running()).count()
    }

    /// Whether some task will end: its HPU has not stopped and does not wait for an address that never answers, and the task
    /// is not [endless](Self::endless).
    pub fn goes_on(&self) -> bool {
        let is_silent = |hpu: &Hpu| self.config.is_strict && hpu.silent.is_some();
        let has_task = |hpu: &Hpu| hpu.driver.running.is_some() || hpu.driver.is_ending();
        let will_end = |hpu: &Hpu| has_task(hpu) && !hpu.is_dead && !is_silent(hpu) && !self.is_endless(hpu);
        self.hpus.iter().any(will_end)
    }

    /// Returns the number of steps that packets have taken: HERs that arrived, tasks that were assigned, tasks that ended.
    pub fn progress(&self) -> u64 {
        self.progress
    }

    /// Returns the oldest task that a watchdog would have ended, on a cluster without one.
    pub fn endless(&self) -> Option<(HpuId, Task)> {
        let endless = self
            .hpus
            .iter()
            .filter(|hpu| !hpu.is_dead && self.is_endless(hpu));
        let oldest = endless.min_by_key(|hpu| hpu.driver.running.map(|running| running.given));
        oldest.and_then(|hpu| Some((hpu.driver.id(), hpu.driver.running?.task)))
    }

    fn is_endless(&self, hpu: &Hpu) -> bool {
        let since = hpu.driver.running.filter(|_| self.config.is_strict);
        since.is_some_and(|running| self.now - running.given > self.config.watchdog)
    }

    /// Returns the clocks in which each HPU ran a handler.
    pub fn busy(&self) -> impl Iterator<Item = u64> {
        self.hpus.iter().map(|hpu| hpu.busy)
    }

    /// Whether start-up is over: every HPU has asked for a task since reset.
    pub fn is_ready(&self) -> bool {
        self.starting() == 0
    }

    /// Returns the number of HPUs that have not asked for a task since reset.
    pub fn starting(&self) -> usize {
        self.hpus.iter().filter(|hpu| !hpu.driver.has_asked()).count()
    }

    /// Whether a cluster's flag says that it is busy: a core that fetches instructions is, also while it waits for a task,
    /// as it never sleeps (`riscv_core.sv`, `core_busy_o`; `riscv_controller.sv`, `ctrl_busy_o`).
    pub fn is_busy(&self, cluster: usize) -> bool {
        self.fetch & 1 << cluster != 0
    }

    /// Sets which clusters fetch instructions, one bit each.
    pub fn set_fetch(&mut self, clusters: u32) {
        if self.fetch != clusters {
            self.fetch = clusters;
            self.hpus.iter_mut().for_each(|hpu| hpu.sleeps = false);
        }
    }

    /// Returns the memories.
    pub fn memory(&self) -> &Memory {
        &self.world.memory
    }

    /// Writes to memory from outside. Returns whether all addresses exist; if not, nothing is written.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> bool {
        if address.wrapping_sub(PROGRAM_BASE) < PROGRAM_BYTES {
            self.world.decoded.invalidate(address, bytes.len() as u32);
        }
        self.world.memory.write(address, bytes)
    }

    /// Returns the number of packets in flight: those that fit a small slot of the packet buffer, and larger ones.
    pub fn packets_inside(&self) -> [u64; 2] {
        self.inside
    }

    /// Starts to record a trace; [`take_trace`](Self::take_trace) returns it.
    pub fn enable_trace(&mut self) {
        self.world.trace = Some(Vec::new());
    }

    /// Returns the trace since the last call.
    pub fn take_trace(&mut self) -> Vec<TraceEntry> {
        self.world.trace.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns the events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}
