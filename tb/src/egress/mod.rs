//! The egress path, `pspin_egress_datapath`, between bus models and its reference model.
//!
//! ```text
//! Command --> ChannelSource --> [ path ] --> StreamSinks: frames, byte by byte as the memory has them
//!    side bands of packets --------^  |
//!                                 |  |
//!    AxiSlave, LineResponses: bursts <  > OutputMonitor: answers, errors, what never changes
//! ```
//!
//! Everything that comes out is compared in the cycle in which it comes; the counters are compared whenever
//! nothing is in flight. The path's [`Setup`] determines the expectations of the bench.

mod config;
mod model;

use crate::bench::Finish;
use crate::reference;
use config::LineResponses;
use model::{OutputMonitor, Reference, Shown};
use spinneret_regmap::pspin::nic_command;
use spinneret_sim::prelude::*;
use spinneret_sim::stream::Pauses;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

pub use config::{LineFaults, PIECE, Setup, Slots, Stimulus, stimuli};
pub use model::{Command, Fault, Outcome, Side, Way, random_command};

/// Cycles within which something has to happen.
const PATIENCE: u64 = 100_000;

/// An egress path with bus models on all its ports; all outputs are checked.
#[derive(Debug)]
pub struct EgressBench<M: Model> {
    /// The simulation; [`cycle`](Self::cycle) of the bench runs it.
    pub sim: Simulation<M>,
    /// Parameters of the path.
    pub setup: Setup,
    /// The commands.
    pub commands: ChannelSource,
    /// The memory of the cluster.
    pub slave: AxiSlave,
    /// The wire.
    pub wire: StreamSink,
    /// The host, if frames can be passed.
    pub host: Option<StreamSink>,
    /// The last frame that came out.
    pub last_frame: Option<Received>,
    /// The last answer: cycle and id.
    pub last_answer: Option<(u64, u64)>,
    responses: LineResponses,
    monitor: Rc<RefCell<OutputMonitor>>,
    reference: Reference,
    rng: ChaCha8Rng,
    clear: Option<PortHandle>,
    clears: Pauses,
    cleared: bool,
    /// Lines that were read before the last reset.
    lines_before: u64,
    /// Sinks in whose frames there may be no pause: the wire, the host.
    in_frame: [bool; 2],
    /// Side bands that are not announced yet.
    announcements: VecDeque<(u64, Side)>,
    /// Slots that were used.
    used_slots: u64,
}

impl<M: Model> EgressBench<M> {
    /// Puts bus models around a path and resets it.
    ///
    /// # Panics
    /// If the design lacks the ports of the path.
    pub fn new(mut sim: Simulation<M>, stimulus: Stimulus) -> Self {
        let setup = Setup::of::<M>();
        sim.set_cycle_limit(u64::MAX);
        let fields = ["id", "nid", "fid", "src_addr", "length", "user_ptr"];
        let commands = sim.channel_source("nic_cmd_req", &fields, stimulus.command);
        let responses = LineResponses::new(stimulus.faults, sim.rng("faults"));
        let slave = SlaveConfig {
            address: stimulus.address,
            data: stimulus.data,
            latency: stimulus.latency,
            faults: responses.faults(),
            ..SlaveConfig::default()
        };
        let slave = sim.axi_read_slave("m_axi_pspin_no", slave);
        let wire = sim.sink("m_axis_nic_tx", stimulus.wire);
        let host = setup.slots.map(|_| sim.sink("m_axis_nic_rx", stimulus.host));
        let monitor = reference::attach(&mut sim, OutputMonitor::default());
        let clear = sim
            .dut
            .instance()
            .port("egress_dma_error_clear", Direction::Input);
        let clears = Pauses::new(stimulus.clear, sim.rng("clears"));
        sim.reset();
        let mut bench = Self {
            setup,
            commands,
            slave,
            wire,
            host,
            last_frame: None,
            last_answer: None,
            responses,
            monitor,
            reference: Reference::new(setup),
            rng: sim.rng("commands"),
            clear: clear.ok(),
            clears,
            cleared: false,
            lines_before: 0,
            in_frame: [false; 2],
            announcements: VecDeque::new(),
            used_slots: 0,
            sim,
        };
        assert_eq!(bench.clear.is_some(), setup.error_clear, "the input that clears");
        for piece in bench.pieces() {
            bench.fill(piece, PIECE);
        }
        bench
    }

