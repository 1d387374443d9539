//! State of the clusters as their outputs show it: packets, tasks, traps, and the events of them.

mod load;

use spinneret_cluster::rv::Trap;
use spinneret_cluster::task::{CommandId, Her, Stage, main_handler};
use spinneret_cluster::{
    DataPath, Ending, Event, Fault, HpuId, Named, Profile, Program, REFUSED_LENGTH, Run, TERMINATED,
    TraceEntry, TraceEvent, digest,
};
use spinneret_regmap::MAX_FRAME;
use spinneret_regmap::pspin::{DMA_BASE, DRIVER_BASE, TERMINATE, dma, driver};
use std::collections::HashMap;

/// HPUs of a cluster.
pub(super) const CORES: usize = 8;
/// Commands that an HPU can have under way.
pub(super) const COMMANDS: usize = 4;
/// An HPU has stopped after this many traps outside of handlers without a task in between, as in the model.
const TRAPS_OUTSIDE: u32 = 8;
/// Clocks between two instructions of a thread; an access to its driver that takes longer has waited.
const SLOT_CLOCKS: u64 = 4;

/// State of the clusters. Counts survive a reset of the clusters.
#[derive(Debug)]
pub(super) struct State {
    /// Clocks.
    pub(super) now: u64,
    /// HERs since the clusters' reset.
    pub(super) hers: u64,
    pub(super) instructions: u64,
    pub(super) printed: u64,
    pub(super) progress: u64,
    pub(super) refused: u64,
    pub(super) events: Vec<Event>,
    pub(super) trace: Option<Vec<TraceEntry>>,
    pub(super) profile: Option<Profile>,
    /// HPUs that wait for a task, and those that have asked for one since the clusters' reset: a bit each.
    pub(super) idle: u64,
    pub(super) asked: u64,
    /// Packets inside, by their address.
    packets: HashMap<u32, Packet>,
    hpus: Vec<Hpu>,
    program: Option<Program>,
}

/// A packet inside.
#[derive(Clone, Copy, Debug)]
struct Packet {
    number: u64,
    her: Her,
    /// Its last handler so far.
    stage: Option<Stage>,
}

/// A task on an HPU.
#[derive(Clone, Copy, Debug)]
struct Task {
    packet: u64,
    message: u32,
    size: u32,
    stage: Stage,
    handler: u32,
    /// When its HPU took it.
    begun: Option<u64>,
    /// The cause that its HPU reported.
    failed: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Hpu {
    task: Option<Task>,
    /// Clocks of tasks that have ended.
    busy: u64,
    /// Traps outside of handlers since the last task.
    outside: u32,
    /// Clock of its last instruction.
    retired: u64,
    /// Kind of the next command, and its words.
    info: u32,
    words: [u32; driver::COMMAND_WORDS as usize],
    /// Source and destination of the next copy.
    copy: [u32; 2],
    /// The instruction that starts a command, and those that started the ones under way.
    issues: u32,
    commands: [u32; COMMANDS],
}

/// An access of an HPU to the registers of its driver, one clock after the pipeline has made it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) hpu: usize,
    pub(super) is_dma: bool,
    pub(super) offset: u32,
    /// The value of a store.
    pub(super) written: Option<u32>,
    /// The instruction.
    pub(super) pc: u32,
}

impl Access {
    fn is(&self, offset: u32) -> bool {
        !self.is_dma && self.offset == offset
    }
}

/// A trap of an HPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct HpuTrap {
    pub(super) hpu: usize,
    pub(super) cause: u32,
    pub(super) pc: u32,
    pub(super) value: u32,
    pub(super) is_user: bool,
    /// The first memory that a copy names may be accessed, so the second may not.
    pub(super) refused_second: bool,
}

/// An HPU from its number across clusters.
fn id(hpu: usize) -> HpuId {
    HpuId {
        cluster: hpu / CORES,
        core: hpu % CORES,
    }
}

/// A command from its number at the port to the NIC.
fn command(number: u32) -> CommandId {
    let number = number as usize;
    CommandId {
        cluster: (number / (CORES * COMMANDS)) as u8,
        core: (number / COMMANDS % CORES) as u8,
        local: (number % COMMANDS) as u8,
    }
}

impl State {
    pub(super) fn new(clusters: usize) -> Self {
        Self {
            now: 0,
            hers: 0,
            instructions: 0,
            printed: 0,
            progress: 0,
            refused: 0,
            events: Vec::new(),
            trace: None,
            profile: None,
            idle: 0,
            asked: 0,
            packets: HashMap::new(),
            hpus: vec![Hpu::default(); clusters * CORES],
            program: None,
        }
    }

    /// The number of HPUs.
    pub(super) fn hpus(&self) -> usize {
        self.hpus.len()
    }

    /// The number of clusters.
    pub(super) fn clusters(&self) -> usize {
        self.hpus() / CORES
    }

