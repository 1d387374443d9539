//! The driver software: 32-bit accesses to the BAR, and nothing else.

use super::packets::{CONTEXTS, rule};
use super::{AppBench, OPENING_CLOCKS};
use spinneret_regmap::matching::Rule;
use spinneret_regmap::{RULES_PER_RULESET, bar, caps, cl, guard, her, her_meta, me};
use spinneret_sim::dma::RamPauses;
use spinneret_sim::prelude::*;
use spinneret_sim::simulation::{ClockDomain, PERIOD_PS};
use std::fmt;

/// Longest time of an access to the registers, in clocks of the core, pauses included.
const REGISTER_CLOCKS: u64 = 2000;
/// Longest time of an access to the cluster: its timeout, and as much again.
const CLUSTER_CLOCKS: u64 = 140_000;
/// Times that software looks at a state before it gives up.
const LOOKS: usize = 10_000;

/// The word of standard output that says that there is none.
pub const NO_WORD: u32 = u32::MAX;

impl<M: Model> AppBench<M> {
    /// Writes bytes of a word at an offset into the BAR.
    ///
    /// # Panics
    /// If it is not answered in time.
    pub fn bar_write_bytes(&mut self, offset: u32, data: u32, strobes: u8) -> Response {
        let request = LiteWrite::new(offset.into(), data.into()).strobed(strobes);
        let number = self.bar.write(request);
        self.wait_for_bar(offset);
        let done = self.bar.take_writes();
        assert_eq!(done.iter().map(|done| done.number).collect::<Vec<_>>(), [number]);
        self.registers.written(offset, data, strobes, done[0].response);
        done[0].response
    }

    /// Writes a word at an offset into the BAR.
    ///
    /// # Panics
    /// If it is not answered in time.
    pub fn bar_write(&mut self, offset: u32, data: u32) -> Response {
        self.bar_write_bytes(offset, data, 0xf)
    }

    /// Reads a word at an offset into the BAR.
    ///
    /// # Panics
    /// If it is not answered in time.
    pub fn bar_read(&mut self, offset: u32) -> (u32, Response) {
        let number = self.bar.read(LiteRead::new(offset.into()));
        self.wait_for_bar(offset);
        let done = self.bar.take_reads();
        assert_eq!(done.iter().map(|done| done.number).collect::<Vec<_>>(), [number]);
        let answer = (done[0].data as u32, done[0].response);
        if let Some(word) = self.registers.read(offset, answer) {
            self.console.push(word);
        }
        answer
    }

    fn wait_for_bar(&mut self, offset: u32) {
        let clocks = match bar::decode(offset) {
            bar::Destination::Pspin(_) => CLUSTER_CLOCKS,
            _ => REGISTER_CLOCKS,
        };
        let what = format!("an access to {offset:#08x} of the BAR");
        self.run_until(clocks, &what, |bench| bench.bar.is_idle());
    }

    /// Writes a control register, which has to be possible.
    ///
    /// # Panics
    /// If it is not.
    pub fn set(&mut self, register: impl Into<Option<u32>>, value: u32) {
        let register = register
            .into()
            .unwrap_or_else(|| panic!("there is no such register"));
        let response = self.bar_write(bar::CONTROL_REGISTERS.start + register, value);
        assert_eq!(response, Response::Okay, "write of register {register:#06x}");
    }

    /// Reads a control register, which has to be possible.
    ///
    /// # Panics
    /// If it is not.
    pub fn get(&mut self, register: impl Into<Option<u32>>) -> u32 {
        let register = register
            .into()
            .unwrap_or_else(|| panic!("there is no such register"));
        let (value, response) = self.bar_read(bar::CONTROL_REGISTERS.start + register);
        assert_eq!(response, Response::Okay, "read of register {register:#06x}");
        value
    }

    /// Looks for our hardware.
    ///
    /// # Panics
    /// If it is another.
    pub fn find_hardware(&mut self) {
        assert_eq!(self.get(caps::MAGIC.offset), caps::MAGIC_VALUE);
        assert_eq!(self.get(caps::VERSION.offset), caps::VERSION_VALUE);
    }

    /// Holds the clusters in reset.
    pub fn hold_cluster(&mut self) {
        self.set(cl::AUX_RESET, 1);
        self.wait_for_state("the clusters in reset", cl::STATUS.offset, |status| {
            status & 2 != 0
        });
    }

