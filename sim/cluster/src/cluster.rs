//! The whole cluster, clock by clock.

mod clock;
mod debug;
mod ports;

pub use debug::Debugger;

use crate::event::{Event, Fault, HpuId, Profile, TraceEntry};
use crate::hpu::{Hpu, World};
use crate::map::{Memory, shared, unknown};
use crate::queues::{Group, Queues};
use crate::rv::DecodeCache;
use crate::task::{CommandId, Feedback, HostCommand, NicCommand, Task};
use crate::timing::{Icache, L2Contention, Timing};
use spinneret_program::Program;
use spinneret_regmap::pspin::{PROGRAM_BASE, PROGRAM_BYTES, RESET_VECTOR};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// The shape of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Clusters, 1 to 8.
    pub clusters: usize,
    /// HPUs of each, 1 to 8.
    pub hpus: usize,
    /// Message processing queues, a power of two.
    pub queues: usize,
    /// Packets that wait in them, beside one in each.
    pub shared_packets: usize,
    /// Clocks that a handler may take; without a watchdog it counts as endless then.
    pub watchdog: u64,
    /// Whether it has the defects of the public cluster, and does what that one does without any promise: for programs that
    /// are to be tried as they would fail there. There is no watchdog then.
    pub is_strict: bool,
    /// How long things take.
    pub timing: Timing,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            clusters: 2,
            hpus: 8,
            queues: 16,
            shared_packets: 128,
            watchdog: 1_000_000,
            is_strict: false,
            timing: Timing::default(),
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
/// [`tick`](Self::tick) is one clock. Between two clocks things are put in and taken out, by whoever is around the
/// cluster; [`next`](Self::next) says for how long nothing happens if nobody does.
#[derive(Clone, Debug)]
pub struct Cluster {
    config: Config,
    world: World,
    queues: Queues,
    /// The task that was taken out of the queues and that no cluster has room for yet (`mpq_engine.sv`, state `Stalled`).
    chosen: Option<Task>,
    groups: Vec<Group>,
    hpus: Vec<Hpu>,
    feedback: VecDeque<Feedback>,
    sends: VecDeque<(u64, NicCommand)>,
    accesses: VecDeque<(u64, HostCommand)>,
    /// The last command of each number, for who wants to know whose it was.
    commands: HashMap<CommandId, Fault>,
    events: Vec<Event>,
    entry: u32,
    shared: Range<u32>,
    fetch: u32,
    now: u64,
    /// Packets that came and are not done with: those of a small slot's size, and larger ones.
    inside: [u64; 2],
    /// Instructions of all HPUs since reset.
    instructions: u64,
    /// Steps of packets since the beginning.
    progress: u64,
    /// Commands that were not done.
    refused: u64,
    /// Kept only if somebody wants it.
    profile: Option<Profile>,
    debugger: debug::Attached,
}

impl Cluster {
    /// A cluster after reset, that fetches nothing yet.
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

