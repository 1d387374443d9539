//! The block that joins our frames with Corundum's: its contract in plain Rust, compared in every cycle, and the
//! driver of completions.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Instance, Model, PortHandle};
use spinneret_sim::simulation::Simulation;
use spinneret_sim::stream::{Frame, Pause, Pauses};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Widths that matter to tests.
#[derive(Clone, Copy, Debug)]
pub struct TxWidths {
    /// Bytes of a beat.
    pub bytes: usize,
    /// Bits of tid.
    pub id: usize,
    /// Bits of tdest.
    pub dest: usize,
    /// Bits of tuser.
    pub user: usize,
    /// Bits of the tag in tuser, above the error bit.
    pub tag: usize,
    /// Bits of a timestamp.
    pub timestamp: usize,
}

impl TxWidths {
    /// The bit of tuser that says whose frame it is: 1 for the host's.
    pub fn host_bit(&self) -> u128 {
        1 << self.tag
    }

    /// `tuser` of one of our frames behind the block.
    pub fn ours(&self, user: u128) -> u128 {
        user & !self.host_bit() & !1
    }

    /// A frame of random bytes with random side band.
    pub fn random_frame(&self, rng: &mut ChaCha8Rng, longest: usize) -> Frame {
        let count = if rng.random_range(0..3) == 0 {
            rng.random_range(1..=self.bytes)
        } else {
            rng.random_range(1..=longest)
        };
        let bytes: Vec<u8> = (0..count).map(|_| rng.random()).collect();
        let field = |value: u128, width: usize| value & (u128::MAX >> (128 - width));
        Frame::new(bytes)
            .with_id(field(rng.random(), self.id) as u64)
            .with_dest(field(rng.random(), self.dest) as u64)
            .with_user(field(rng.random(), self.user))
    }

    /// A completion with a random timestamp, of the host or of us.
    pub fn random_completion(&self, rng: &mut ChaCha8Rng, host: bool) -> Completion {
        let field = |value: u128, width: usize| value & (u128::MAX >> (128 - width));
        Completion {
            timestamp: field(rng.random(), self.timestamp),
            tag: field(rng.random(), self.tag - 1) as u64 | u64::from(host) << (self.tag - 1),
        }
    }

    fn is_host(&self, completion: Completion) -> bool {
        completion.tag >> (self.tag - 1) & 1 == 1
    }
}

/// A completion of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// When the frame was sent.
    pub timestamp: u128,
    /// Its tag.
    pub tag: u64,
}

/// Drives completions and compares the block with its contract; clones share one state.
#[derive(Clone, Debug)]
pub struct TxReference {
    state: Rc<RefCell<State>>,
}

impl TxReference {
    /// Puts the reference model on the ports of the block; `pauses` are those of completions in and out.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, widths: TxWidths, pauses: (Pause, Pause)) -> Self {
        let state = State {
            ports: Ports::find(sim.dut.instance()),
            widths,
            send_pauses: Pauses::new(pauses.0, sim.rng("pauses of s_axis_tx_cpl")),
            take_pauses: Pauses::new(pauses.1, sim.rng("pauses of m_axis_tx_cpl")),
            waiting: VecDeque::new(),
            on_bus: false,
            transfers: 0,
            received: Vec::new(),
            contract: Contract::default(),
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Self { state }
    }

    /// Queues a completion.
    pub fn complete(&self, completion: Completion) {
        self.state.borrow_mut().waiting.push_back(completion);
    }

    /// Completions that arrived, each with the cycle, since the last time.
    pub fn completions(&self) -> Vec<(Completion, u64)> {
        std::mem::take(&mut self.state.borrow_mut().received)
    }

    /// Changes the pauses of completions out.
    pub fn set_take_pause(&self, pause: Pause) {
        self.state.borrow_mut().take_pauses.set(pause);
    }

    /// Completions that were not taken from the queue yet.
    pub fn waiting(&self) -> usize {
        self.state.borrow().waiting.len()
    }

    /// Whether nothing is inside and no completion waits.
    pub fn is_idle(&self) -> bool {
        self.state.borrow().is_idle()
    }
}

/// All signals of a beat, side by side.
type Beat = Vec<u8>;

/// What the block holds.
#[derive(Debug)]
struct Contract {
    /// Cycles since reset.
    age: u64,
    /// Per stream the beat that was taken and could not go on.
    held: [Option<(Beat, bool)>; 2],
    output: Option<(Beat, bool)>,
    owner: usize,
    within: bool,
    /// Completions on their way to the host.
    completions: VecDeque<Completion>,
    /// Events of the last cycle, and counters: completions of ours, conflicts.
    happened: [u32; 2],
    counts: [u32; 2],
}