    /// All HPUs, a bit each.
    fn all(&self) -> u64 {
        u64::MAX >> (u64::BITS as usize - self.hpus())
    }

    /// Sets the program that is loaded, for the instructions of traps.
    pub(super) fn set_program(&mut self, program: &Program) {
        self.program = Some(program.clone());
    }

    /// The clusters are in reset: packets and tasks are discarded.
    pub(super) fn reset(&mut self) {
        let now = self.now;
        self.hers = 0;
        self.packets.clear();
        self.asked = 0;
        self.idle = self.all();
        for hpu in &mut self.hpus {
            *hpu = Hpu {
                busy: hpu.busy + hpu.running(now),
                ..Hpu::default()
            };
        }
        if let Some(profile) = &mut self.profile {
            profile.forget_waits();
        }
    }

    fn note(&mut self, what: TraceEvent) {
        let clock = self.now;
        if let Some(trace) = &mut self.trace {
            trace.push(TraceEntry { clock, what });
        }
    }

    /// A HER arrived.
    pub(super) fn came(&mut self, her: Her, bytes: &[u8]) {
        let number = self.hers;
        self.hers += 1;
        self.progress += 1;
        self.events.push(Event::Arrived {
            clock: self.now,
            packet: number,
            message: her.message,
            size: her.size,
            digest: digest(bytes),
            handler: main_handler([her.meta.header, her.meta.payload, her.meta.tail]),
        });
        self.note(TraceEvent::Her {
            message: her.message,
            is_last: her.is_last,
            address: her.address,
            size: her.size,
        });
        let packet = Packet {
            number,
            her,
            stage: None,
        };
        self.packets.insert(her.address, packet);
    }

    /// A packet is complete.
    pub(super) fn freed(&mut self, address: u32, queue: u32) {
        self.progress += 1;
        self.note(TraceEvent::Feedback { queue, address });
        if let Some(packet) = self.packets.remove(&address) {
            self.events.push(Event::Freed {
                clock: self.now,
                packet: packet.number,
            });
        }
    }

    /// An HPU gets a task: the handler, and where its packet is.
    pub(super) fn given(&mut self, hpu: usize, handler: u32, address: u32) {
        self.progress += 1;
        let Some(packet) = self.packets.get_mut(&address) else {
            return;
        };
        let meta = packet.her.meta;
        let before = packet.stage;
        let stage = [Stage::Header, Stage::Payload, Stage::Tail]
            .into_iter()
            .find(|stage| meta.code(*stage).address == handler && before < Some(*stage));
        let stage = stage.unwrap_or(Stage::Payload);
        packet.stage = Some(stage);
        self.hpus[hpu].outside = 0;
        self.hpus[hpu].task = Some(Task {
            packet: packet.number,
            message: packet.her.message,
            size: packet.her.size,
            stage,
            handler,
            begun: None,
            failed: None,
        });
    }

    /// An HPU has accessed a register of its driver.
    pub(super) fn accessed(&mut self, access: &Access) {
        let Access {
            hpu,
            is_dma,
            offset,
            written,
            pc,
        } = *access;
        let now = self.now;
        let state = &mut self.hpus[hpu];
        match written {
            _ if access.is(driver::DOORBELL) => self.ended(hpu),
            None if access.is(0) => {
                if let Some(task) = &mut state.task {
                    task.begun = Some(now);
                }
            }
            None if access.is(driver::ISSUE) => state.issues = pc,
            Some(value) if access.is(driver::ERROR) => {
                if let Some(task) = &mut state.task {
                    task.failed = Some(value);
                }
            }
            Some(value) if is_dma => match offset {
                dma::SOURCE => state.copy[0] = value,
                dma::DESTINATION => state.copy[1] = value,
                _ => {}
            },
            Some(value) if access.is(driver::INFO) => state.info = value,
            Some(value) if (driver::COMMAND..driver::COMMAND_END).contains(&offset) => {
                state.words[((offset - driver::COMMAND) / 4) as usize] = value;
            }
            _ => {}
        }
        if let Some(value) = written.filter(|_| !is_dma) {
            let hpu = id(hpu);
            self.note(TraceEvent::Written { hpu, offset, value });
        }
    }

    /// The value of a read, one clock later.
    pub(super) fn read(&mut self, access: &Access, value: u32) {
        if access.is_dma || access.written.is_some() {
            return;
        }
        if access.is(driver::ISSUE) {
            let hpu = &mut self.hpus[access.hpu];
            hpu.commands[value as usize % COMMANDS] = hpu.issues;
            if let (Some(Task { message, .. }), Some((path, bytes))) =
                (hpu.task, DataPath::of_command(hpu.info, &hpu.words))
            {
                self.events.push(Event::Moved { message, path, bytes });
            }
        }
        let (hpu, offset) = (id(access.hpu), access.offset);
        self.note(TraceEvent::Read { hpu, offset, value });
    }