    /// Returns the addresses of memory with contents: at the lowest address, in the middle, and up to the highest address.
    pub fn pieces(&self) -> [u64; 3] {
        let end = self.setup.address_end();
        [0, end / 2, end - PIECE]
    }

    /// Writes random bytes into the memory. Commands that were sent and not answered must not name them.
    pub fn fill(&mut self, address: u64, count: u64) {
        let mut bytes = vec![0; count as usize];
        self.rng.fill_bytes(&mut bytes);
        self.slave.memory_mut().fill(address, &bytes);
    }

    /// Sends a command; its frame has the bytes that the memory holds now.
    pub fn send(&mut self, command: Command) {
        // Drive don't-care inputs with random values.
        let [nid, any] = [(); 2].map(|()| self.rng.random::<u32>());
        let user_ptr = self.rng.random();
        let Command {
            id, source, length, ..
        } = command;
        let mut side = None;
        let fid = match (command.way, self.setup.slots) {
            (_, None) => any,
            (Way::Wire, _) => any & !nic_command::PASS,
            (Way::Host, Some(slots)) => {
                // No two commands that are under way have the same slot.
                self.used_slots += 1;
                let slot = slots.address(self.used_slots);
                let widths = slots.widths;
                let announced = *side.insert(Side::random(&mut self.rng, widths));
                self.announcements.push_back((slot, announced));
                nic_command::PASS | slot as u32
            }
            (Way::NoSlot(address), _) => nic_command::PASS | address,
        };
        self.commands
            .send(&[id, nid.into(), fid.into(), source, length, user_ptr]);
        self.reference.send(command, side, &self.slave.memory());
    }

    /// Announces the next side band, if there is one; what is not valid is random.
    fn drive_announcement(&mut self) {
        let Some(slots) = self.setup.slots else {
            return;
        };
        let next = self.announcements.pop_front();
        let (slot, side) = next.unwrap_or_else(|| {
            let slot = slots.address(self.rng.random());
            (slot, Side::random(&mut self.rng, slots.widths))
        });
        self.sim.set("packet_place", slot % slots.size / slots.unit);
        let dut = self.sim.dut.instance_mut();
        if let Some(port) = dut.find("packet_side") {
            dut.set_value(port, side.packed(slots.widths));
        }
        self.sim.set("packet_valid", next.is_some());
    }

    /// Simulates a cycle and checks all outputs.
    ///
    /// # Panics
    /// At the first error.
    pub fn cycle(&mut self) {
        let clears = self.clears.next(0);
        self.drive_clear(clears);
        self.drive_announcement();
        self.sim.cycle();
        let observed = self.observe();
        self.sim.expect(observed);
        self.cleared = clears && self.clear.is_some();
    }

