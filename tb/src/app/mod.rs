//! The application block: bus models of everything that Corundum has around it, software, and a reference model.
//!
//! ```text
//!               s_axil_app_ctrl <-- the host: driver
//!  wire: packets --> s_axis_if_rx_n    m_axis_if_rx_n --> the host, compared
//!  compared, wire <-- m_axis_if_tx_n   s_axis_if_tx_n <-- frames of the host
//!  completions of all frames --> s_axis_if_tx_cpl_n    m_axis_if_tx_cpl_n --> compared
//!  host memory, compared <--> Corundum's DMA <--> descriptors, RAM
//!  sums, compared <-- m_axis_stat
//! ```
//!
//! The cluster is the stand-in, in a clock of its own: it sends a packet back, copies it to host memory, reads from there
//! and prints, as the address of the packet handler says.

mod driver;
mod measure;
mod model;
mod packets;
mod quiescence;
mod session;

use spinneret_models::MqnicAppBlock;
use spinneret_regmap::model::{Registers, Response as Modelled, Variant};
use spinneret_regmap::{Access, REGISTER_BYTES, bar, find};
use spinneret_sim::axil::Response;
use spinneret_sim::dma::Transfer;
use spinneret_sim::prelude::*;
use std::collections::{BTreeMap, VecDeque};

pub use driver::{Actions, Clocks, Context, NO_WORD, READ_BYTES, READ_OFFSET, Stimulus, offset_of};
pub use measure::{Crossing, Flow, Work, measure_latency, measure_rate, measure_work, prepare_work};
pub use model::{Completion, Counts, INTERFACES, Reference};
pub use packets::{
    CONTEXTS, context, from_host, from_wire, is_host_tag, marked_bad, matched, message_id, random_size, rule,
    tag, unmatched,
};
pub use quiescence::Account;
pub use session::{Session, Totals, run_round};

/// The core's clock, in which all models are.
pub const CORE: &str = "clk";
/// The cluster's clock.
pub const CLUSTER: &str = "cluster_clk";

/// Each of the two RAMs of the host DMA.
const RAM: RamShape = RamShape {
    segments: 2,
    segment_bytes: 64,
    bytes: 16 << 10,
};
/// Longest time from a frame on the wire to its completion, in clocks of the core.
const COMPLETION_CLOCKS: u64 = 40;
/// Clocks from the end of a reset until all slots are there.
const OPENING_CLOCKS: u64 = 1100;

/// The application block with models of Corundum around it; all outputs are checked.
#[derive(Debug)]
pub struct AppBench<M: Model = MqnicAppBlock> {
    /// The simulation; [`cycle`](Self::cycle) of the bench runs it.
    pub sim: Simulation<M>,
    /// Its clocks.
    pub clocks: Clocks,
    /// The host at the BAR.
    pub bar: LiteMaster,
    /// Packets from the wire.
    pub rx: [StreamSource; INTERFACES],
    /// Packets to the host.
    pub to_host: [StreamSink; INTERFACES],
    /// Frames of the host.
    pub tx: [StreamSource; INTERFACES],
    /// Frames to the wire.
    pub wire: [StreamSink; INTERFACES],
    /// Completions from the wire.
    pub completions: [ChannelSource; INTERFACES],
    /// Completions to the host.
    pub completed: [ChannelSink; INTERFACES],
    /// Host memory.
    pub host: HostMemory,
    /// Corundum's DMA to it.
    pub writes: CorundumDma,
    /// Corundum's DMA from it.
    pub reads: CorundumDma,
    /// Predictor of all packets and frames.
    pub model: Reference,
    /// Model of the registers.
    registers: RegisterModel,
    /// Words that were read from standard output since everything was compared.
    console: Vec<u32>,
    statistics: ChannelSink,
    /// Sums of the increments that were reported, by number.
    reported: BTreeMap<u64, u64>,
    /// Completions that will come, each with its clock.
    pending: VecDeque<(u64, usize, Completion)>,
    rng: ChaCha8Rng,
}

impl<M: Model> AppBench<M> {
    /// Puts the models around a block, resets it and waits until all slots are there.
    ///
    /// # Panics
    /// If the design lacks the ports of the block.
    pub fn new(sim: Simulation<M>, clocks: Clocks, stimulus: &Stimulus) -> Self {
        let mut bench = Self::closed(sim, clocks, stimulus);
        bench.reset();
        bench
    }

