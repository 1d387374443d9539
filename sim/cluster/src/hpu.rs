//! An HPU: a hart with its driver, and its view of memory and peripherals.

use crate::driver::{Driver, Read, Write};
use crate::event::{Named, TraceEntry, TraceEvent};
use crate::map::{self, Memory, Place, Protection, Target};
use crate::rv::{
    Access, Bus, CsrSet, DecodeCache, Fault, Hart, Instruction, Privilege, Reservations, Step, Trap, Width,
};
use crate::task::CommandId;
use crate::timing::{AccessKind, Fetch, Icache, L2Contention, Timing};
use spinneret_isa::cause;
use spinneret_regmap::pspin::{
    CLUSTER_HARTS, L1_SCRATCHPADS, PROGRAM_BASE, PROGRAM_BYTES, driver as register,
};
use std::collections::VecDeque;

/// Cause of a trap when a handler takes too long.
pub const WATCHDOG: u32 = cause::STOPPED;
/// Cause of a trap when a handler ends its program.
pub const TERMINATED: u32 = 25;
/// Cause of a trap when a handler accesses an address that never answers; the hardware would hang.
pub const SILENCE: u32 = 26;
/// Cause of a refusal: the command has no type, names memory that does not exist, or accesses host memory outside of a task.
pub const REFUSED_COMMAND: u32 = 27;
/// Cause of a refusal: the NIC cannot send a packet of this length.
pub const REFUSED_LENGTH: u32 = 28;
/// Cause of a refusal: an access to host memory failed; the value is the lower half of its address.
pub const REFUSED_HOST: u32 = 29;

/// An HPU.
#[derive(Clone, Debug)]
pub(crate) struct Hpu {
    pub(crate) hart: Hart,
    pub(crate) driver: Driver,
    pub(crate) protection: Protection,
    /// When its next instruction begins.
    pub(crate) at: u64,
    /// The instruction stalls until an external event.
    pub(crate) sleeps: bool,
    /// It has stopped for good.
    pub(crate) is_dead: bool,
    /// Traps outside of handlers, with their addresses.
    pub(crate) outside: Vec<(Trap, u32)>,
    /// Clocks in which a handler ran.
    pub(crate) busy: u64,
    /// The address that it waits for and that never answers.
    pub(crate) silent: Option<u32>,
    fetch: Fetch,
    /// It is one of our own.
    is_own: bool,
    is_strict: bool,
}

/// Outcome of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) effect: Effect,
    /// Where.
    pub(crate) pc: u32,
    /// The trap, its address, and the address or bits in question.
    pub(crate) trap: Option<(Trap, u32, u32)>,
    /// The instruction was one of a handler, not of the runtime.
    pub(crate) in_handler: bool,
}

impl Hpu {
    pub(crate) fn new(cluster: usize, core: usize, entry: u32, csrs: CsrSet, is_strict: bool) -> Self {
        Self {
            hart: Hart::new(cluster as u32 * CLUSTER_HARTS + core as u32, entry).with_csrs(csrs),
            driver: Driver::new(cluster, core, is_strict),
            protection: Protection::default(),
            at: 0,
            sleeps: false,
            is_dead: false,
            outside: Vec::new(),
            busy: 0,
            silent: None,
            fetch: Fetch::default(),
            is_own: csrs == CsrSet::Hpu,
            is_strict,
        }
    }

    /// Executes one instruction.
    #[inline]
    pub(crate) fn step(&mut self, world: &mut World, timing: &Timing, now: u64) -> Outcome {
        let mut view = View {
            world,
            timing,
            driver: &mut self.driver,
            protection: &self.protection,
            now,
            is_own: self.is_own,
            is_strict: self.is_strict,
            effect: Effect::default(),
        };
        let in_handler = self.hart.privilege() == Privilege::User;
        let pc = self.hart.pc();
        let step = self.hart.step(&mut view, &timing.costs, now);
        let effect = view.effect;
        self.silent = effect.silent;
        let mut outcome = Outcome {
            effect,
            pc,
            trap: None,
            in_handler,
        };
        match step {
            Step::Retired { clocks } => {
                let cache = &mut world.icaches[self.driver.cluster];
                let wait = self.fetch.wait(pc, now, cache, timing);
                self.at = now + u64::from(clocks.max(1) + wait);
            }
            Step::Waits => {
                self.at = now + 1;
                self.sleeps = true;
            }
            Step::Trapped {
                trap,
                pc,
                value,
                clocks,
            } => {
                self.at = now + u64::from(clocks.max(1));
                outcome.trap = Some((trap, pc, effect.named.map_or(value, |(address, _)| address)));
            }
        }
        outcome
    }