    /// Simulates some cycles.
    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycle();
        }
    }

    /// Simulates one cycle in which the last error is cleared.
    pub fn clear_error(&mut self) {
        self.clears.set(Pause::Random { percent: 100 });
        self.cycle();
        self.clears.set(Pause::Never);
    }

    /// From now on nothing pauses or fails, and lines come in the next cycle.
    pub fn stop_stimulus(&mut self) {
        self.commands.set_pause(Pause::Never);
        self.slave.set_pauses(Pause::Never, Pause::Never);
        self.slave.set_latency(Latency::default());
        sinks(&self.wire, self.host.as_ref()).for_each(|(_, sink)| sink.set_pause(Pause::Never));
        self.clears.set(Pause::Never);
        self.set_faults(LineFaults::Never);
    }

    /// Changes which lines fail, from the next read on.
    pub fn set_faults(&self, faults: LineFaults) {
        self.responses.set(faults);
    }

    /// Commands that are not over.
    pub fn under_way(&self) -> usize {
        self.reference.under_way()
    }

    /// Code of the newest error.
    pub fn last_error(&self) -> u64 {
        self.monitor.borrow().shown.last_error
    }

    /// Runs until the wire has that many frames since the start.
    ///
    /// # Panics
    /// If one of them takes too long.
    pub fn run_until_frames(&mut self, frames: u64) {
        while self.wire.total() < frames {
            let next = self.wire.total() + 1;
            let deadline = self.sim.cycle_count() + PATIENCE;
            while self.wire.total() < next {
                assert!(self.sim.cycle_count() < deadline, "frames are missing");
                self.cycle();
            }
        }
    }

    /// Runs until less commands than that are in flight.
    ///
    /// # Panics
    /// If it takes too long.
    pub fn wait_for_less_than(&mut self, commands: usize) {
        let deadline = self.sim.cycle_count() + PATIENCE;
        while self.under_way() >= commands {
            assert!(
                self.sim.cycle_count() < deadline,
                "{} commands are still under way: {:?}",
                self.under_way(),
                self.reference.outcome
            );
            self.cycle();
        }
    }

    /// Runs until every command is answered and every frame is out, and compares the counters; what became of
    /// the commands since the reset.
    ///
    /// # Panics
    /// If something does not come out, or a counter is wrong.
    pub fn settle(&mut self) -> Outcome {
        while self.under_way() > 0 {
            self.wait_for_less_than(self.under_way());
        }
        // Counters show an event two clocks after it.
        self.run(4);
        let counter = |name| self.sim.get(name);
        let outcome = self.reference.outcome;
        assert_eq!(counter("egress_frames_o"), outcome.sent, "frames");
        assert_eq!(counter("egress_read_error_o"), outcome.read_errors, "read errors");
        assert_eq!(counter("egress_refused_o"), outcome.refused, "refused");
        if self.host.is_some() {
            assert_eq!(counter("egress_passed_o"), outcome.passed, "passed");
        }
        outcome
    }

    /// Announces another side band for the slot that was used last, which a packet has again.
    pub fn reuse_slot(&mut self) {
        if let Some(slots) = self.setup.slots {
            let side = Side::random(&mut self.rng, slots.widths);
            self.announcements
                .push_back((slots.address(self.used_slots), side));
        }
    }

    /// Holds the cluster in reset for some cycles, in whatever the path does, and runs until all complete frames are out; the
    /// number of commands that the reset took. All commands must have been taken, and the memory takes reads at once.
    ///
    /// # Panics
    /// If the path has no such input, commands wait, or something comes out that should not.
    pub fn hold_cluster(&mut self, cycles: u64) -> u64 {
        assert!(self.commands.is_idle(), "commands wait");
        self.sim.set("cluster_held", 1_u8);
        for _ in 0..cycles {
            self.cycle();
            self.cleared = true;
        }
        self.sim.set("cluster_held", 0_u8);
        self.run(4 * self.setup.buffer_beats);
        self.responses.clear();
        self.lines_before = self.slave.monitor().counts().data.beats;
        self.reference.lose()
    }

    /// Resets the path in whatever it does, with the memory; commands that are not over are forgotten.
    pub fn reset(&mut self) {
        self.drive_clear(false);
        self.sim.reset();
        self.commands.clear();
        self.slave.take_bursts();
        self.responses.clear();
        sinks(&self.wire, self.host.as_ref()).for_each(|(_, sink)| drop(sink.receive_all()));
        self.announcements.clear();
        self.reference.reset();
        self.lines_before = self.slave.monitor().counts().data.beats;
        (self.cleared, self.in_frame) = (false, [false; 2]);
    }

    fn drive_clear(&mut self, high: bool) {
        if let Some(port) = self.clear {
            self.sim.dut.instance_mut().set_high(port, high);
        }
    }

    fn observe(&mut self) -> Result<(), String> {
        for read in self.slave.take_bursts() {
            self.reference.read(&read, &self.responses)?;
        }
        let lines = self.slave.monitor().counts().data.beats - self.lines_before;
        let Shown {
            cycle,
            answer,
            last_error,
        } = self.monitor.borrow().shown;
        self.reference.step(self.cleared, answer, lines, last_error)?;
        self.last_answer = answer.map(|id| (cycle, id)).or(self.last_answer);
        for (to_host, sink) in sinks(&self.wire, self.host.as_ref()) {
            let in_frame = &mut self.in_frame[usize::from(to_host)];
            if *in_frame && !sink.monitor().is_valid() {
                return Err("there is a pause within a frame".into());
            }
            *in_frame = !sink.is_between_frames();
            while let Some(received) = sink.receive() {
                self.reference.frame(&received.frame, to_host)?;
                self.last_frame = Some(received);
            }
        }
        Ok(())
    }
}