    fn closed(mut sim: Simulation<M>, clocks: Clocks, stimulus: &Stimulus) -> Self {
        sim.set_cycle_limit(u64::MAX);
        sim.in_domain(CORE);
        let config = MasterConfig {
            pauses: stimulus.bar.clone(),
            ..MasterConfig::default()
        };
        let bar = sim.axil_master("s_axil_app_ctrl", config);
        let rx = streams(|n| sim.source(&format!("s_axis_if_rx_{n}"), stimulus.rx[n].clone()));
        let to_host = streams(|n| sim.sink(&format!("m_axis_if_rx_{n}"), stimulus.to_host[n].clone()));
        let tx = streams(|n| sim.source(&format!("s_axis_if_tx_{n}"), stimulus.tx[n].clone()));
        let wire = streams(|n| sim.sink(&format!("m_axis_if_tx_{n}"), stimulus.wire[n].clone()));
        let fields = ["ts_low", "ts_high", "tag"];
        let pause = &stimulus.completions;
        let completions =
            streams(|n| sim.channel_source(&format!("s_axis_if_tx_cpl_{n}"), &fields, pause.clone()));
        let completed =
            streams(|n| sim.channel_sink(&format!("m_axis_if_tx_cpl_{n}"), &fields, pause.clone()));
        let statistics = sim.channel_sink("m_axis_stat_t", &["data", "id"], stimulus.statistics.clone());
        let host = HostMemory::new(sim.seed().0);
        let mut dma = |transfer| {
            let config = stimulus.dma.clone();
            CorundumDma::attach_inside(&mut sim, transfer, (&host, RAM), config, &stimulus.ram)
                .unwrap_or_else(|error| panic!("{error}"))
        };
        let [writes, reads] = [dma(Transfer::ToHost), dma(Transfer::FromHost)];
        Self {
            clocks,
            bar,
            rx,
            to_host,
            tx,
            wire,
            completions,
            completed,
            model: Reference::new(&host),
            host,
            writes,
            reads,
            registers: RegisterModel::new(),
            console: Vec::new(),
            statistics,
            reported: BTreeMap::new(),
            pending: VecDeque::new(),
            rng: sim.rng("completions"),
            sim,
        }
    }

    /// Resets the core, and with it everything, also what waits in Corundum.
    pub fn reset(&mut self) {
        self.set_running(true);
        self.sim.reset();
        self.forget();
        self.run(OPENING_CLOCKS);
    }

    /// A reset discards everything inside.
    fn forget(&mut self) {
        self.model.reset();
        self.reported.clear();
        self.pending.clear();
        for n in 0..INTERFACES {
            self.to_host[n].receive_all();
            self.wire[n].receive_all();
            self.completed[n].receive_all();
            self.rx[n].clear();
            self.tx[n].clear();
            self.completions[n].clear();
        }
        self.registers.reset();
        self.console.clear();
        self.bar.clear();
        self.statistics.receive_all();
        self.bar.take_reads();
        self.bar.take_writes();
    }

    /// Simulates a clock of the core and looks at everything that came out.
    ///
    /// # Panics
    /// At the first error.
    pub fn cycle(&mut self) {
        self.sim.run_edges(CORE, 1);
        if let Err(difference) = self.observe() {
            panic!(
                "core clock {}: {difference} (seed {}, cluster {})",
                self.now(),
                self.sim.seed(),
                self.clocks
            );
        }
    }

    /// Simulates some clocks of the core.
    pub fn run(&mut self, clocks: u64) {
        for _ in 0..clocks {
            self.cycle();
        }
    }

    /// Simulates until the condition holds, for at most `clocks` clocks of the core.
    ///
    /// # Panics
    /// If it does not hold then, with what was waited for.
    pub fn run_until(&mut self, clocks: u64, what: &str, condition: impl Fn(&mut Self) -> bool) {
        let deadline = self.now() + clocks;
        while !condition(self) {
            assert!(
                self.now() < deadline,
                "{what}: not after {clocks} clocks (seed {}, cluster {})",
                self.sim.seed(),
                self.clocks
            );
            self.cycle();
        }
    }

    /// Clocks of the core since the start.
    pub fn now(&self) -> u64 {
        self.sim.edges(CORE)
    }

    /// Sends a packet from the wire and records the prediction.
    pub fn receive(&mut self, interface: usize, frame: Frame) {
        self.model.packet(interface, &frame);
        self.rx[interface].send(frame);
    }

    /// Sends a frame of the host.
    pub fn transmit(&mut self, interface: usize, frame: Frame) {
        self.model.host_frame(interface, &frame);
        self.tx[interface].send(frame);
    }

    /// Says whether the cluster's clock is running (`cluster_running`), without changing the clock itself.
    ///
    /// # Panics
    /// If the design has no such input.
    pub fn set_running(&mut self, running: bool) {
        self.sim.set("cluster_running", running);
    }

