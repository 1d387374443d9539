//! The simulated NIC: the generated hardware between models of everything around it.
//!
//! ```text
//! receive ==> s_axis_if_rx                                    Cluster, through ClusterSide
//! host    <== m_axis_if_rx   spinneret_app, by Verilator <==> (handlers, in the cluster's clock)
//! transmit => s_axis_if_tx
//! wire    <== m_axis_if_tx   BAR <== Control     host memory <==> Corundum's DMA
//! ```
//!
//! A [`ClusterBackend`] is attached to the application's ports to the cluster: the model, or a simulated RTL cluster.

mod backend;
mod cluster;
mod config;
mod control;
mod error;
mod hardware;
mod line;
pub mod rtl;

pub use backend::ModelBackend;
pub use config::{Backend, NicConfig};
pub use control::{ControlError, Place};
pub use error::NicError;
pub use hardware::{ClusterBackend, Hardware, Names, WaveRequest, find_scope};
pub use line::{SLOWEST_PS, Timed};

use control::{Messages, Resets, Route};
use line::Line;
use rtl::RtlBackend;
use spinneret_cluster::Program;
use spinneret_regmap::{bar, cl};
use spinneret_sim::axil::{LiteMaster, LiteRead, MasterConfig};
use spinneret_sim::channel::{ChannelSink, ChannelSource};
use spinneret_sim::dma::{CorundumDma, DmaConfig, HostMemory, Latency, Pause, RamPauses, RamShape, Transfer};
use spinneret_sim::model::{Direction, Model, ModelError};
use spinneret_sim::simulation::{ClockDomain, Simulation};
use spinneret_sim::stream::{Frame, StreamSink, StreamSource};
use std::collections::VecDeque;
use std::ops::Range;

/// The core's clock.
const CORE: &str = "clk";
/// The cluster's clock.
const CLUSTER: &str = "cluster_clk";
/// From an edge of the core's clock to one of a slower cluster's, at the start.
const PHASE_PS: u64 = 700;
/// Size of each of the two RAMs of the host DMA.
const RAM: RamShape = RamShape {
    segments: 2,
    segment_bytes: 64,
    bytes: 16 << 10,
};
/// From a frame on the wire to its completion, in clocks of the core.
const COMPLETION_CLOCKS: u64 = 20;
/// End of simulated time, after 106 days: sums with it stay within 64 bits.
pub const LAST_PS: u64 = 1 << 63;
/// Picoseconds of a day.
pub(crate) const DAY_PS: u64 = 86_400 * 1_000_000_000_000;
/// Value of the register of standard output while it is empty.
const NO_WORD: u32 = u32::MAX;
/// Empty reads of standard output after which no word will follow: longer than the path through the crossing.
const LOST_READS: u32 = 256;
/// Unread words of standard output that are kept at most.
const KEPT_WORDS: usize = 1 << 16;
/// Frames to the host that are queued at most: a queue of Corundum's driver.
const KEPT_FRAMES: usize = 1 << 13;
/// Highest bit of a tag: the frame is the host's.
const HOST_TAG: u64 = 1 << 15;

/// A frame that left the NIC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    /// Picoseconds since the start.
    pub at_ps: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// On the wire: whether it is from the host, not from a handler.
    pub is_host: bool,
    /// At the host: the number of the frame from the wire whose metadata it has, counted from 1 on.
    pub received: Option<u64>,
}

/// The NIC.
#[derive(Debug)]
pub struct Nic {
    sim: Simulation<Hardware>,
    config: NicConfig,
    bar: LiteMaster,
    rx: StreamSource,
    to_host: StreamSink,
    tx: StreamSource,
    to_wire: StreamSink,
    completions: ChannelSource,
    completed: ChannelSink,
    messages: Messages,
    dma: [CorundumDma; 2],
    host: HostMemory,
    backend: Box<dyn ClusterBackend>,
    /// Pending completions: time and tag.
    pending: VecDeque<(u64, u64)>,
    /// Skipped time in picoseconds.
    skipped_ps: u64,
    /// Clocks in which the cluster ran alone.
    alone: u64,
    wire_out: VecDeque<Out>,
    host_out: VecDeque<Out>,
    /// Frames to the host that were dropped from the full queue.
    host_lost: u64,
    tag: u64,
    /// Frames from the wire so far.
    received: u64,
    /// Words of standard output for the report and for software, and how many were read so far.
    console: VecDeque<u32>,
    stdout: VecDeque<u32>,
    printed: u64,
    /// Empty reads since the last word.
    missed: u32,
    /// Programs that were loaded, until they are taken.
    loaded: Vec<Program>,
    route: Route,
    /// The cable, if there is one.
    line: Option<Line>,
    /// Resets during operation.
    resets: Resets,
    /// Range of time of the waveform, until it has ended.
    wave_ps: Option<Range<u64>>,
}