    fn ended(&mut self, hpu: usize) {
        let now = self.now;
        let state = &mut self.hpus[hpu];
        state.busy += state.running(now);
        let Some(task) = state.task.take() else { return };
        self.progress += 1;
        self.events.push(Event::Finished(Run {
            packet: task.packet,
            message: task.message,
            size: task.size,
            stage: task.stage,
            handler: task.handler,
            hpu: id(hpu),
            begun: task.begun.unwrap_or(now),
            ended: now,
            ending: task.failed.map_or(Ending::Done, Ending::Failed),
        }));
    }

    /// A handler sends a packet.
    pub(super) fn sent(&mut self, number: u32, source: u64, length: u32) {
        let id = command(number);
        self.note(TraceEvent::Send { id, source, length });
        if (1..=MAX_FRAME).contains(&length) {
            return;
        }
        self.refused += 1;
        let hpu = usize::from(id.cluster) * CORES + usize::from(id.core);
        let pc = self.hpus[hpu].commands[usize::from(id.local)];
        let fault = self.fault(hpu, Trap::Custom(REFUSED_LENGTH), pc, length);
        self.events.push(Event::Refused(fault));
    }

    /// A packet has been sent.
    pub(super) fn done(&mut self, number: u32) {
        self.note(TraceEvent::Done { id: command(number) });
    }

    fn fault(&self, hpu: usize, trap: Trap, pc: u32, value: u32) -> Fault {
        let task = self.hpus[hpu].task;
        Fault {
            packet: task.map(|task| task.packet),
            message: task.map_or(0, |task| task.message),
            stage: task.map_or(Stage::Header, |task| task.stage),
            handler: task.map_or(0, |task| task.handler),
            hpu: id(hpu),
            trap,
            pc,
            value,
            named: None,
        }
    }

    /// A thread entered its trap handler.
    pub(super) fn trapped(&mut self, trapped: HpuTrap) {
        let HpuTrap {
            hpu,
            cause,
            pc,
            value,
            is_user,
            refused_second,
        } = trapped;
        let trap = match Trap::of_cause(cause) {
            Trap::StoreFault if value == TERMINATE => Trap::Custom(TERMINATED),
            trap => trap,
        };
        if !is_user {
            let state = &mut self.hpus[hpu];
            state.outside += 1;
            if state.outside == TRAPS_OUTSIDE + 1 {
                let hpu = id(hpu);
                self.events.push(Event::Halted { hpu, trap, pc });
            }
            return;
        }
        // The runtime handles environment calls.
        if trap == Trap::EnvironmentCallU {
            return;
        }
        let mut fault = self.fault(hpu, trap, pc, value);
        if trap == Trap::Illegal {
            fault.value = self.instruction_at(pc);
        }
        if let Some((address, named)) = self.named(hpu, value, refused_second) {
            (fault.value, fault.named) = (address, Some(named));
        }
        self.events.push(Event::Failed(fault));
    }

    /// The memory that a refused command or copy names, if the trap is about its start.
    fn named(&self, hpu: usize, address: u32, is_second: bool) -> Option<(u32, Named)> {
        let Hpu {
            info, words, copy, ..
        } = self.hpus[hpu];
        let [source, destination] = copy;
        // A copy from host memory writes that of the NIC.
        let reads = info >> 1 & 3 != 0 || words[4] & 1 != 0;
        match address {
            address if address == DRIVER_BASE + driver::ISSUE => {
                Some((words[2], if reads { Named::Read } else { Named::Written }))
            }
            address if address == DMA_BASE + dma::START => Some(match is_second {
                true => (destination, Named::Written),
                false => (source, Named::Read),
            }),
            _ => None,
        }
    }

    /// The bits of an instruction of the program; 0 outside of it.
    fn instruction_at(&self, pc: u32) -> u32 {
        let segments = self.program.iter().flat_map(|program| &program.segments);
        let found = segments.filter_map(|segment| {
            let start = pc.checked_sub(segment.address)? as usize;
            segment.bytes.get(start..)
        });
        let bytes = found.into_iter().next().unwrap_or_default();
        let bits = bytes
            .iter()
            .take(4)
            .rev()
            .fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        let is_short = bits & 3 != 3;
        if is_short { bits & 0xffff } else { bits }
    }

    /// An instruction of an HPU has retired, together with this access to its driver if it made one.
    pub(super) fn retired(&mut self, hpu: usize, pc: u32, access: Option<&Access>, is_user: bool) {
        let now = self.now;
        let last = std::mem::replace(&mut self.hpus[hpu].retired, now);
        let Some(profile) = &mut self.profile else { return };
        let waited = match access {
            Some(_) => (now - last).saturating_sub(SLOT_CLOCKS),
            None => 0,
        };
        if waited > 0 {
            profile.note(hpu, pc, [last, last], is_user, true);
        }
        profile.note(hpu, pc, [last + waited, now], is_user, false);
    }
}