    /// Whether the runtime executes, not a handler.
    pub(crate) fn in_runtime(&self) -> bool {
        self.hart.privilege() == Privilege::Machine
    }
}

/// State shared by all HPUs.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) memory: Memory,
    /// Instructions of program memory, decoded.
    pub(crate) decoded: DecodeCache,
    /// Contention for L2.
    pub(crate) l2: L2Contention,
    /// The instruction cache of each cluster.
    pub(crate) icaches: Vec<Icache>,
    /// Standard output: {0, cluster, core, character}, eight bits each.
    pub(crate) stdout: VecDeque<u32>,
    /// Words ever written there.
    pub(crate) printed: u64,
    /// Recorded on request.
    pub(crate) trace: Option<Vec<TraceEntry>>,
}

impl World {
    /// Adds an entry to the trace.
    pub(crate) fn note(&mut self, clock: u64, what: TraceEvent) {
        if let Some(trace) = &mut self.trace {
            trace.push(TraceEntry { clock, what });
        }
    }
}

/// Result of an atomic operation outside of the own L1, whatever the word held: the PULP cluster returns the write
/// response, which follows the data (`per2axi_res_channel.sv`, state `WAIT_B`).
const FAR_ATOMIC_RESULT: u32 = 1;
/// Result of a load from program memory (recorded: `sim/interop/recorded/accesses.csv`).
const NO_PROGRAM: u32 = 0xbadc_ab1e;

/// Capacity of standard output in characters; writes to a full one stall.
pub(crate) const STDOUT_CHARACTERS: usize = 8192;

/// The bus of one HPU, for one instruction.
pub(crate) struct View<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) timing: &'a Timing,
    pub(crate) driver: &'a mut Driver,
    pub(crate) protection: &'a Protection,
    pub(crate) now: u64,
    /// The HPU is one of our own, whose atomic operations and reservations work in all memories.
    pub(crate) is_own: bool,
    /// Includes undocumented behaviour of the PULP cluster.
    pub(crate) is_strict: bool,
    pub(crate) effect: Effect,
}

/// Side effects of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    /// A word of memory that was written.
    pub(crate) stored: Option<u32>,
    /// A command was started.
    pub(crate) issued: Option<CommandId>,
    /// The task was begun.
    pub(crate) began: bool,
    /// The handler ended.
    pub(crate) ended: bool,
    /// The HPU's program is over.
    pub(crate) terminated: bool,
    /// It waits for an address that never answers.
    pub(crate) silent: Option<u32>,
    /// The command or copy that it would start names this address, which it may not access.
    pub(crate) named: Option<(u32, Named)>,
}

