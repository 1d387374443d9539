//! The whole cluster, clock by clock.

use crate::driver::{Ended, Ending};
use crate::event::{Event, Fault, Run, digest};
use crate::fetch::Icache;
use crate::group::Group;
use crate::hpu::{Hpu, Outcome, SILENCE, TERMINATED, WATCHDOG};
use crate::map::{PROGRAM_BASE, PROGRAM_BYTES};
use crate::memory::Memory;
use crate::profile::Profile;
use crate::protect::{Protection, shared};
use crate::queues::{Queues, Ready};
use crate::roads::Roads;
use crate::rv::{DecodeCache, Trap};
use crate::task::{CommandId, Feedback, Her, HostAction, HostCommand, NicCommand, Task};
use crate::timing::Timing;
use crate::trace::{Passed, Traced};
use crate::view::{STDOUT_CHARACTERS, World};
use spinneret_program::Program;
use std::collections::VecDeque;
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
    /// Packets that one of them holds.
    pub queue_packets: usize,
    /// Clocks that a handler may take.
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
            queue_packets: 64,
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
    groups: Vec<Group>,
    hpus: Vec<Hpu>,
    feedback: VecDeque<Feedback>,
    sends: VecDeque<(u64, NicCommand)>,
    accesses: VecDeque<(u64, HostCommand)>,
    events: Vec<Event>,
    entry: u32,
    shared: Range<u32>,
    fetch: u32,
    now: u64,
    /// Packets that came and are not done with: those of a small slot's size, and larger ones.
    inside: [u64; 2],
    /// Instructions of all HPUs since reset.
    instructions: u64,
    /// Commands that named memory where none is, had no type, or went to host memory outside of any task.
    refused: u64,
    /// Kept only if somebody wants it.
    profile: Option<Profile>,
}

