//! The cluster as the BAR sees it: it takes bursts of one word, answers when it likes, and forgets everything
//! when it is held in reset.

use crate::bench::Parameters;
use crate::reference::{self, Pins, Reference};
use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Parameters of a BAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Width of an address of the BAR in bits.
    pub address_bits: u32,
    /// Words in a beat to the cluster.
    pub lanes: usize,
    /// Clocks that the cluster has for its answer.
    pub timeout_cycles: u64,
}

impl Setup {
    /// Reads the parameters of a model in the catalog.
    ///
    /// # Panics
    /// If there is no such model, or it is no BAR.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let get = |name| parameters.get(name);
        Self {
            address_bits: get("address_width") as u32,
            lanes: get("data_width") as usize / 32,
            timeout_cycles: get("timeout_cycles"),
        }
    }

    /// The lane of the word at that address of the cluster.
    pub fn lane(&self, address: u32) -> usize {
        address as usize / 4 % self.lanes
    }

    /// Returns whether the BAR reaches an offset.
    pub fn reaches(&self, offset: u64) -> bool {
        offset < 1 << self.address_bits
    }
}

/// Timing and faults of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterConfig {
    /// Probability that it is not ready for an address or data in a clock, in percent.
    pub stall_percent: u32,
    /// Fewest clocks from the last transfer of a burst to its answer, at least 1.
    pub least_latency: u64,
    /// Most clocks.
    pub most_latency: u64,
    /// Probability of an answer that is not OKAY, in percent; EXOKAY is one of them.
    pub fault_percent: u32,
}

impl ClusterConfig {
    /// Ready always, answers in the next clock, and always with OKAY.
    pub const FAST: Self = Self {
        stall_percent: 0,
        least_latency: 1,
        most_latency: 1,
        fault_percent: 0,
    };

    /// Takes nothing.
    pub const STUCK: Self = Self {
        stall_percent: 100,
        ..Self::FAST
    };
}

/// An address that the cluster took, or data: a write has both, each in its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) cycle: u64,
    /// The address; for data, the word that every lane carries.
    pub(super) value: u32,
    /// The protection type; for data, the strobes of its lane.
    pub(super) bits: u8,
    /// For data, the lane with strobes.
    pub(super) lane: usize,
}

/// An answer on the bus, in the clock of its transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) cycle: u64,
    pub(super) code: u8,
    /// The word in the lane that was asked for.
    pub(super) word: u32,
}

/// Transfers on the channels of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Traffic {
    pub(super) addresses: VecDeque<Taken>,
    pub(super) datas: VecDeque<Taken>,
    pub(super) answers: VecDeque<Answer>,
}

/// The cluster as the BAR sees it; clones share one state.
#[derive(Clone, Debug)]
pub struct ClusterModel {
    state: Rc<RefCell<State>>,
}

/// A channel into the cluster.
#[derive(Debug)]
struct Channel {
    prefix: &'static str,
    payload: &'static [&'static str],
    /// The payload that waits for ready.
    waiting: Option<Vec<Vec<u8>>>,
}

/// One direction.
#[derive(Debug)]
struct Half {
    address: Channel,
    /// Of writes only.
    data: Option<Channel>,
    /// Prefix of the answers.
    answer: &'static str,
    config: ClusterConfig,
    /// Address and data of an unanswered access.
    got_address: Option<u32>,
    got_data: Option<Taken>,
    /// The cycle in which the answer is given.
    due: Option<u64>,
    on_bus: Option<Answer>,
    traffic: Traffic,
}

#[derive(Debug)]
struct State {
    setup: Setup,
    rng: ChaCha8Rng,
    /// Writes and reads.
    halves: [Half; 2],
    cycle: u64,
}