    /// Lets the clusters out of reset, and waits until the link to them is up and all slots are there.
    ///
    /// # Panics
    /// If it does not come.
    pub fn release_cluster(&mut self) {
        self.set(cl::AUX_RESET, 0);
        self.wait_for_cluster();
    }

    /// Waits until the clusters are out of reset and all slots are there.
    ///
    /// # Panics
    /// If they do not come.
    pub fn wait_for_cluster(&mut self) {
        self.wait_for_state("the clusters out of reset", cl::STATUS.offset, |status| {
            status == 1
        });
        self.run(OPENING_CLOCKS);
    }

    /// Lets the clusters begin.
    pub fn enable_clusters(&mut self) {
        self.set(cl::FETCH_ENABLE, 3);
    }

    /// Looks at a register until it is as wanted.
    ///
    /// # Panics
    /// If it is not.
    pub fn wait_for_state(&mut self, what: &str, register: u32, wanted: impl Fn(u32) -> bool) {
        let found = (0..LOOKS).any(|_| wanted(self.get(register)));
        assert!(found, "{what}: register {register:#06x} does not say so");
    }

    /// Puts words into the cluster's memory, and reads them back.
    ///
    /// # Panics
    /// If they are not there.
    pub fn load_memory(&mut self, address: u32, words: &[u32]) {
        let offset = offset_of(address);
        for (number, word) in (0..).zip(words) {
            assert_eq!(self.bar_write(offset + 4 * number, *word), Response::Okay);
        }
        for (number, word) in (0..).zip(words) {
            let read = self.bar_read(offset + 4 * number);
            assert_eq!(read, (*word, Response::Okay), "word {number} at {address:#010x}");
        }
    }

    /// Writes the rules of all contexts, and puts them in force: packets as [`matched`](super::matched) makes them.
    pub fn load_rules(&mut self) {
        self.set(me::VALID.offset, 0);
        for ruleset in 0..CONTEXTS as u32 {
            self.set(me::mode(ruleset), 0);
            for number in 0..RULES_PER_RULESET {
                // The first decides, the others are there for every packet, and each packet ends its message.
                let rule = if number == 0 {
                    rule(ruleset as usize)
                } else {
                    Rule::ALWAYS
                };
                let registers = rule.to_registers();
                self.set(me::idx(ruleset, number), registers.idx);
                self.set(me::mask(ruleset, number), registers.mask);
                self.set(me::start(ruleset, number), registers.start);
                self.set(me::end(ruleset, number), registers.end);
                self.set(me::relative(ruleset, number), registers.relative);
            }
        }
        self.set(me::VALID.offset, 1);
    }

    /// Writes contexts, and puts them in force.
    pub fn load_contexts(&mut self, contexts: &[Option<Context>; CONTEXTS]) {
        self.set(her::VALID.offset, 0);
        for (number, context) in (0..).zip(contexts) {
            self.set(her::ctx_enabled(number), u32::from(context.is_some()));
            let Some(context) = context else { continue };
            let mut field = |name: &str, value: u32| self.set(her_meta::offset(name, number), value);
            field("handler_mem_addr", context.handler_address);
            field("handler_mem_size", 0x1000);
            field("host_mem_addr_0", context.host_address as u32);
            field("host_mem_addr_1", (context.host_address >> 32) as u32);
            field("host_mem_size", 0x10_0000);
            field("ph_addr", context.actions.handler_address());
            field("ph_size", 0x100);
        }
        self.set(her::VALID.offset, 1);
    }

    /// Takes rules and contexts out of force, so that nothing matches and their registers may hold anything.
    pub fn withdraw(&mut self) {
        self.set(me::VALID.offset, 0);
        self.set(her::VALID.offset, 0);
        self.model.withdraw();
    }

    /// Opens a host window for a context.
    pub fn open_window(&mut self, context: u32, address: u64, bytes: u32) {
        let (low, high) = guard::base(context).unwrap_or_else(|| panic!("there is no context {context}"));
        self.set(low, address as u32);
        self.set(high, (address >> 32) as u32);
        self.set(guard::size(context), bytes);
        self.set(guard::enabled(context), 1);
    }