/// The sinks that there are, and whether each is the host.
fn sinks<'a>(
    wire: &'a StreamSink,
    host: Option<&'a StreamSink>,
) -> impl Iterator<Item = (bool, &'a StreamSink)> {
    [(false, Some(wire)), (true, host)]
        .into_iter()
        .filter_map(|(to_host, sink)| Some((to_host, sink?)))
}

impl<M: Model> Finish for EgressBench<M> {
    fn finish(mut self) {
        self.settle();
        self.run(64);
        self.sim.finish();
    }
}

/// Commands between two times of rest.
const BATCH: u64 = 200;

crate::counts! {
    /// Commands by outcome.
    pub struct Totals {
        /// By what became of them.
        pub outcome: Outcome,
        /// Clock cycles that were simulated.
        pub cycles: u64,
    }
}

/// Random commands through a path, at times with a reset in the middle. At the end the longest frames take as
/// many cycles as after a reset, so no room was lost.
///
/// # Panics
/// At the first error.
pub fn run_round<M: Model>(sim: Simulation<M>, stimulus: Stimulus, commands: u64) -> Totals {
    let mut rng = sim.rng("traffic");
    let mut bench = EgressBench::new(sim, stimulus);
    let pieces = bench.pieces();
    let mut totals = Totals::default();
    // Counts since the last reset.
    let mut counted = Outcome::default();
    let mut left = commands;
    while left > 0 {
        let batch = left.min(BATCH);
        for _ in 0..batch {
            bench.send(random_command(&mut rng, &bench.setup, &pieces));
            bench.wait_for_less_than(100);
        }
        counted = bench.settle();
        left -= batch;
        if rng.random_ratio(1, 5) {
            totals.outcome += counted;
            counted = Outcome::default();
            reset_in_traffic(&mut bench, &mut rng, &pieces);
        }
    }
    totals.outcome += counted;
    assert_eq!(totals.outcome.commands(), commands, "{totals:?}");
    totals.cycles = bench.sim.cycle_count();
    let worn = cycles_of_longest(&mut bench);
    bench.reset();
    assert_eq!(
        worn,
        cycles_of_longest(&mut bench),
        "cycles of the longest frames"
    );
    bench.finish();
    totals
}

/// Some commands, and a reset in the middle of them.
fn reset_in_traffic<M: Model>(bench: &mut EgressBench<M>, rng: &mut ChaCha8Rng, pieces: &[u64]) {
    for _ in 0..40 {
        bench.send(random_command(rng, &bench.setup, pieces));
    }
    bench.run(rng.random_range(1..300));
    bench.reset();
}

