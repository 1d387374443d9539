//! The block that joins our frames with Corundum's: its contract in plain Rust, compared in every cycle, and the
//! driver of completions.

use crate::bench::Parameters;
use crate::reference::{self, Pins, Reference};
use spinneret_sim::channel::{ChannelMonitor, Handshake, Incoming, Outgoing, Payload, Sink, Source};
use spinneret_sim::model::ModelError;
use spinneret_sim::prelude::*;
use spinneret_sim::stream::{StreamBeat, StreamPorts};
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
    /// The widths of a model.
    ///
    /// # Panics
    /// If the model is of another block.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let width = |name: &str| parameters.get(name) as usize;
        Self {
            bytes: width("data_width") / 8,
            id: width("id_width"),
            dest: width("dest_width"),
            user: width("user_width"),
            tag: width("tag_width"),
            timestamp: width("timestamp_width"),
        }
    }

    /// The bit of tuser that says whose frame it is: 1 for the host's.
    pub fn host_bit(&self) -> u128 {
        1 << self.tag
    }

    /// `tuser` of one of our frames after the block.
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
    /// Time at which the frame was sent.
    pub timestamp: u128,
    /// Its tag.
    pub tag: u64,
}

/// Completions as beats, with their timestamp and tag.
#[derive(Debug)]
struct Completions(Handshake);

impl Completions {
    fn find(dut: &Instance, prefix: &str, direction: Direction) -> Self {
        let bus = Handshake::attach(dut, prefix, &["ts", "tag"], direction);
        Self(bus.unwrap_or_else(|error| panic!("{error}")))
    }
}

impl Payload for Completions {
    type Item = (Completion, u64);
    type Monitor = ChannelMonitor;
    const ITEMS: &'static str = "completions";

    fn bus(&self) -> &Handshake {
        &self.0
    }

    fn monitor<M: Model>(&self, sim: &mut Simulation<M>) -> Result<ChannelMonitor, ModelError> {
        Ok(ChannelMonitor::attach(sim, &self.0))
    }
}

impl Outgoing for Completions {
    fn beats(&self, _item: &(Completion, u64)) -> usize {
        1
    }

    fn drive(&mut self, dut: &mut Instance, (completion, _): &(Completion, u64), _beat: usize) {
        self.0.drive(dut, &[completion.timestamp, completion.tag.into()]);
    }
}

impl Incoming for Completions {
    fn take(&mut self, dut: &Instance, cycle: u64) -> Result<Option<(Completion, u64)>, String> {
        let [timestamp, tag] = self.0.read(dut)[..] else {
            return Err("a completion has two fields".to_owned());
        };
        let tag = tag as u64;
        Ok(Some((Completion { timestamp, tag }, cycle)))
    }
}

/// Drives completions and compares the block with its contract; clones share one state.
#[derive(Clone, Debug)]
pub struct TxReference {
    contract: Rc<RefCell<Contract>>,
    sent: Source<Completions>,
    taken: Sink<Completions>,
}

impl TxReference {
    /// Puts the reference model on the ports of the block; `pauses` are those of completions in and out.
    ///
    /// # Panics
    /// If the design is another block.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, pauses: (Pause, Pause)) -> Self {
        let dut = sim.dut.instance();
        let sent = Completions::find(dut, "s_axis_tx_cpl", Direction::Input);
        let taken = Completions::find(dut, "m_axis_tx_cpl", Direction::Output);
        let contract = Contract::new(dut, TxWidths::of::<M>());
        Self {
            contract: reference::attach(sim, contract),
            sent: Source::of(sim, sent, pauses.0).unwrap_or_else(|error| panic!("{error}")),
            taken: Sink::of(sim, taken, pauses.1).unwrap_or_else(|error| panic!("{error}")),
        }
    }

    /// Queues a completion.
    pub fn complete(&self, completion: Completion) {
        self.sent.send((completion, 0));
    }

    /// Completions that arrived, each with the cycle, since the last time.
    pub fn completions(&self) -> Vec<(Completion, u64)> {
        self.taken.receive_all()
    }

    /// Changes the pauses of completions out.
    pub fn set_take_pause(&self, pause: Pause) {
        self.taken.set_pause(pause);
    }

    /// Completions that were not taken from the queue yet.
    pub fn waiting(&self) -> usize {
        self.sent.waiting()
    }

    /// Returns whether the block is empty and no completion waits.
    pub fn is_idle(&self) -> bool {
        self.sent.is_idle() && self.contract.borrow().inside() == 0
    }
}

/// All signals of a beat.
type Beat = (Vec<u8>, StreamBeat);

/// State of the block.
#[derive(Debug)]
struct Contract {
    widths: TxWidths,
    /// The host's stream, our stream, and the output.
    streams: [StreamPorts; 3],
    state: State,
}