impl Default for Contract {
    fn default() -> Self {
        Self {
            age: 0,
            held: [None, None],
            output: None,
            owner: 1,
            within: false,
            completions: VecDeque::new(),
            happened: [0; 2],
            counts: [0; 2],
        }
    }
}

impl Contract {
    fn stream_ready(&self, stream: usize) -> bool {
        self.age > 0 && self.held[stream].is_none()
    }

    fn completion_ready(&self) -> bool {
        self.age > 0 && self.completions.len() < 2
    }

    /// The rising edge of the streams: what comes in, and whether the beat at the output leaves.
    fn step_frames(&mut self, taken: [Option<(Beat, bool)>; 2], leaves: bool) {
        for (held, taken) in self.held.iter_mut().zip(taken) {
            *held = held.take().or(taken);
        }
        if leaves {
            self.output = None;
        }
        let other = 1 - self.owner;
        let turn = match (self.within, self.held[other].is_some()) {
            (false, true) => other,
            _ => self.owner,
        };
        if self.output.is_none()
            && let Some(beat) = self.held[turn].take()
        {
            self.owner = turn;
            self.within = !beat.1;
            self.output = Some(beat);
        }
    }

    fn step_counts(&mut self, events: [bool; 2]) {
        for (count, happened) in self.counts.iter_mut().zip(self.happened) {
            *count = count.wrapping_add(happened);
        }
        self.happened = events.map(u32::from);
        self.age += 1;
    }
}

#[derive(Debug)]
struct State {
    ports: Ports,
    widths: TxWidths,
    send_pauses: Pauses,
    take_pauses: Pauses,
    waiting: VecDeque<Completion>,
    on_bus: bool,
    transfers: u64,
    received: Vec<(Completion, u64)>,
    contract: Contract,
}

impl State {
    fn is_idle(&self) -> bool {
        let Contract {
            held,
            output,
            completions,
            ..
        } = &self.contract;
        self.waiting.is_empty()
            && completions.is_empty()
            && output.is_none()
            && held.iter().all(Option::is_none)
    }

    /// Compares all outputs with the contract.
    fn check(&self, dut: &Instance) -> Result<(), String> {
        let (ports, contract) = (&self.ports, &self.contract);
        let first = contract.completions.front();
        let flags = [
            (ports.inputs[0].ready, contract.stream_ready(0)),
            (ports.inputs[1].ready, contract.stream_ready(1)),
            (ports.output.valid, contract.output.is_some()),
            (ports.cpl_in.ready, contract.completion_ready()),
            (ports.cpl_out.valid, first.is_some()),
        ];
        for (port, expected) in flags {
            if dut.is_high(port) != expected {
                return Err(format!(
                    "{} is {}, not {expected}",
                    dut.info(port).name,
                    !expected
                ));
            }
        }
        if let Some((beat, last)) = &contract.output
            && (&ports.output.beat(dut), &dut.is_high(ports.output.last)) != (beat, last)
        {
            return Err("m_axis_nic_tx shows another beat than the one whose turn it is".to_owned());
        }
        if let Some(first) = first.filter(|first| **first != ports.cpl_out.read(dut)) {
            return Err(format!(
                "m_axis_tx_cpl is {:x?}, not {first:x?}",
                ports.cpl_out.read(dut)
            ));
        }
        for (port, expected) in ports.counters.into_iter().zip(contract.counts) {
            if dut.value(port) != u128::from(expected) {
                return Err(format!(
                    "{} is {}, not {expected}",
                    dut.info(port).name,
                    dut.value(port)
                ));
            }
        }
        Ok(())
    }