impl View<'_> {
    /// The target of an address, if the access is allowed.
    #[inline]
    fn target(&self, address: u32, bytes: u32, who: Privilege, writes: bool) -> Result<Target, Fault> {
        let cluster = self.driver.cluster;
        let target = map::target(address, bytes, cluster, self.world.memory.clusters()).ok_or(Fault)?;
        let allowed =
            who == Privilege::Machine || self.protection.allows(address, bytes, cluster, target, writes);
        if allowed { Ok(target) } else { Err(Fault) }
    }

    /// Clocks of an access to memory, beyond those of the instruction.
    fn latency(&mut self, place: Place, kind: AccessKind, who: Privilege) -> u32 {
        let (timing, cluster) = (self.timing, self.driver.cluster);
        let is_upper = match place {
            Place::Packet(_) => true,
            Place::L1(_, offset) => offset >= L1_SCRATCHPADS as usize,
            Place::Handler(_) | Place::Program(_) => false,
        };
        let upper = if is_upper && who == Privilege::User {
            timing.upper
        } else {
            0
        };
        upper
            + match place {
                Place::L1(there, _) if there == cluster => timing.l1,
                Place::L1(..) if kind == AccessKind::Load => timing.l1_remote_load,
                Place::L1(..) => timing.l1_remote_store,
                _ => self.world.l2.access(place, kind, self.now, timing),
            }
    }

    fn stored(&mut self, address: u32, place: Place) {
        self.effect.stored = Some(address);
        if let Place::Program(offset) = place {
            self.world.decoded.invalidate(PROGRAM_BASE + offset as u32, 4);
        }
    }

    /// Checks that a command or copy accesses only memory that the handler itself may access.
    fn reaches(&mut self, address: u32, bytes: u32, who: Privilege, writes: bool) -> Result<(), Fault> {
        if bytes == 0 || self.is_strict {
            return Ok(());
        }
        // Both take global addresses only, and handlers cannot load from program memory.
        let place = map::place(address, bytes, self.world.memory.clusters());
        let is_there = place.is_some_and(|place| !matches!(place, Place::Program(_)));
        match self.target(address, bytes, who, writes) {
            Ok(Target::Memory(_)) if is_there => Ok(()),
            _ => {
                let named = if writes { Named::Written } else { Named::Read };
                self.effect.named = Some((address, named));
                Err(Fault)
            }
        }
    }

    /// Checks the memory of a command that is started.
    fn check_command(&mut self, who: Privilege) -> Result<(), Fault> {
        match self.driver.command_memory().filter(|_| who == Privilege::User) {
            Some(memory) => self.reaches(memory.address, memory.bytes, who, memory.is_written),
            None => Ok(()),
        }
    }

    fn read_register(&mut self, offset: u32, who: Privilege) -> Result<Access, Fault> {
        if offset == register::ISSUE {
            self.check_command(who)?;
        }
        let read = self.driver.read(offset);
        if read != Read::Wait && offset < register::TASK_END {
            self.effect.began = self.driver.begin(self.now);
        }
        let value = match read {
            Read::Value(value) => value,
            Read::Wait => return Ok(Access::Wait),
            Read::Issue(id, told) => {
                self.effect.issued = Some(id);
                told
            }
            Read::End => {
                self.end_task();
                0
            }
            Read::Nothing => return Err(Fault),
        };
        let hpu = self.driver.id();
        self.world.note(self.now, TraceEvent::Read { hpu, offset, value });
        let clocks = self.timing.register + self.effect.issued.map_or(0, |_| self.timing.issue);
        Ok(Access::Done { value, clocks })
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<Access, Fault> {
        match self.driver.write(offset, value) {
            Write::Done => {}
            Write::Wait => return Ok(Access::Wait),
            Write::End => self.end_task(),
            Write::Nothing => return Err(Fault),
        }
        let hpu = self.driver.id();
        self.world
            .note(self.now, TraceEvent::Written { hpu, offset, value });
        Ok(self.register(0))
    }

    fn end_task(&mut self) {
        self.driver.begin(self.now);
        self.driver.end(self.now);
        self.effect.ended = true;
    }

    fn read_dma(&mut self, offset: u32, who: Privilege) -> Result<Access, Fault> {
        if let Some((source, destination, bytes)) = self.driver.dma.would_start(offset) {
            self.reaches(source, bytes, who, false)?;
            self.reaches(destination, bytes, who, true)?;
        }
        let World { memory, decoded, .. } = &mut *self.world;
        let value = self
            .driver
            .dma
            .read(offset, self.now, self.timing, memory, decoded);
        Ok(self.register(value.ok_or(Fault)?))
    }

    /// Completes an access to a register.
    fn register(&self, value: u32) -> Access {
        let clocks = self.timing.register;
        Access::Done { value, clocks }
    }

    /// Prints a character. As in the hardware, a character for an HPU that does not exist is lost.
    fn print(&mut self, cluster: usize, core: usize, character: u8) -> Access {
        if self.world.stdout.len() >= STDOUT_CHARACTERS {
            return Access::Wait;
        }
        if cluster < self.world.icaches.len() {
            let who = (cluster as u32) << 16 | (core as u32) << 8;
            self.world.stdout.push_back(who | u32::from(character));
            self.world.printed += 1;
        }
        Access::Done {
            value: 0,
            clocks: self.timing.l2_store,
        }
    }

    /// Stalls at an address that never answers, until the watchdog ends the handler.
    fn silence(&mut self, address: u32) -> Access {
        self.effect.silent = Some(address);
        Access::Wait
    }
}