impl Nic {
    /// A NIC after reset, with its cluster held in reset.
    ///
    /// # Errors
    /// If the hardware has unexpected ports, or fails in reset.
    pub fn new(config: NicConfig) -> Result<Self, NicError> {
        match config.backend {
            Backend::Model | Backend::Own => {
                let attached = config.clone();
                Self::assemble(config.hardware()?, config, |sim| {
                    ModelBackend::attach(sim, &attached)
                })
            }
            Backend::Rtl => {
                let clusters = config.cluster.clusters;
                Self::assemble(config.hardware()?, config, |sim| {
                    RtlBackend::attach(sim, clusters)
                })
            }
        }
    }

    /// A NIC after reset with the cluster that `attach` returns.
    ///
    /// # Errors
    /// If the hardware has unexpected ports, or fails in reset.
    pub fn assemble(
        hardware: Hardware,
        config: NicConfig,
        attach: impl FnOnce(&mut Simulation<Hardware>) -> Result<Box<dyn ClusterBackend>, ModelError>,
    ) -> Result<Self, NicError> {
        let names = hardware.names();
        // Clocks of the same frequency rise together, which takes half the time to simulate.
        let phase_ps = if config.cluster_ps == config.core_ps {
            0
        } else {
            PHASE_PS
        };
        let clocks = [
            ClockDomain::new(CORE, config.core_ps).with_reset("rst"),
            ClockDomain::new(CLUSTER, config.cluster_ps).with_phase(phase_ps),
        ];
        let mut sim = Simulation::with_domains(hardware, &clocks)?;
        sim.set_cycle_limit(u64::MAX);
        sim.in_domain(CLUSTER);
        let backend = attach(&mut sim)?;
        sim.in_domain(CORE);
        let messages = names.messages;
        let messages = messages.map(|port| sim.channel_sink(port, &["data"], Pause::Never));
        let host = HostMemory::not_compared(1);
        let dma = [Transfer::ToHost, Transfer::FromHost];
        let dma = dma.map(|transfer| attach_dma(&mut sim, transfer, &host, config.host_latency));
        let [to_host_memory, from_host_memory] = dma;
        let mut nic = Self {
            bar: sim.axil_master("s_axil_app_ctrl", MasterConfig::default()),
            rx: sim.source(names.rx, Pause::Never),
            to_host: sim.sink(names.to_host, Pause::Never),
            tx: sim.source(names.tx, Pause::Never),
            to_wire: sim.sink(names.to_wire, Pause::Never),
            completions: sim.channel_source(names.completions, &["tag"], Pause::Never),
            completed: sim.channel_sink(names.completed, &["tag"], Pause::Never),
            messages: Messages::new(messages),
            dma: [to_host_memory?, from_host_memory?],
            host,
            backend,
            pending: VecDeque::new(),
            skipped_ps: 0,
            alone: 0,
            wire_out: VecDeque::new(),
            host_out: VecDeque::new(),
            host_lost: 0,
            tag: 0,
            received: 0,
            console: VecDeque::new(),
            stdout: VecDeque::new(),
            printed: 0,
            missed: 0,
            loaded: Vec::new(),
            route: Route::new(),
            line: None,
            resets: Resets::default(),
            wave_ps: None,
            config,
            sim,
        };
        for (name, high) in [("cluster_running", true), ("m_axis_stat_tready", true)] {
            let dut = nic.sim.dut.instance_mut();
            let port = dut.port(name, Direction::Input)?;
            dut.set_high(port, high);
        }
        nic.sim.try_reset()?;
        Ok(nic)
    }