#[derive(Debug)]
struct State {
    /// Cycles since reset.
    age: u64,
    /// Per stream the beat that was taken and could not go on.
    held: [Option<Beat>; 2],
    output: Option<Beat>,
    owner: usize,
    within: bool,
    /// Completions on their way to the host.
    completions: VecDeque<Completion>,
    /// Events of the last cycle, and counters: our completions, conflicts.
    happened: [u32; 2],
    counts: [u32; 2],
}

/// Prefixes of the streams in and out.
const STREAMS: [(&str, Direction); 3] = [
    ("s_axis_nic_tx", Direction::Input),
    ("s_axis_pspin_tx", Direction::Input),
    ("m_axis_nic_tx", Direction::Output),
];

impl Default for State {
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

impl State {
    /// The rising edge of the streams: what comes in, and whether the beat at the output leaves.
    fn step_frames(&mut self, taken: [Option<Beat>; 2], leaves: bool) {
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
            self.within = !beat.1.last;
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

impl Contract {
    fn new(dut: &Instance, widths: TxWidths) -> Self {
        let stream = |(prefix, direction)| {
            let ports = StreamPorts::attach(dut, prefix, direction);
            ports.unwrap_or_else(|error| panic!("{error}"))
        };
        Self {
            widths,
            streams: STREAMS.map(stream),
            state: State::default(),
        }
    }

    /// The beat on a stream.
    fn beat(&self, pins: Pins<'_>, stream: usize) -> Beat {
        let ports = &self.streams[stream];
        (ports.lanes(pins.dut()).to_vec(), ports.read(pins.dut()))
    }

    /// Returns the beat that a stream takes in this cycle, as it leaves the block.
    fn taken(&self, pins: Pins<'_>, stream: usize) -> Option<Beat> {
        let (prefix, _) = STREAMS[stream];
        if !pins.high(&format!("{prefix}_tvalid")) || !pins.high(&format!("{prefix}_tready")) {
            return None;
        }
        let (lanes, mut beat) = self.beat(pins, stream);
        if stream == 1 {
            beat.user = self.widths.ours(beat.user);
        }
        Some((lanes, beat))
    }
}

impl Reference for Contract {
    fn check(&self, pins: Pins<'_>) -> Result<(), String> {
        let state = &self.state;
        let open = state.age > 0;
        for (prefix, held) in ["s_axis_nic_tx", "s_axis_pspin_tx"].iter().zip(&state.held) {
            pins.expect(&format!("{prefix}_tready"), open && held.is_none())?;
        }
        pins.expect("m_axis_nic_tx_tvalid", state.output.is_some())?;
        pins.expect("s_axis_tx_cpl_ready", open && state.completions.len() < 2)?;
        let first = state.completions.front();
        pins.expect("m_axis_tx_cpl_valid", first.is_some())?;
        if state
            .output
            .as_ref()
            .is_some_and(|beat| *beat != self.beat(pins, 2))
        {
            return Err("m_axis_nic_tx shows another beat than the one whose turn it is".to_owned());
        }
        if let Some(first) = first {
            pins.expect("m_axis_tx_cpl_tag", first.tag)?;
            pins.expect_wide("m_axis_tx_cpl_ts", first.timestamp)?;
        }
        let counters = ["tx_cpl_ours_o", "tx_host_tag_conflict_o"]
            .iter()
            .zip(state.counts);
        counters
            .into_iter()
            .try_for_each(|(name, count)| pins.expect(name, count))
    }

    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        let taken = [0, 1].map(|stream| self.taken(pins, stream));
        let host = taken[0].as_ref().filter(|(_, beat)| beat.last);
        let conflict = host.is_some_and(|(_, beat)| beat.user & self.widths.host_bit() == 0);
        let sent = pins.fires("s_axis_tx_cpl").then(|| Completion {
            timestamp: pins.wide("s_axis_tx_cpl_ts"),
            tag: pins.value("s_axis_tx_cpl_tag"),
        });
        let ours = sent.is_some_and(|completion| !self.widths.is_host(completion));
        if pins.high("m_axis_tx_cpl_ready") {
            self.state.completions.pop_front();
        }
        self.state.completions.extend(sent.filter(|_| !ours));
        self.state.step_frames(taken, pins.high("m_axis_nic_tx_tready"));
        self.state.step_counts([ours, conflict]);
        Ok(())
    }

    fn reset(&mut self) {
        self.state = State::default();
    }

    fn inside(&self) -> usize {
        let held = self.state.held.iter().flatten().count();
        held + usize::from(self.state.output.is_some()) + self.state.completions.len()
    }
}