    /// All that software does before packets come: finds the hardware, starts the cluster, fills its memory, and loads
    /// contexts and rules.
    pub fn bring_up(&mut self, contexts: [Option<Context>; CONTEXTS]) {
        self.find_hardware();
        self.release_cluster();
        for context in contexts.iter().flatten() {
            self.load_memory(context.handler_address, &[0x0000_0013, 0x0000_8067, 0xffff_ffff]);
        }
        self.load_contexts(&contexts);
        self.enable_clusters();
        self.load_rules();
        self.model.configure(contexts);
    }

    /// All words of standard output since the last time, after reading those that are there now.
    pub fn read_stdout(&mut self) -> Vec<u32> {
        while self.get(cl::FIFO.offset) != NO_WORD {}
        std::mem::take(&mut self.console)
    }
}

/// The offset into the BAR of an address in the cluster.
///
/// # Panics
/// If the BAR does not reach it.
pub fn offset_of(address: u32) -> u32 {
    for window in bar::WINDOWS {
        if let bar::Target::Pspin { address: first } = window.target
            && let Some(offset) = address
                .checked_sub(first)
                .filter(|offset| *offset < window.size_bytes)
        {
            return window.start + offset;
        }
    }
    panic!("the BAR does not reach {address:#010x}")
}

/// Stimulus of the application block.
#[derive(Clone, Debug)]
pub struct Stimulus {
    /// The host at the BAR.
    pub bar: MasterPauses,
    /// Gaps between beats from the wire, for each interface.
    pub rx: [Pause; 2],
    /// Backpressure of the host.
    pub to_host: [Pause; 2],
    /// Gaps between beats of the host.
    pub tx: [Pause; 2],
    /// Backpressure of the wire.
    pub wire: [Pause; 2],
    /// Completions, both ways.
    pub completions: Pause,
    /// Backpressure of Corundum's statistics.
    pub statistics: Pause,
    /// Corundum's DMA.
    pub dma: DmaConfig,
    /// Its pauses at the RAM.
    pub ram: RamPauses,
}

/// Tags of the host DMA in each direction.
const DMA_TAGS: u64 = 64;

/// No pauses, and a DMA that is as far away as on real hardware.
impl Default for Stimulus {
    fn default() -> Self {
        Self {
            bar: MasterPauses::default(),
            rx: [Pause::Never, Pause::Never],
            to_host: [Pause::Never, Pause::Never],
            tx: [Pause::Never, Pause::Never],
            wire: [Pause::Never, Pause::Never],
            completions: Pause::Never,
            statistics: Pause::Never,
            dma: DmaConfig {
                latency: Latency::exactly(112),
                tags: DMA_TAGS,
                ..DmaConfig::default()
            },
            ram: RamPauses::default(),
        }
    }
}

impl Stimulus {
    /// Pauses everywhere, of any kind.
    pub fn random(rng: &mut ChaCha8Rng) -> Self {
        let mut pause = || match rng.random_range(0..4) {
            0 | 1 => Pause::Never,
            2 => Pause::Random {
                percent: rng.random_range(1..60),
            },
            _ => Pause::Random { percent: 10 },
        };
        let most = Latency { least: 0, most: 200 };
        Self {
            bar: MasterPauses::all(&pause()),
            rx: [pause(), pause()],
            to_host: [pause(), pause()],
            tx: [pause(), pause()],
            wire: [pause(), pause()],
            completions: pause(),
            statistics: pause(),
            ram: RamPauses {
                commands: pause(),
                responses: pause(),
            },
            dma: DmaConfig {
                descriptors: pause(),
                latency: most,
                spread: 50,
                tags: DMA_TAGS,
                ..DmaConfig::default()
            },
        }
    }
}

/// The cluster's clock; the core's is 250 MHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// Period of the cluster's clock in picoseconds.
    pub cluster_ps: u64,
    /// Phase relative to the core's clock.
    pub phase_ps: u64,
    /// Random jitter of its period.
    pub jitter_ps: u64,
}

/// Shortest random period of the cluster's clock: twice the core's frequency.
const FASTEST_PS: u64 = PERIOD_PS / 2;
/// Longest random period: a tenth of the core's frequency.
const SLOWEST_PS: u64 = 10 * PERIOD_PS;