    /// The shape and the speed.
    pub fn config(&self) -> &NicConfig {
        &self.config
    }

    /// Picoseconds since the start.
    pub fn now_ps(&self) -> u64 {
        self.sim.time_ps() + self.skipped_ps
    }

    /// Clocks of the core that were simulated.
    pub fn simulated_clocks(&self) -> u64 {
        self.sim.edges(CORE)
    }

    /// Clocks of the cluster in which the rest of the NIC was not simulated.
    pub fn cluster_clocks_alone(&self) -> u64 {
        self.alone
    }

    /// Host memory.
    pub fn host_memory(&self) -> &HostMemory {
        &self.host
    }

    /// A frame comes from the wire.
    pub fn receive(&mut self, bytes: Vec<u8>) {
        // Its number is its time of arrival in tuser, above the error bit.
        self.received += 1;
        let user = u128::from(self.received) << 1;
        self.rx.send(Frame::new(bytes).with_user(user));
    }

    /// Number of queued frames from the wire.
    pub fn receiving(&self) -> usize {
        self.rx.waiting()
    }

    /// The host sends a frame.
    pub fn transmit(&mut self, bytes: Vec<u8>) {
        self.tag = (self.tag + 1) % HOST_TAG;
        let user = u128::from(HOST_TAG | self.tag) << 1;
        self.tx.send(Frame::new(bytes).with_user(user));
    }

    /// Number of queued frames of the host.
    pub fn transmitting(&self) -> usize {
        self.tx.waiting()
    }

    /// The next frame that left for the wire.
    pub fn take_wire(&mut self) -> Option<Out> {
        self.wire_out.pop_front()
    }

    /// The next packet that went to the host.
    pub fn take_host(&mut self) -> Option<Out> {
        self.host_out.pop_front()
    }

    /// Packets to the host that were dropped from the full queue.
    pub fn lost_by_host(&self) -> u64 {
        self.host_lost
    }

    /// The next word of the handlers' standard output: {cluster, core, character} in the lowest 24 bits.
    pub fn take_printed(&mut self) -> Option<u32> {
        self.console.pop_front()
    }

    /// The same word for software, which reads it from the register of standard output.
    pub(crate) fn read_printed(&mut self) -> Option<u32> {
        self.stdout.pop_front()
    }

    /// Resets everything as after power-up, except for simulated time and its counts. Queued input frames are
    /// kept.
    ///
    /// # Errors
    /// If the hardware breaks a rule of a bus.
    pub fn reset(&mut self) -> Result<(), NicError> {
        self.note_restart();
        self.sim.try_reset()?;
        self.backend.forget();
        self.route = Route::new();
        self.messages.reset();
        self.pending.clear();
        self.completions.clear();
        self.stdout.clear();
        self.printed = self.backend.printed();
        Ok(())
    }

    /// Whether the NIC is idle.
    pub fn is_idle(&self) -> bool {
        self.is_quiet() && self.backend.is_idle()
    }

    /// Whether the NIC outside of the cluster is idle, and no interrupt message can follow.
    fn is_quiet(&self) -> bool {
        self.moves_nothing() && self.messages.are_over(self.sim.edges(CORE))
    }

    /// Whether the NIC outside of the cluster is idle.
    fn moves_nothing(&self) -> bool {
        self.backend.is_quiet()
            && self.rx.is_idle()
            && self.tx.is_idle()
            && self.bar.is_idle()
            && self.pending.is_empty()
            && self.completions.is_idle()
            && self.dma.iter().all(|dma| dma.in_flight() == 0)
            && self.printed == self.backend.printed()
    }

    /// Advances by one clock of the core, or by idle time up to `limit_ps`.
    ///
    /// # Errors
    /// If the hardware breaks a rule of a bus.
    pub fn step(&mut self, limit_ps: u64) -> Result<(), NicError> {
        self.look_at_line(self.now_ps())?;
        if self.config.skips && self.is_quiet() {
            self.skip_on_line(limit_ps)?;
            if self.now_ps() >= limit_ps {
                return Ok(());
            }
        }
        if self.printed < self.backend.printed() {
            self.read_word()?;
        }
        self.clock()
    }