    /// Back to the state after reset; memories keep their contents.
    pub fn reset(&mut self) {
        let Config { clusters, hpus, .. } = self.config;
        let is_strict = self.config.is_strict;
        let queues = Queues::new(self.config.queues, self.config.shared_packets, clusters);
        self.queues = queues.strict(is_strict);
        self.chosen = None;
        self.groups = (0..clusters).map(|cluster| Group::new(cluster, hpus)).collect();
        // What they have done counts on.
        self.refused = self.refused();
        let mut busy: Vec<u64> = self.busy().collect();
        busy.resize(clusters * hpus, 0);
        let numbered = busy.into_iter().enumerate();
        self.hpus = numbered
            .map(|(number, busy)| {
                let mut hpu = Hpu::new(number / hpus, number % hpus, self.entry, is_strict);
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

    /// Back to the state after reset, and all memories are 0.
    pub fn forget(&mut self) {
        self.world.memory = Memory::new(self.config.clusters);
        self.world.decoded.invalidate(PROGRAM_BASE, PROGRAM_BYTES);
        self.entry = PROGRAM_BASE + RESET_VECTOR;
        self.shared = unknown();
        self.reset();
    }

    /// Puts a program into memory; HPUs begin with it after the next reset.
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

    /// The shape.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Clocks since the beginning.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Instructions of all HPUs since the beginning.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Commands and copies that were not done: they named memory where none is, had no type, went to host memory outside of
    /// any task, or were [refused](Self::refuse) by who is around the cluster.
    pub fn refused(&self) -> u64 {
        self.refused + self.hpus.iter().map(|hpu| hpu.driver.dma.refused).sum::<u64>()
    }

    /// Counts from now on where HPUs spend their clocks.
    pub fn enable_profile(&mut self) {
        self.profile = Some(Profile::new(self.hpus.len()));
    }

    /// Where HPUs have spent their clocks, if that is counted.
    pub fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
    }

    /// Packets that wait in queues and clusters for an HPU.
    pub fn queued(&self) -> usize {
        let in_clusters: usize = self.groups.iter().map(Group::waiting).sum();
        self.queues.waiting() + usize::from(self.chosen.is_some()) + in_clusters
    }

    /// HPUs on which a handler runs.
    pub fn busy_hpus(&self) -> usize {
        self.hpus.iter().filter(|hpu| hpu.driver.is_running()).count()
    }

    /// Whether an HPU has a task that will end: the HPU has not stopped, does not wait for an address that never answers, and
    /// its task is not [endless](Self::endless).
    pub fn goes_on(&self) -> bool {
        let is_silent = |hpu: &Hpu| self.config.is_strict && hpu.silent.is_some();
        let has_task = |hpu: &Hpu| hpu.driver.running.is_some() || hpu.driver.is_ending();
        let will_end = |hpu: &Hpu| has_task(hpu) && !hpu.is_dead && !is_silent(hpu) && !self.is_endless(hpu);
        self.hpus.iter().any(will_end)
    }

    /// Counts the steps that packets take inside: each HER that comes, each task that an HPU gets, and each that is reported.
    pub fn progress(&self) -> u64 {
        self.progress
    }

    /// The oldest task of a cluster without a watchdog that a watchdog would have ended.
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

    /// Clocks in which a handler ran since the beginning, by HPU.
    pub fn busy(&self) -> impl Iterator<Item = u64> {
        self.hpus.iter().map(|hpu| hpu.busy)
    }

    /// Whether every HPU has asked for a task since reset: start-up is over.
    pub fn is_ready(&self) -> bool {
        self.starting() == 0
    }

    /// HPUs that have not asked for a task since reset.
    pub fn starting(&self) -> usize {
        self.hpus.iter().filter(|hpu| !hpu.driver.has_asked()).count()
    }

    /// Whether a cluster's flag says that it is busy: a core that fetches instructions is, also while it waits for a task,
    /// as it never sleeps (`riscv_core.sv`, `core_busy_o`; `riscv_controller.sv`, `ctrl_busy_o`).
    pub fn is_busy(&self, cluster: usize) -> bool {
        self.fetch & 1 << cluster != 0
    }

    /// Which clusters fetch instructions, one bit each.
    pub fn set_fetch(&mut self, clusters: u32) {
        if self.fetch != clusters {
            self.fetch = clusters;
            self.hpus.iter_mut().for_each(|hpu| hpu.sleeps = false);
        }
    }

    /// Memory, to be read.
    pub fn memory(&self) -> &Memory {
        &self.world.memory
    }

    /// Bytes come into memory from outside: whether there is memory for them all.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> bool {
        if address.wrapping_sub(PROGRAM_BASE) < PROGRAM_BYTES {
            self.world.decoded.invalidate(address, bytes.len() as u32);
        }
        self.world.memory.write(address, bytes)
    }

    /// Packets that came and are not done with: those that fit a small slot of the packet buffer, and larger ones.
    pub fn packets_inside(&self) -> [u64; 2] {
        self.inside
    }

    /// Keeps from now on what passes; [`take_trace`](Self::take_trace) gives it.
    pub fn enable_trace(&mut self) {
        self.world.trace = Some(Vec::new());
    }

    /// What has passed since the last call.
    pub fn take_trace(&mut self) -> Vec<TraceEntry> {
        self.world.trace.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// What has happened since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}