impl Clocks {
    /// 40 MHz, as PsPIN on a board.
    pub const BOARD: Self = Self::period(25_000);
    /// As fast as the core, and a quarter of a period later.
    pub const EQUAL: Self = Self {
        phase_ps: PERIOD_PS / 4,
        ..Self::period(PERIOD_PS)
    };

    /// A clock of that period.
    pub const fn period(cluster_ps: u64) -> Self {
        Self {
            cluster_ps,
            phase_ps: 700,
            jitter_ps: 0,
        }
    }

    /// Any ratio from 1:10 to 2:1, any phase, and half of the time with jitter.
    pub fn random(rng: &mut ChaCha8Rng) -> Self {
        // Ratios, not periods, are spread evenly: fast clocks are as likely as slow ones.
        let ratio = rng.random_range(0.0..1.0_f64);
        let factor = (SLOWEST_PS as f64 / FASTEST_PS as f64).powf(ratio);
        let cluster_ps = (FASTEST_PS as f64 * factor) as u64;
        let jitter = rng.random_range(0..=cluster_ps / 20);
        Self {
            cluster_ps,
            phase_ps: rng.random_range(0..cluster_ps),
            jitter_ps: if rng.random_bool(0.5) { jitter } else { 0 },
        }
    }

    /// Core clocks in N clocks of the cluster, rounded up.
    pub fn core_clocks(self, cluster_clocks: u64) -> u64 {
        (cluster_clocks * (self.cluster_ps + self.jitter_ps)).div_ceil(PERIOD_PS)
    }

    /// As the simulation wants them.
    pub fn domains(self) -> [ClockDomain; 2] {
        let cluster = ClockDomain::new("cluster_clk", self.cluster_ps)
            .with_phase(self.phase_ps)
            .with_jitter(self.jitter_ps);
        [ClockDomain::new("clk", PERIOD_PS).with_reset("rst"), cluster]
    }
}

/// `40.0 MHz, 700 ps later`.
impl fmt::Display for Clocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mhz = 1e6 / self.cluster_ps as f64;
        write!(f, "{mhz:.1} MHz, {} ps later", self.phase_ps)
    }
}

/// Actions of the stand-in for each packet of a context, in this order. Afterwards it frees the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    /// Reads 64 bytes of host memory into the handler memory.
    pub read: bool,
    /// Copies the packet to host memory.
    pub copy: bool,
    /// Sends the packet to the wire.
    pub send: bool,
    /// Writes the message id to standard output.
    pub print: bool,
}

impl Actions {
    /// Nothing but giving the packet back.
    pub const NONE: Self = Self {
        read: false,
        copy: false,
        send: false,
        print: false,
    };
    /// The packet goes back to the wire.
    pub const SEND: Self = Self {
        send: true,
        ..Self::NONE
    };

    /// Those of a number from 0 to 15.
    pub fn of(number: u32) -> Self {
        Self {
            send: number & 1 != 0,
            copy: number & 2 != 0,
            read: number & 4 != 0,
            print: number & 8 != 0,
        }
    }

    /// The address of the packet handler that stands for them.
    pub fn handler_address(self) -> u32 {
        let bits = [self.send, self.copy, self.read, self.print];
        bits.iter().rev().fold(0, |all, bit| all << 1 | u32::from(*bit))
    }
}

/// An execution context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// Actions for its packets.
    pub actions: Actions,
    /// Address of its host memory: packets go there, and reads come from [`READ_OFFSET`] after it.
    pub host_address: u64,
    /// Address of its handler memory in the cluster, where reads go.
    pub handler_address: u32,
}

/// Offset in host memory of the stand-in's reads.
pub const READ_OFFSET: u64 = 4096;
/// Bytes that it reads.
pub const READ_BYTES: u64 = 64;

/// First byte of the handler memory in the cluster.
const HANDLER_MEMORY: u32 = spinneret_regmap::pspin::HANDLER_BASE;

impl Context {
    /// The context of that number with memory of its own.
    pub fn new(number: usize, actions: Actions) -> Self {
        let number = number as u32;
        Self {
            actions,
            host_address: 0x12_3400_0000 + (u64::from(number) << 20) + 13 * u64::from(number),
            handler_address: HANDLER_MEMORY + 0x1000 * (number + 1),
        }
    }

    /// The address from which it reads host memory.
    pub fn read_address(&self) -> u64 {
        (self.host_address + READ_OFFSET) & !(READ_BYTES - 1)
    }
}