impl Cluster {
    /// A cluster after reset, that fetches nothing yet.
    pub fn new(config: Config) -> Self {
        let world = World {
            memory: Memory::new(config.clusters),
            decoded: DecodeCache::new(PROGRAM_BASE, PROGRAM_BYTES),
            roads: Roads::default(),
            icaches: vec![Icache::new(); config.clusters],
            stdout: VecDeque::new(),
            printed: 0,
            trace: None,
        };
        let mut cluster = Self {
            queues: Queues::new(config.queues, config.queue_packets, config.clusters),
            groups: Vec::new(),
            hpus: Vec::new(),
            feedback: VecDeque::new(),
            sends: VecDeque::new(),
            accesses: VecDeque::new(),
            events: Vec::new(),
            entry: PROGRAM_BASE,
            shared: shared(0),
            fetch: 0,
            now: 0,
            inside: [0; 2],
            instructions: 0,
            refused: 0,
            profile: None,
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
        let queues = Queues::new(self.config.queues, self.config.queue_packets, clusters);
        self.queues = queues.strict(is_strict);
        self.groups = (0..clusters).map(|cluster| Group::new(cluster, hpus)).collect();
        self.hpus = (0..clusters * hpus)
            .map(|number| Hpu::new(number / hpus, number % hpus, self.entry, is_strict))
            .collect();
        self.world.stdout.clear();
        self.world.roads = Roads::default();
        self.world.icaches = vec![Icache::new(); clusters];
        self.feedback.clear();
        self.sends.clear();
        self.accesses.clear();
        self.inside = [0; 2];
        if let Some(profile) = &mut self.profile {
            profile.forget_waits();
        }
        self.fetch = 0;
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

    /// Commands and copies that named memory where none is, had no type, or went to host memory outside of any task; they
    /// did nothing.
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
        self.queues.waiting() + self.groups.iter().map(Group::load).sum::<usize>()
    }

    /// HPUs on which a handler runs.
    pub fn busy_hpus(&self) -> usize {
        self.hpus.iter().filter(|hpu| hpu.driver.is_running()).count()
    }

    /// Clocks in which a handler ran, by HPU.
    pub fn busy(&self) -> impl Iterator<Item = u64> {
        self.hpus.iter().map(|hpu| hpu.busy)
    }

    /// Whether every HPU has asked for a task since reset: start-up is over.
    pub fn is_ready(&self) -> bool {
        self.hpus.iter().all(|hpu| hpu.driver.has_asked())
    }

    /// Whether a handler runs in a cluster.
    pub fn is_busy(&self, cluster: usize) -> bool {
        let hpus = self.config.hpus;
        self.groups[cluster].load() > 0
            || self.hpus[cluster * hpus..][..hpus]
                .iter()
                .any(|hpu| hpu.driver.has_task())
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

    /// Whether a HER can come.
    pub fn takes_hers(&self) -> bool {
        self.queues.has_room()
    }

    /// Whether a queue is full.
    pub fn is_full(&self, queue: usize) -> bool {
        queue < self.queues.count() && self.queues.is_full(queue)
    }

    /// A HER comes.
    pub fn push(&mut self, her: Her) {
        let packet = self.queues.push(her);
        self.inside[size_class(her.size)] += 1;
        let bytes = self.world.memory.read(her.address, her.size);
        let digest = digest(bytes.unwrap_or_default());
        self.events.push(Event::Came {
            clock: self.now,
            packet,
            message: her.message,
            size: her.size,
            digest,
        });
        let Her {
            message,
            is_last,
            address,
            size,
            ..
        } = her;
        let came = Passed::Her {
            message,
            is_last,
            address,
            size,
        };
        self.world.note(self.now, came);
    }

    /// The next packet that is done with.
    pub fn feedback(&self) -> Option<&Feedback> {
        self.feedback.front()
    }

    /// It is taken.
    pub fn take_feedback(&mut self) -> Option<Feedback> {
        self.feedback.pop_front()
    }

    /// The next packet that a handler sends.
    pub fn send(&self) -> Option<&NicCommand> {
        let (at, command) = self.sends.front()?;
        (*at <= self.now).then_some(command)
    }

    /// It is taken.
    pub fn take_send(&mut self) -> Option<NicCommand> {
        self.send()?;
        let command = self.sends.pop_front()?.1;
        let NicCommand {
            id, source, length, ..
        } = command;
        self.world.note(self.now, Passed::Send { id, source, length });
        Some(command)
    }

    /// The next access to host memory.
    pub fn access(&self) -> Option<&HostCommand> {
        let (at, command) = self.accesses.front()?;
        (*at <= self.now).then_some(command)
    }

    /// It is taken.
    pub fn take_access(&mut self) -> Option<HostCommand> {
        self.access()?;
        Some(self.accesses.pop_front()?.1)
    }

    /// A command is done.
    pub fn complete(&mut self, id: CommandId) {
        let number = usize::from(id.cluster) * self.config.hpus + usize::from(id.core);
        self.world.note(self.now, Passed::Done { id });
        if let Some(hpu) = self.hpus.get_mut(number) {
            hpu.driver.complete(id.local);
            hpu.sleeps = false;
        }
    }

    /// The oldest word of standard output: {0, cluster, core, character}, eight bits each.
    pub fn stdout(&self) -> Option<u32> {
        self.world.stdout.front().copied()
    }

    /// Words that handlers have put there since the beginning.
    pub fn printed(&self) -> u64 {
        self.world.printed
    }

    /// It is taken.
    pub fn take_stdout(&mut self) -> Option<u32> {
        // Who waits for room can go on.
        if self.world.stdout.len() >= STDOUT_CHARACTERS {
            self.hpus.iter_mut().for_each(|hpu| hpu.sleeps = false);
        }
        self.world.stdout.pop_front()
    }

    /// Keeps from now on what passes; [`take_trace`](Self::take_trace) gives it.
    pub fn enable_trace(&mut self) {
        self.world.trace = Some(Vec::new());
    }

    /// What has passed since the last call.
    pub fn take_trace(&mut self) -> Vec<Traced> {
        self.world.trace.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// What has happened since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The next clock in which something happens if nothing comes; nothing if it would be never.
    pub fn next(&self) -> Option<u64> {
        if self.queues.has_work() {
            return Some(self.now + 1);
        }
        let groups = self.groups.iter().filter_map(|group| group.next(self.now));
        let hpus = self.hpus.iter().filter_map(|hpu| self.next_of(hpu));
        let commands = self.sends.front().map(|(at, _)| *at).into_iter();
        let accesses = self.accesses.front().map(|(at, _)| *at).into_iter();
        let next = groups.chain(hpus).chain(commands).chain(accesses).min();
        next.map(|at| at.max(self.now + 1))
    }

    fn next_of(&self, hpu: &Hpu) -> Option<u64> {
        if hpu.is_dead || !self.fetches(hpu) {
            return None;
        }
        if !hpu.sleeps {
            return Some(hpu.at);
        }
        let copy = hpu.driver.dma.next().filter(|_| hpu.driver.is_ending());
        copy.into_iter().chain(self.deadline(hpu)).min()
    }

    /// When the watchdog ends a handler; the public cluster has none.
    fn deadline(&self, hpu: &Hpu) -> Option<u64> {
        let running = hpu.driver.running.filter(|_| !self.config.is_strict)?;
        Some(running.since?.saturating_add(self.config.watchdog))
    }

    fn fetches(&self, hpu: &Hpu) -> bool {
        self.fetch & 1 << hpu.driver.cluster != 0
    }

    /// Lets clocks pass in which nothing happens, as [`next`](Self::next) has said.
    pub fn skip_to(&mut self, clock: u64) {
        debug_assert!(
            self.next().is_none_or(|next| clock < next),
            "something happens before"
        );
        let clocks = clock.saturating_sub(self.now);
        for hpu in self.hpus.iter_mut().filter(|hpu| hpu.driver.is_running()) {
            hpu.busy += clocks;
        }
        self.now += clocks;
    }

    /// One clock.
    pub fn tick(&mut self) {
        self.now += 1;
        self.schedule();
        for cluster in 0..self.config.clusters {
            self.groups[cluster].copy(self.now, &self.config.timing, &mut self.world.memory);
            self.assign(cluster);
        }
        for number in 0..self.hpus.len() {
            self.run(number);
        }
    }

    /// Gives one task out of the queues to a cluster.
    fn schedule(&mut self) {
        if !self.queues.has_work() {
            return;
        }
        let has_room = self.groups.iter().any(Group::has_room);
        match self.queues.take(|_| has_room) {
            Some(Ready::Run(task)) => {
                let cluster = self.choose(task.home);
                self.groups[cluster].push(task, self.now + self.config.timing.schedule);
            }
            Some(Ready::Done(task)) => self.free(&task),
            None => {}
        }
    }

    /// The home cluster if it has room, else the one with the fewest tasks.
    fn choose(&self, home: usize) -> usize {
        if self.groups[home].has_room() {
            return home;
        }
        let least = (0..self.groups.len()).min_by_key(|cluster| self.groups[*cluster].load());
        least.unwrap_or(home)
    }

    /// Gives tasks whose packet is in L1 to free HPUs, one a clock.
    fn assign(&mut self, cluster: usize) {
        let hpus = self.config.hpus;
        let free = self.hpus[cluster * hpus..][..hpus]
            .iter()
            .position(|hpu| hpu.driver.is_free() && !hpu.is_dead);
        let Some(core) = free else { return };
        let Some((task, slot)) = self.groups[cluster].take(self.now) else {
            return;
        };
        let address = self.groups[cluster].address(slot);
        let hpu = &mut self.hpus[cluster * hpus + core];
        hpu.driver.assign(task, slot, address);
        hpu.protection = match self.config.is_strict {
            true => Protection::wide(&task, address, cluster),
            false => Protection::of(&task, address, (cluster, core), &self.shared),
        };
        hpu.sleeps = false;
    }

    /// One clock of an HPU.
    fn run(&mut self, number: usize) {
        let hpu = &self.hpus[number];
        if hpu.is_dead || !self.fetches(hpu) {
            return;
        }
        self.watch(number);
        let hpu = &mut self.hpus[number];
        hpu.busy += u64::from(hpu.driver.is_running());
        if !hpu.sleeps && hpu.at <= self.now {
            let pc = hpu.hart.pc();
            let outcome = hpu.step(&mut self.world, &self.config.timing, self.now);
            if let Some(profile) = &mut self.profile {
                profile.note(number, pc, [self.now, hpu.at], &outcome, hpu.sleeps);
            }
            self.instructions += u64::from(outcome.trap.is_none() && !hpu.sleeps);
            self.follow(number, outcome);
        }
        if self.hpus[number].driver.is_ending() {
            self.end(number);
        }
    }

    /// Ends a handler that takes too long.
    fn watch(&mut self, number: usize) {
        let deadline = self.deadline(&self.hpus[number]);
        let hpu = &mut self.hpus[number];
        if deadline.is_none_or(|deadline| self.now < deadline) || hpu.in_runtime() {
            return;
        }
        let pc = hpu.hart.pc();
        let (trap, value) = match hpu.silent.take() {
            Some(address) => (Trap::Custom(SILENCE), address),
            None => (Trap::Custom(WATCHDOG), 0),
        };
        hpu.hart.raise(trap, value);
        hpu.sleeps = false;
        self.report(number, (trap, pc, value));
    }

    /// What an instruction leads to beyond its own HPU.
    fn follow(&mut self, number: usize, outcome: Outcome) {
        if let Some(address) = outcome.effect.stored {
            for (other, hpu) in self.hpus.iter_mut().enumerate() {
                if other != number {
                    hpu.hart.lost_reservation(address);
                }
            }
        }
        if let Some(id) = outcome.effect.issued {
            self.issue(number, id);
        }
        if outcome.effect.terminated {
            let hpu = &mut self.hpus[number];
            if hpu.driver.is_running() {
                let (trap, pc) = (Trap::Custom(TERMINATED), hpu.hart.pc());
                hpu.hart.raise(trap, 0);
                self.report(number, (trap, pc, 0));
            } else {
                hpu.is_dead = true;
            }
        }
        if let Some(trap) = outcome.trap {
            self.trapped(number, trap, outcome.in_handler);
        }
    }

    fn trapped(&mut self, number: usize, trap: (Trap, u32, u32), in_handler: bool) {
        match trap.0 {
            // The runtime decides what it was called for.
            Trap::EnvironmentCallU if in_handler => {}
            _ if in_handler => {
                self.report(number, trap);
                // The public cluster waits for ever for an instruction from where nobody answers.
                self.hpus[number].is_dead = self.config.is_strict && trap.0 == Trap::InstructionFault;
            }
            _ => {
                let hpu = &mut self.hpus[number];
                hpu.is_dead = true;
                let (trap, pc, _) = trap;
                let hpu = hpu.driver.id();
                self.events.push(Event::Broken { hpu, trap, pc });
            }
        }
    }

    fn report(&mut self, number: usize, (trap, pc, value): (Trap, u32, u32)) {
        let driver = &self.hpus[number].driver;
        let Some(running) = driver.running else { return };
        let task = running.task;
        self.events.push(Event::Failed(Fault {
            packet: task.packet,
            message: task.her.message,
            stage: task.stage,
            handler: task.meta.code(task.stage).address,
            hpu: driver.id(),
            trap,
            pc,
            value,
        }));
    }

    /// Ends a task, once nothing of it is under way.
    fn end(&mut self, number: usize) {
        let hpu = &mut self.hpus[number];
        let World { memory, decoded, .. } = &mut self.world;
        hpu.driver.dma.advance(self.now, memory, decoded);
        let Some(Ended { running, ending, at }) = hpu.driver.take_ended() else {
            return;
        };
        hpu.sleeps = false;
        let id = hpu.driver.id();
        let task = running.task;
        self.groups[id.cluster].release(&running);
        self.queues.finish(&task);
        self.events.push(Event::Ran(Run {
            packet: task.packet,
            message: task.her.message,
            size: task.her.size,
            stage: task.stage,
            handler: task.meta.code(task.stage).address,
            hpu: id,
            begun: running.since.unwrap_or(at),
            ended: at,
            ending,
        }));
        self.free(&task);
    }

    /// The packet of a task is done with, if the task says so.
    fn free(&mut self, task: &Task) {
        if !task.frees {
            return;
        }
        self.inside[size_class(task.her.size)] -= 1;
        let (address, queue) = (task.her.address, task.queue as u32);
        self.feedback.push_back(Feedback {
            address,
            size: task.her.copied,
            queue,
        });
        self.world.note(self.now, Passed::Feedback { queue, address });
        self.events.push(Event::Freed {
            clock: self.now,
            packet: task.packet,
        });
    }

    /// Starts a command.
    fn issue(&mut self, number: usize, id: CommandId) {
        let (info, words) = self.hpus[number].driver.command();
        let wide = |low: usize| u64::from(words[low + 1]) << 32 | u64::from(words[low]);
        let at = self.now + self.config.timing.command;
        let access = match info >> 1 & 3 {
            0 if words[4] & 1 == 1 => {
                let data = self.world.memory.read(words[2], words[3]);
                data.map(|data| (wide(0), HostAction::Write(data.to_vec())))
            }
            0 => {
                let there = self.world.memory.read(words[2], words[3]).is_some();
                let action = HostAction::Read {
                    destination: words[2],
                    bytes: words[3],
                };
                there.then_some((wide(0), action))
            }
            1 => {
                let command = NicCommand {
                    id,
                    nid: words[0],
                    fid: words[1],
                    source: wide(2),
                    length: words[4],
                    user: wide(5),
                };
                self.sends.push_back((at, command));
                return;
            }
            2 if words[2] & 1 == 1 => {
                let bytes: Vec<u8> = words[3..].iter().flat_map(|word| word.to_le_bytes()).collect();
                let length = (words[2] >> 1 & 0x1ff) as usize;
                bytes
                    .get(..length)
                    .map(|data| (wide(0), HostAction::Write(data.to_vec())))
            }
            _ => None,
        };
        // What no handler asks for belongs to no context.
        let running = self.hpus[number].driver.running;
        let Some(((host, action), running)) = access.zip(running) else {
            self.refused += 1;
            self.complete(id);
            return;
        };
        let command = HostCommand {
            id,
            message: running.task.her.message,
            host,
            action,
        };
        self.accesses.push_back((at, command));
    }
}

/// Bytes of a small slot of the packet buffer.
const SMALL_SLOT: u32 = 128;

/// Which slots a packet of that size takes: small ones (0) or large ones.
fn size_class(bytes: u32) -> usize {
    usize::from(bytes > SMALL_SLOT)
}

impl Hpu {
    /// The runtime handles the end of a handler.
    fn in_runtime(&self) -> bool {
        self.hart.privilege() == crate::rv::Privilege::Machine
    }
}

/// How a handler ended, in a word.
impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::Failed(cause) => write!(f, "failed with cause {cause}"),
        }
    }
}