impl ClusterModel {
    /// Puts a cluster behind `m_axi` and `cluster_held`.
    ///
    /// # Panics
    /// If the design is no BAR.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, config: ClusterConfig) -> Self {
        let channel = |prefix, payload| Channel {
            prefix,
            payload,
            waiting: None,
        };
        let half = |address, data, answer| Half {
            address: channel(address, &ADDRESS_FIELDS),
            data,
            answer,
            config,
            got_address: None,
            got_data: None,
            due: None,
            on_bus: None,
            traffic: Traffic::default(),
        };
        let data = channel("m_axi_w", &["data", "strb", "last"]);
        let state = State {
            setup: Setup::of::<M>(),
            rng: sim.rng("cluster"),
            halves: [
                half("m_axi_aw", Some(data), "m_axi_b"),
                half("m_axi_ar", None, "m_axi_r"),
            ],
            cycle: 0,
        };
        Self {
            state: reference::attach(sim, state),
        }
    }

    /// Changes how it behaves towards writes and reads, from the next clock on.
    pub fn configure(&self, writes: ClusterConfig, reads: ClusterConfig) {
        let mut state = self.state.borrow_mut();
        [state.halves[0].config, state.halves[1].config] = [writes, reads];
    }

    /// The transfers since the last call, of writes and of reads.
    pub(super) fn take_traffic(&self) -> [Traffic; 2] {
        let mut state = self.state.borrow_mut();
        state
            .halves
            .each_mut()
            .map(|half| std::mem::take(&mut half.traffic))
    }

    /// Returns whether nothing is in flight.
    pub fn is_idle(&self) -> bool {
        self.state.borrow().inside() == 0
    }
}

/// Fields of an address, of which those before PROT are checked together.
const ADDRESS_FIELDS: [&str; 8] = ["id", "addr", "len", "size", "burst", "lock", "cache", "prot"];

impl Channel {
    /// Returns whether there is a transfer. A waiting payload may be withdrawn while the cluster is held in reset.
    fn check(&mut self, pins: Pins<'_>, held: bool) -> Result<bool, String> {
        let signal = |name: &str| format!("{}{name}", self.prefix);
        let (valid, ready) = (pins.high(&signal("valid")), pins.high(&signal("ready")));
        let payload = self.payload.iter().map(|name| pins.bytes(&signal(name)).to_vec());
        let payload: Vec<_> = payload.collect();
        if let Some(before) = self.waiting.take()
            && (!valid || before != payload)
        {
            return Err(format!(
                "{}: valid fell or the payload changed before the transfer",
                self.prefix
            ));
        }
        self.waiting = (valid && !ready && !held).then_some(payload);
        Ok(valid && ready && !held)
    }
}

impl Half {
    fn is_idle(&self) -> bool {
        self.got_address.is_none() && self.got_data.is_none() && self.on_bus.is_none()
    }

    fn forget(&mut self) {
        (self.got_address, self.got_data, self.due, self.on_bus) = (None, None, None, None);
        self.address.waiting = None;
        if let Some(data) = &mut self.data {
            data.waiting = None;
        }
    }

    fn drive(&mut self, dut: &mut Instance, setup: &Setup, rng: &mut ChaCha8Rng, cycle: u64) {
        let mut is_ready = || rng.random_range(0..100) >= self.config.stall_percent;
        let (address, data) = (is_ready(), is_ready());
        set_high(
            dut,
            self.address.prefix,
            "ready",
            address && self.got_address.is_none(),
        );
        if let Some(channel) = &self.data {
            set_high(dut, channel.prefix, "ready", data && self.got_data.is_none());
        }
        if self.on_bus.is_none() && self.due.is_some_and(|due| cycle >= due) {
            self.offer(dut, setup, rng);
        }
        set_high(dut, self.answer, "valid", self.on_bus.is_some());
    }

    /// Puts the answer on the bus, with random data in all lanes.
    fn offer(&mut self, dut: &mut Instance, setup: &Setup, rng: &mut ChaCha8Rng) {
        let fails = rng.random_range(0..100) < self.config.fault_percent;
        let code = if fails { rng.random_range(1..4) } else { 0 };
        let mut lanes = vec![0; 4 * setup.lanes];
        rng.fill_bytes(&mut lanes);
        dut.set_value(port(dut, self.answer, "resp"), code.into());
        dut.set_value(port(dut, self.answer, "id"), 0);
        if self.data.is_none() {
            dut.set_bytes(port(dut, self.answer, "data"), &lanes);
            set_high(dut, self.answer, "last", true);
        }
        let lane = setup.lane(self.got_address.unwrap_or(0));
        self.on_bus = Some(Answer {
            cycle: 0,
            code,
            word: words(&lanes)[lane],
        });
    }