/// Cycles from the end of one of the longest frames to that of a later one, with nothing in the way: three times
/// as many frames as fit into the buffer, less one.
pub fn cycles_of_longest<M: Model>(bench: &mut EgressBench<M>) -> u64 {
    bench.stop_stimulus();
    bench.settle();
    let before = bench.wire.total();
    let frames = longest_frames(&bench.setup);
    for number in 0..frames {
        bench.send(Command {
            id: number % bench.setup.ids,
            source: 0,
            length: bench.setup.max_frame,
            way: Way::Wire,
        });
    }
    bench.run_until_frames(before + 1);
    let first = bench.last_frame.as_ref().map_or(0, |frame| frame.last_cycle);
    bench.run_until_frames(before + frames);
    let last = bench.last_frame.as_ref().map_or(0, |frame| frame.last_cycle);
    last - first
}

/// Frames that [`cycles_of_longest`] sends.
pub fn longest_frames(setup: &Setup) -> u64 {
    3 * (setup.buffer_beats / setup.beats(setup.max_frame))
}

/// Placement of the frames in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// All at this offset from the start of a line, in bytes.
    Offset(u64),
    /// Each at another place of its line.
    Everywhere,
}

/// Measured clock cycles for frames of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Cycles a frame, back to back: from the end of one to that of a later one, divided by their number.
    pub per_frame: f64,
    /// Lines of memory a frame, on average: the clocks that the bus needs for it.
    pub lines: f64,
    /// From the cycle that takes the command to that of the first beat, through an empty path.
    pub latency: u64,
    /// From the cycle that takes the command to that of its answer, through an empty path.
    pub answer: u64,
}

/// Frames before counting starts.
const WARM_UP: u64 = 128;
/// Frames that are counted.
const COUNTED: u64 = 256;

/// Counts the cycles of frames of one size.
///
/// # Panics
/// If a frame is lost or changed, or its command fails.
pub fn measure<M: Model>(bench: &mut EgressBench<M>, size: u64, place: Place) -> Rate {
    let (latency, answer) = measure_alone(bench, size, place);
    let before = bench.wire.total();
    let mut lines = 0;
    for number in 0..WARM_UP + COUNTED {
        let command = command(bench, size, place, number);
        bench.send(command);
        if number > WARM_UP {
            lines += bench.setup.lines(command.source, command.length);
        }
    }
    let first = last_cycle(bench, before + WARM_UP + 1);
    let last = last_cycle(bench, before + WARM_UP + COUNTED);
    bench.settle();
    let counted = (COUNTED - 1) as f64;
    Rate {
        per_frame: (last - first) as f64 / counted,
        lines: lines as f64 / counted,
        latency,
        answer,
    }
}

/// One frame through an empty path.
fn measure_alone<M: Model>(bench: &mut EgressBench<M>, size: u64, place: Place) -> (u64, u64) {
    bench.settle();
    let taken = bench.sim.cycle_count();
    bench.send(command(bench, size, place, 0));
    bench.settle();
    let first = bench.last_frame.as_ref().map_or(0, |frame| frame.first_cycle);
    let answer = bench.last_answer.map_or(0, |(cycle, _)| cycle);
    (first - taken, answer - taken)
}

fn command<M: Model>(bench: &EgressBench<M>, size: u64, place: Place, number: u64) -> Command {
    let beat = bench.setup.beat;
    let (offset, step) = match place {
        Place::Offset(offset) => (offset, 0),
        // A step that goes through all places.
        Place::Everywhere => (0, 37),
    };
    let slot = (size + 2 * beat).next_multiple_of(beat);
    let source = number % (PIECE / slot) * slot + (offset + step * number) % beat;
    Command {
        id: number % bench.setup.ids,
        source,
        length: size,
        way: Way::Wire,
    }
}

/// Runs until the wire has that many frames; the cycle of the last one's last beat.
fn last_cycle<M: Model>(bench: &mut EgressBench<M>, frames: u64) -> u64 {
    bench.run_until_frames(frames);
    bench.last_frame.as_ref().map_or(0, |frame| frame.last_cycle)
}