    /// Looks at what came out in the last clock.
    fn observe(&mut self) -> Result<(), String> {
        let now = self.now();
        for n in 0..INTERFACES {
            while let Some(packet) = self.to_host[n].receive() {
                self.model.at_host(n, &packet.frame)?;
            }
            while let Some(frame) = self.wire[n].receive() {
                let host = self.model.at_wire(n, &frame.frame)?;
                let tag = tag(&frame.frame);
                if n == 0 && host != is_host_tag(tag) {
                    return Err(format!("tag {tag:#x} of a frame is not its sender's"));
                }
                let later = self.rng.random_range(1..=COMPLETION_CLOCKS);
                let stamp = [self.rng.next_u64(), u64::from(self.rng.next_u32()), tag];
                self.pending.push_back((now + later, n, stamp));
            }
            while let Some(item) = self.completed[n].receive() {
                self.model.completed(n, &item.values)?;
            }
        }
        // Completions come in the order in which frames were sent.
        while let Some((_, n, completion)) = self.pending.pop_front_if(|(at, _, _)| *at <= now) {
            self.model.completion(n, completion);
            self.completions[n].send(&completion);
        }
        while let Some(item) = self.statistics.receive() {
            *self.reported.entry(item.values[1]).or_default() += item.values[0];
        }
        Ok(())
    }

    /// Returns whether no frame waits in Corundum and all expected frames have left the interfaces.
    pub fn is_passed(&self) -> bool {
        let sent = self.rx.iter().chain(&self.tx).all(StreamSource::is_idle);
        sent && self.pending.is_empty()
            && self.completions.iter().all(ChannelSource::is_idle)
            && self.model.outstanding() == 0
    }
}

fn streams<T>(make: impl FnMut(usize) -> T) -> [T; INTERFACES] {
    let numbers: [usize; INTERFACES] = std::array::from_fn(|number| number);
    numbers.map(make)
}

/// The register model, and what software has seen of the values that the hardware shows.
#[derive(Clone, Debug)]
struct RegisterModel {
    registers: Registers,
    /// Counters, by offset, as they were read last.
    seen: BTreeMap<u32, u32>,
}

/// Registers whose value goes up and down.
const STATES: [&str; 8] = [
    "used",
    "cl",
    "stats",
    "pending",
    "large_used",
    "small_used",
    // A reset of the cluster takes these with it.
    "large_peak",
    "small_peak",
];

impl RegisterModel {
    /// The registers after a reset.
    fn new() -> Self {
        Self {
            registers: Registers::new(Variant::Extended),
            seen: BTreeMap::new(),
        }
    }

    /// The core is reset.
    fn reset(&mut self) {
        *self = Self::new();
    }

    /// The value that a register holds.
    fn value(&self, register: u32) -> Option<u32> {
        self.registers.value(register)
    }

    /// Software has written through the BAR.
    ///
    /// # Panics
    /// If the model answers otherwise.
    fn written(&mut self, offset: u32, data: u32, strobes: u8, response: Response) {
        let wanted = match bar::decode(offset) {
            bar::Destination::ControlRegister(register) => {
                answer(self.registers.write(register, data, strobes))
            }
            bar::Destination::Nothing => Response::DecodeError,
            bar::Destination::Pspin(_) => return,
        };
        assert_eq!(response, wanted, "write to {offset:#08x} of the BAR");
    }

    /// Software has read through the BAR; a word of standard output, if it is one.
    ///
    /// # Panics
    /// If the model answers otherwise, or a counter has decreased.
    fn read(&mut self, offset: u32, (data, response): (u32, Response)) -> Option<u32> {
        let register = match bar::decode(offset) {
            bar::Destination::ControlRegister(register) => register,
            bar::Destination::Nothing => {
                assert_eq!(
                    (data, response),
                    (0, Response::DecodeError),
                    "read of {offset:#08x} of the BAR"
                );
                return None;
            }
            bar::Destination::Pspin(_) => return None,
        };
        let word = register - register % REGISTER_BYTES;
        match find(word).map(|(register, _)| register) {
            Some(found) if found.access == Access::ReadPops => {
                assert_eq!(response, Response::Okay);
                // All ones say that there is none.
                return (data != u32::MAX).then_some(data);
            }
            Some(found) if found.access.shows_hardware() => {
                assert_eq!(response, Response::Okay);
                self.registers.show(register, data);
                assert_eq!(
                    self.registers.value(register),
                    Some(data),
                    "{found}: bits that do not exist"
                );
                let state = STATES.contains(&found.group) || STATES.contains(&found.name);
                if let Some(before) = self.seen.insert(word, data).filter(|_| !state) {
                    assert!(before <= data, "{found} went from {before} to {data}");
                }
            }
            _ => {
                let (wanted, modelled) = self.registers.read(register);
                assert_eq!(
                    (data, response),
                    (wanted, answer(modelled)),
                    "read of register {register:#06x}"
                );
            }
        }
        None
    }
}

fn answer(response: Modelled) -> Response {
    match response {
        Modelled::Okay => Response::Okay,
        Modelled::SlaveError => Response::SlaveError,
    }
}