    fn step(&mut self, pins: Pins<'_>, setup: &Setup, rng: &mut ChaCha8Rng) -> Result<(), String> {
        let (cycle, held) = (pins.cycle(), pins.high("cluster_held"));
        pins.expect(&format!("{}ready", self.answer), true)?;
        if let Some(answer) = self.on_bus.take() {
            self.traffic.answers.push_back(Answer { cycle, ..answer });
            (self.got_address, self.got_data, self.due) = (None, None, None);
        }
        if self.address.check(pins, held)? {
            let taken = self.taken_address(pins)?;
            self.got_address = Some(taken.value);
            self.traffic.addresses.push_back(taken);
        }
        if let Some(channel) = &mut self.data
            && channel.check(pins, held)?
        {
            let taken = taken_data(pins)?;
            self.got_data = Some(taken);
            self.traffic.datas.push_back(taken);
        }
        if let (Some(address), Some(taken)) = (self.got_address, self.got_data)
            && taken.bits != 0
            && taken.lane != setup.lane(address)
        {
            return Err(format!(
                "m_axi_w: strobes in lane {} for {address:#x}",
                taken.lane
            ));
        }
        let is_complete = self.got_address.is_some() && (self.data.is_none() || self.got_data.is_some());
        if is_complete && self.due.is_none() {
            let latency = self.config.least_latency..=self.config.most_latency;
            self.due = Some(cycle + rng.random_range(latency));
        }
        if held {
            self.forget();
        }
        Ok(())
    }

    /// The address of a burst, which is one aligned word.
    fn taken_address(&self, pins: Pins<'_>) -> Result<Taken, String> {
        let prefix = self.address.prefix;
        let [id, address, length, size, kind, lock, _, protection] =
            ADDRESS_FIELDS.map(|name| pins.value(&format!("{prefix}{name}")));
        if [id, length, size, kind, lock] != [0, 0, 2, 1, 0] || !address.is_multiple_of(4) {
            return Err(format!(
                "{prefix}: not one aligned word: id {id}, {address:#x}, length {length}, size {size}, kind {kind}, lock {lock}"
            ));
        }
        Ok(Taken {
            cycle: pins.cycle(),
            value: address as u32,
            bits: protection as u8,
            lane: 0,
        })
    }
}

/// The data of a burst: the same word in all lanes, strobed in at most one.
fn taken_data(pins: Pins<'_>) -> Result<Taken, String> {
    let lanes = words(pins.bytes("m_axi_wdata"));
    let strobes = pins.wide("m_axi_wstrb");
    let used: Vec<usize> = (0..lanes.len())
        .filter(|lane| strobes >> (4 * lane) & 15 != 0)
        .collect();
    if !pins.high("m_axi_wlast") || used.len() > 1 || lanes.iter().any(|word| *word != lanes[0]) {
        return Err(format!(
            "m_axi_w: not one word in its lane: strobes {strobes:#x}, words {lanes:x?}"
        ));
    }
    let lane = used.first().copied().unwrap_or(0);
    Ok(Taken {
        cycle: pins.cycle(),
        value: lanes[0],
        bits: (strobes >> (4 * lane) & 15) as u8,
        lane,
    })
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks(4);
    words
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

fn port(dut: &Instance, prefix: &str, name: &str) -> PortHandle {
    let name = format!("{prefix}{name}");
    dut.find(&name)
        .unwrap_or_else(|| panic!("{} has no port {name}", dut.name()))
}

fn set_high(dut: &mut Instance, prefix: &str, name: &str, high: bool) {
    dut.set_high(port(dut, prefix, name), high);
}

impl Reference for State {
    fn drive(&mut self, dut: &mut Instance) {
        for half in &mut self.halves {
            half.drive(dut, &self.setup, &mut self.rng, self.cycle);
        }
    }

    fn drive_idle(&self, dut: &mut Instance) {
        for half in &self.halves {
            set_high(dut, half.answer, "valid", false);
        }
    }

    fn check_reset(&self, pins: Pins<'_>) -> Result<(), String> {
        ["m_axi_awvalid", "m_axi_wvalid", "m_axi_arvalid"]
            .iter()
            .try_for_each(|name| pins.expect(name, false))
    }

    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        self.cycle = pins.cycle() + 1;
        for half in &mut self.halves {
            half.step(pins, &self.setup, &mut self.rng)?;
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.halves.iter_mut().for_each(Half::forget);
    }

    fn inside(&self) -> usize {
        self.halves.iter().filter(|half| !half.is_idle()).count()
    }
}