    /// The beat that a stream takes in this cycle; of ours as it leaves.
    fn taken(&self, dut: &Instance, stream: usize) -> Option<(Beat, bool)> {
        let ports = &self.ports.inputs[stream];
        if !dut.is_high(ports.valid) || !dut.is_high(ports.ready) {
            return None;
        }
        let user = dut.value(ports.user);
        let user = if stream == 0 { user } else { self.widths.ours(user) };
        Some((ports.beat_with(dut, user), dut.is_high(ports.last)))
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let paused = self.send_pauses.next(self.transfers);
        if let Some(completion) = self.waiting.front().filter(|_| !self.on_bus && !paused) {
            dut.set_value(self.ports.cpl_in.timestamp, completion.timestamp);
            dut.set_value(self.ports.cpl_in.tag, completion.tag.into());
            self.on_bus = true;
        }
        dut.set_high(self.ports.cpl_in.valid, self.on_bus);
        let paused = self.take_pauses.next(self.transfers);
        dut.set_high(self.ports.cpl_out.ready, !paused);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.check(dut).map_err(|rule| Violation {
            bus: "reference model".to_owned(),
            rule,
        })?;
        let taken = [0, 1].map(|stream| self.taken(dut, stream));
        let host = &self.ports.inputs[0];
        let conflict = taken[0].as_ref().is_some_and(|(_, last)| *last)
            && dut.value(host.user) & self.widths.host_bit() == 0;
        let leaves = dut.is_high(self.ports.output.ready);
        let sent = if self.on_bus && self.contract.completion_ready() {
            self.on_bus = false;
            self.waiting.pop_front()
        } else {
            None
        };
        if dut.is_high(self.ports.cpl_out.ready)
            && let Some(completion) = self.contract.completions.pop_front()
        {
            self.received.push((completion, cycle));
            self.transfers += 1;
        }
        let ours = sent.is_some_and(|completion| !self.widths.is_host(completion));
        self.contract.completions.extend(sent.filter(|_| !ours));
        self.transfers += u64::from(sent.is_some());
        self.contract.step_frames(taken, leaves);
        self.contract.step_counts([ours, conflict]);
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.contract = Contract::default();
        self.on_bus = false;
        dut.set_high(self.ports.cpl_in.valid, false);
        dut.set_high(self.ports.cpl_out.ready, false);
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        self.check(dut).map_err(|rule| Violation {
            bus: "reference model in reset".to_owned(),
            rule,
        })
    }

    fn unfinished(&self) -> Option<String> {
        (!self.is_idle() || !self.received.is_empty()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!(
            "completions: {} are waiting, {} inside, {} were not looked at",
            self.waiting.len(),
            self.contract.completions.len(),
            self.received.len()
        )
    }
}

#[derive(Clone, Copy, Debug)]
struct StreamPorts {
    valid: PortHandle,
    ready: PortHandle,
    last: PortHandle,
    user: PortHandle,
    /// tdata, tkeep, tid and tdest.
    rest: [PortHandle; 4],
}

impl StreamPorts {
    fn beat(&self, dut: &Instance) -> Beat {
        self.beat_with(dut, dut.value(self.user))
    }

    fn beat_with(&self, dut: &Instance, user: u128) -> Beat {
        let mut beat = user.to_le_bytes().to_vec();
        self.rest
            .iter()
            .for_each(|port| beat.extend_from_slice(dut.bytes(*port)));
        beat
    }
}

#[derive(Clone, Copy, Debug)]
struct CompletionPorts {
    timestamp: PortHandle,
    tag: PortHandle,
    valid: PortHandle,
    ready: PortHandle,
}

impl CompletionPorts {
    fn read(&self, dut: &Instance) -> Completion {
        Completion {
            timestamp: dut.value(self.timestamp),
            tag: dut.value(self.tag) as u64,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Ports {
    inputs: [StreamPorts; 2],
    output: StreamPorts,
    cpl_in: CompletionPorts,
    cpl_out: CompletionPorts,
    counters: [PortHandle; 2],
}

impl Ports {
    fn find(dut: &Instance) -> Self {
        let port = |name: String| {
            dut.find(&name)
                .unwrap_or_else(|| panic!("{} has no port {name}", dut.name()))
        };
        let stream = |prefix: &str| StreamPorts {
            valid: port(format!("{prefix}_tvalid")),
            ready: port(format!("{prefix}_tready")),
            last: port(format!("{prefix}_tlast")),
            user: port(format!("{prefix}_tuser")),
            rest: ["tdata", "tkeep", "tid", "tdest"].map(|signal| port(format!("{prefix}_{signal}"))),
        };
        let completion = |prefix: &str| CompletionPorts {
            timestamp: port(format!("{prefix}_ts")),
            tag: port(format!("{prefix}_tag")),
            valid: port(format!("{prefix}_valid")),
            ready: port(format!("{prefix}_ready")),
        };
        Self {
            inputs: [stream("s_axis_nic_tx"), stream("s_axis_pspin_tx")],
            output: stream("m_axis_nic_tx"),
            cpl_in: completion("s_axis_tx_cpl"),
            cpl_out: completion("m_axis_tx_cpl"),
            counters: ["tx_cpl_ours_o", "tx_host_tag_conflict_o"].map(|name| port(name.to_owned())),
        }
    }
}