impl Bus for View<'_> {
    #[inline]
    fn fetch(&mut self, address: u32, _: Privilege) -> Result<u32, Fault> {
        let offset = address.wrapping_sub(PROGRAM_BASE);
        if offset >= PROGRAM_BYTES {
            return Err(Fault);
        }
        let bytes = self.world.memory.from(Place::Program(offset as usize));
        let byte = |number: usize| u32::from(bytes.get(number).copied().unwrap_or(0)) << (8 * number);
        Ok((0..4).map(byte).sum())
    }

    #[inline]
    fn decoded(&self, address: u32, _: Privilege) -> Option<&Instruction> {
        self.world.decoded.get(address)
    }

    fn remember(&mut self, address: u32, instruction: Instruction) {
        self.world.decoded.insert(address, instruction);
    }

    /// Refused unless strict, because reservations are unreliable in the PULP cluster. L1 has none: `sc.w` always stores, and
    /// returns the old word. L2 keeps them by transaction id (`axi_riscv_lrsc.sv`), which does not identify the HPU
    /// (`axi_id_remap.sv` in `pe_noc.sv` uses the lowest free id), so competing HPUs overwrite each other.
    fn reserves(&self, address: u32, _: Privilege) -> Reservations {
        let cluster = self.driver.cluster;
        match map::target(address, 4, cluster, self.world.memory.clusters()) {
            Some(Target::Memory(Place::Program(_))) => Reservations::Refused,
            Some(Target::Memory(_)) if self.is_own => Reservations::Kept,
            _ if !self.is_strict => Reservations::Refused,
            Some(Target::Memory(Place::Handler(_))) => Reservations::Kept,
            Some(Target::Memory(Place::L1(..))) => Reservations::Ignored,
            _ => Reservations::Refused,
        }
    }

    #[inline]
    fn load(&mut self, address: u32, width: Width, who: Privilege) -> Result<Access, Fault> {
        let bytes = width.bytes();
        match self.target(address, bytes, who, false)? {
            // The interconnect does not route loads to program memory: it returns a constant word.
            Target::Memory(Place::Program(_)) if self.is_strict => Ok(self.register(NO_PROGRAM)),
            Target::Memory(Place::Program(_)) => Err(Fault),
            Target::Memory(place) => {
                let there = &self.world.memory.from(place)[..bytes as usize];
                let value = there
                    .iter()
                    .rev()
                    .fold(0, |value, byte| value << 8 | u32::from(*byte));
                let clocks = self.latency(place, AccessKind::Load, who);
                Ok(Access::Done { value, clocks })
            }
            Target::Driver(offset) if width == Width::Word => self.read_register(offset, who),
            Target::Dma(offset) if width == Width::Word => self.read_dma(offset, who),
            Target::Driver(_) | Target::Dma(_) => Err(Fault),
            Target::Terminate => Ok(self.register(0)),
            Target::Icache(offset) => Ok(self.register(self.world.icaches[self.driver.cluster].read(offset))),
            Target::Other if self.is_strict => Ok(self.register(0)),
            Target::Stdout(..) | Target::Other => Err(Fault),
            Target::Silence => Ok(self.silence(address)),
        }
    }

    #[inline]
    fn store(&mut self, address: u32, width: Width, value: u32, who: Privilege) -> Result<Access, Fault> {
        let bytes = width.bytes();
        match self.target(address, bytes, who, true)? {
            Target::Memory(place) => {
                let there = &mut self.world.memory.from_mut(place)[..bytes as usize];
                there.copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
                self.stored(address, place);
                let clocks = self.latency(place, AccessKind::Store, who);
                Ok(Access::Done { value: 0, clocks })
            }
            Target::Driver(offset) if width == Width::Word => self.write_register(offset, value),
            Target::Dma(offset) if width == Width::Word => {
                self.driver.dma.write(offset, value).ok_or(Fault)?;
                Ok(self.register(0))
            }
            Target::Driver(_) | Target::Dma(_) => Err(Fault),
            Target::Stdout(cluster, core) => Ok(self.print(cluster, core, value as u8)),
            Target::Icache(offset) => {
                self.world.icaches[self.driver.cluster].write(offset, value);
                Ok(self.register(0))
            }
            Target::Other if self.is_strict => Ok(self.register(0)),
            Target::Other => Err(Fault),
            Target::Silence => Ok(self.silence(address)),
            Target::Terminate => {
                self.effect.terminated = true;
                Ok(Access::Done { value: 0, clocks: 0 })
            }
        }
    }

    fn modify(
        &mut self,
        address: u32,
        who: Privilege,
        change: &mut dyn FnMut(u32) -> u32,
    ) -> Result<Access, Fault> {
        // On the PULP cluster: in the own L1 the result is right, but corrupts an external read in the next clock (`amo_shim.sv`,
        // state `ProlongAMO`). The result from another cluster's L1 is unreliable, and the packet buffer has no atomics.
        // On our own: accesses of the other cluster come between the read and the write (`hpu/cluster/word_server.rs`).
        let own = self.driver.cluster;
        let place = match self.target(address, 4, who, true)? {
            Target::Memory(place @ Place::Handler(_)) => place,
            Target::Memory(place @ Place::L1(cluster, _)) if self.is_own && cluster == own => place,
            Target::Memory(place @ Place::Packet(_)) if self.is_own => place,
            Target::Memory(place @ Place::L1(..)) if self.is_strict => place,
            _ => return Err(Fault),
        };
        let there = &mut self.world.memory.from_mut(place)[..4];
        let value = u32::from_le_bytes([there[0], there[1], there[2], there[3]]);
        there.copy_from_slice(&change(value).to_le_bytes());
        self.stored(address, place);
        let clocks = self.latency(place, AccessKind::Atomic, who);
        let value = match place {
            Place::L1(cluster, _) if cluster == own => value,
            _ if self.is_own => value,
            _ => FAR_ATOMIC_RESULT,
        };
        Ok(Access::Done { value, clocks })
    }
}