    /// Reads a word of standard output, as software does; it may still be in the clock crossing, or was lost there in
    /// a reset.
    fn read_word(&mut self) -> Result<(), NicError> {
        let offset = bar::CONTROL_REGISTERS.start + cl::FIFO.offset;
        self.bar.read(LiteRead::new(offset.into()));
        while !self.bar.is_idle() {
            self.clock()?;
        }
        for read in self.bar.take_reads() {
            let word = read.data as u32;
            self.missed = (self.missed + 1) % LOST_READS;
            if self.missed == 0 {
                self.printed = self.backend.printed();
            }
            if word != NO_WORD {
                self.printed += 1;
                self.missed = 0;
                for words in [&mut self.console, &mut self.stdout] {
                    // The oldest unread word is lost.
                    if words.len() == KEPT_WORDS {
                        words.pop_front();
                    }
                    words.push_back(word);
                }
            }
        }
        Ok(())
    }

    /// Advances to a time.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn run_until(&mut self, at_ps: u64) -> Result<(), NicError> {
        while self.now_ps() < at_ps {
            self.step(at_ps)?;
        }
        Ok(())
    }

    /// Advances until the NIC is idle, up to `limit_ps`: whether it is idle.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn run_until_idle(&mut self, limit_ps: u64) -> Result<bool, NicError> {
        while !self.is_idle() {
            if self.now_ps() >= limit_ps {
                return Ok(false);
            }
            self.step(limit_ps)?;
        }
        Ok(true)
    }

    /// One clock of the core.
    fn clock(&mut self) -> Result<(), NicError> {
        self.look_at_line(self.now_ps())?;
        self.look_at_wave();
        let edges = self.sim.edges(CORE);
        while self.sim.edges(CORE) == edges {
            self.sim.try_cycle()?;
        }
        self.collect();
        Ok(())
    }

    /// Advances only the cluster, until it needs the application, up to the limit.
    fn skip(&mut self, limit_ps: u64) {
        let left = limit_ps.saturating_sub(self.now_ps());
        let passed = self.backend.skip(left / self.config.cluster_ps);
        self.alone += passed;
        self.skipped_ps += passed * self.config.cluster_ps;
        self.sim.set_passed_ps(self.skipped_ps);
    }

    /// Takes the outputs, and models Corundum's answers.
    fn collect(&mut self) {
        let at_ps = self.now_ps();
        while let Some(packet) = self.to_host.receive() {
            self.note_to_host(at_ps, &packet.frame.bytes);
            if self.host_out.len() == KEPT_FRAMES {
                self.host_lost += 1;
                continue;
            }
            self.host_out.push_back(Out {
                at_ps,
                bytes: packet.frame.bytes,
                is_host: true,
                received: Some((packet.frame.user >> 1) as u64),
            });
        }
        let clock = self.sim.edges(CORE);
        while let Some(frame) = self.to_wire.receive() {
            let tag = (frame.frame.user >> 1) as u64 & (2 * HOST_TAG - 1);
            self.pending.push_back((clock + COMPLETION_CLOCKS, tag));
            self.put_on_line(at_ps, &frame.frame.bytes);
            self.wire_out.push_back(Out {
                at_ps,
                bytes: frame.frame.bytes,
                is_host: tag & HOST_TAG != 0,
                received: None,
            });
        }
        while let Some((_, tag)) = self.pending.pop_front_if(|(at, _)| *at <= clock) {
            self.completions.send(&[tag]);
        }
        self.completed.receive_all();
        self.messages.collect();
        if self.messages.are_wanted() && !self.moves_nothing() {
            self.messages.moved(clock);
        }
        self.hold_back();
    }
}

/// Corundum's DMA at the RAM inside the application.
fn attach_dma(
    sim: &mut Simulation<Hardware>,
    transfer: Transfer,
    host: &HostMemory,
    latency: u64,
) -> Result<CorundumDma, ModelError> {
    let config = DmaConfig {
        latency: Latency::exactly(latency),
        ..DmaConfig::default()
    };
    CorundumDma::attach_inside(sim, transfer, (host, RAM), config, &RamPauses::default())
}
