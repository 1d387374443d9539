//! The cluster as the BAR sees it: it takes bursts of one word, answers when it likes, and forgets everything
//! when it is held in reset.

use crate::bench::Parameters;
use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// What a BAR was generated with.
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
    /// That of a model in the catalog.
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

    /// Whether the BAR reaches that offset.
    pub fn reaches(&self, offset: u64) -> bool {
        offset < 1 << self.address_bits
    }
}

/// How a cluster behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Temper {
    /// Probability that it is not ready for an address or data in a clock, in percent.
    pub stall_percent: u32,
    /// Fewest clocks from the last transfer of a burst to its answer, at least 1.
    pub least_latency: u64,
    /// Most clocks.
    pub most_latency: u64,
    /// Probability of an answer that is not OKAY, in percent; EXOKAY is one of them.
    pub fault_percent: u32,
}

impl Temper {
    /// Ready always, answers in the next clock, and always with OKAY.
    pub const CALM: Self = Self {
        stall_percent: 0,
        least_latency: 1,
        most_latency: 1,
        fault_percent: 0,
    };

    /// Takes nothing.
    pub const DEAF: Self = Self {
        stall_percent: 100,
        ..Self::CALM
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
}

/// An answer on the bus, in the clock of its transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) cycle: u64,
    pub(super) code: u8,
    /// The word in the lane that was asked for.
    pub(super) word: u32,
}

/// What passed on the channels of one direction.
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

/// The ports of a channel into the cluster.
#[derive(Debug)]
struct Channel {
    name: &'static str,
    valid: PortHandle,
    ready: PortHandle,
    payload: Vec<PortHandle>,
    /// The payload that waits for ready.
    waiting: Option<Vec<Vec<u8>>>,
}

/// One direction.
#[derive(Debug)]
struct Half {
    address: Channel,
    /// Of writes only.
    data: Option<Channel>,
    valid: PortHandle,
    ready: PortHandle,
    code: PortHandle,
    id: PortHandle,
    /// Of reads only: RDATA and RLAST.
    read: Option<(PortHandle, PortHandle)>,
    temper: Temper,
    /// What was taken and not answered.
    got_address: Option<u32>,
    got_data: Option<Taken>,
    /// When the answer is given.
    due: Option<u64>,
    on_bus: Option<Answer>,
    traffic: Traffic,
}

#[derive(Debug)]
struct State {
    setup: Setup,
    held: PortHandle,
    rng: ChaCha8Rng,
    writes: Half,
    reads: Half,
    cycle: u64,
}

impl ClusterModel {
    /// Puts a cluster behind `m_axi` and `cluster_held`.
    ///
    /// # Panics
    /// If the design is no BAR.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, temper: Temper) -> Self {
        let dut = sim.dut.instance();
        let state = State {
            setup: Setup::of::<M>(),
            held: port(dut, "cluster_held"),
            rng: sim.rng("cluster"),
            writes: Half::new(dut, "aw", Some("w"), "b", temper),
            reads: Half::new(dut, "ar", None, "r", temper),
            cycle: 0,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Self { state }
    }

    /// Changes how it behaves towards writes and reads, from the next clock on.
    pub fn set_temper(&self, writes: Temper, reads: Temper) {
        let mut state = self.state.borrow_mut();
        (state.writes.temper, state.reads.temper) = (writes, reads);
    }

    /// What passed since the last call, writes and reads.
    pub(super) fn take_traffic(&self) -> [Traffic; 2] {
        let mut state = self.state.borrow_mut();
        let State { writes, reads, .. } = &mut *state;
        [
            std::mem::take(&mut writes.traffic),
            std::mem::take(&mut reads.traffic),
        ]
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        let state = self.state.borrow();
        [&state.writes, &state.reads].iter().all(|half| half.is_idle())
    }
}

fn port(dut: &Instance, name: &str) -> PortHandle {
    dut.find(name).unwrap_or_else(|| panic!("no port {name}"))
}

impl Channel {
    fn new(dut: &Instance, letters: &'static str, payload: &[&str]) -> Self {
        let signal = |name: &str| port(dut, &format!("m_axi_{letters}{name}"));
        Self {
            name: letters,
            valid: signal("valid"),
            ready: signal("ready"),
            payload: payload.iter().map(|name| signal(name)).collect(),
            waiting: None,
        }
    }

    fn violation(&self, rule: &str) -> Violation {
        Violation {
            bus: format!("m_axi_{}", self.name),
            rule: rule.to_owned(),
        }
    }

    /// Whether there is a transfer; what waits may go away while the cluster is held in reset.
    fn check(&mut self, dut: &Instance, held: bool) -> Result<bool, Violation> {
        let (valid, ready) = (dut.is_high(self.valid), dut.is_high(self.ready));
        let payload: Vec<Vec<u8>> = self
            .payload
            .iter()
            .map(|port| dut.bytes(*port).to_vec())
            .collect();
        if let Some(before) = self.waiting.take() {
            if !valid {
                return Err(self.violation("valid fell before it was taken"));
            }
            if before != payload {
                return Err(self.violation("the payload changed before it was taken"));
            }
        }
        if valid && !ready && !held {
            self.waiting = Some(payload);
        }
        Ok(valid && ready && !held)
    }
}

impl Half {
    fn new(
        dut: &Instance,
        address: &'static str,
        data: Option<&'static str>,
        answer: &'static str,
        temper: Temper,
    ) -> Self {
        let signal = |name: &str| port(dut, &format!("m_axi_{answer}{name}"));
        let payload = ["id", "addr", "len", "size", "burst", "lock", "cache", "prot"];
        Self {
            address: Channel::new(dut, address, &payload),
            data: data.map(|letters| Channel::new(dut, letters, &["data", "strb", "last"])),
            valid: signal("valid"),
            ready: signal("ready"),
            code: signal("resp"),
            id: signal("id"),
            read: data.is_none().then(|| (signal("data"), signal("last"))),
            temper,
            got_address: None,
            got_data: None,
            due: None,
            on_bus: None,
            traffic: Traffic::default(),
        }
    }

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
        let mut is_ready = || rng.random_range(0..100) >= self.temper.stall_percent;
        let (address, data) = (is_ready(), is_ready());
        dut.set_high(self.address.ready, address && self.got_address.is_none());
        if let Some(channel) = &self.data {
            dut.set_high(channel.ready, data && self.got_data.is_none());
        }
        if self.on_bus.is_none() && self.due.is_some_and(|due| cycle >= due) {
            self.offer(dut, setup, rng);
        }
        dut.set_high(self.valid, self.on_bus.is_some());
    }

    /// Puts the answer on the bus: random data in all lanes.
    fn offer(&mut self, dut: &mut Instance, setup: &Setup, rng: &mut ChaCha8Rng) {
        let fails = rng.random_range(0..100) < self.temper.fault_percent;
        let code = if fails { rng.random_range(1..4) } else { 0 };
        let mut lanes = vec![0; 4 * setup.lanes];
        rng.fill_bytes(&mut lanes);
        let lane = 4 * setup.lane(self.got_address.unwrap_or(0));
        let word = [0, 1, 2, 3].map(|byte| lanes[lane + byte]);
        dut.set_value(self.code, code.into());
        dut.set_value(self.id, 0);
        if let Some((data, last)) = self.read {
            dut.set_bytes(data, &lanes);
            dut.set_high(last, true);
        }
        self.on_bus = Some(Answer {
            cycle: 0,
            code,
            word: u32::from_le_bytes(word),
        });
    }

    fn sample(
        &mut self,
        dut: &Instance,
        setup: &Setup,
        rng: &mut ChaCha8Rng,
        cycle: u64,
        held: bool,
    ) -> Result<(), Violation> {
        if !dut.is_high(self.ready) {
            return Err(self.address.violation("answers are not taken at once"));
        }
        if let Some(answer) = self.on_bus.take() {
            self.traffic.answers.push_back(Answer { cycle, ..answer });
            (self.got_address, self.got_data, self.due) = (None, None, None);
        }
        if self.address.check(dut, held)? {
            let address = self.check_address(dut)?;
            let bits = dut.value(self.address.payload[7]) as u8;
            self.got_address = Some(address);
            self.traffic.addresses.push_back(Taken {
                cycle,
                value: address,
                bits,
            });
        }
        if let Some(channel) = &mut self.data
            && channel.check(dut, held)?
        {
            let taken = check_data(dut, channel, cycle)?;
            self.got_data = Some(taken);
            self.traffic.datas.push_back(taken);
        }
        self.check_lane(setup)?;
        let is_complete = self.got_address.is_some() && (self.data.is_none() || self.got_data.is_some());
        if is_complete && self.due.is_none() {
            let Temper {
                least_latency: least,
                most_latency: most,
                ..
            } = self.temper;
            self.due = Some(cycle + rng.random_range(least..=most));
        }
        if held {
            self.forget();
        }
        Ok(())
    }

    /// The address of a burst, which is one aligned word.
    fn check_address(&self, dut: &Instance) -> Result<u32, Violation> {
        let values: Vec<u64> = self.address.payload[..7]
            .iter()
            .map(|port| dut.value(*port) as u64)
            .collect();
        let [id, address, length, size, kind, lock, _] = values[..] else {
            return Err(self.address.violation("the channel has other signals"));
        };
        if [id, length, size, kind, lock] != [0, 0, 2, 1, 0] || !address.is_multiple_of(4) {
            let rule = format!(
                "not one aligned word: id {id}, {address:#x}, length {length}, size {size}, kind {kind}, lock {lock}"
            );
            return Err(self.address.violation(&rule));
        }
        Ok(address as u32)
    }

    /// Strobes name bytes of the lane of the address only.
    fn check_lane(&mut self, setup: &Setup) -> Result<(), Violation> {
        let (Some(address), Some(taken), Some(channel)) = (self.got_address, self.got_data, &self.data)
        else {
            return Ok(());
        };
        let lane = (taken.bits >> 4) as usize;
        if taken.bits & 15 != 0 && lane != setup.lane(address) % 16 {
            let rule = format!("strobes in lane {lane} for {address:#x}");
            return Err(channel.violation(&rule));
        }
        Ok(())
    }
}

/// The data of a burst: the same word in all lanes; `bits` is {lane, modulo 16; its strobes}.
fn check_data(dut: &Instance, channel: &Channel, cycle: u64) -> Result<Taken, Violation> {
    let [data, strobes, last] = channel.payload[..] else {
        return Err(channel.violation("the channel has other signals"));
    };
    let lanes: Vec<u32> = dut
        .bytes(data)
        .chunks(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let strobes = dut.value(strobes);
    let used: Vec<usize> = (0..32).filter(|lane| strobes >> (4 * lane) & 15 != 0).collect();
    if !dut.is_high(last) || used.len() > 1 || lanes.iter().any(|word| *word != lanes[0]) {
        let rule = format!("not one word in its lane: strobes {strobes:#x}, words {lanes:x?}");
        return Err(channel.violation(&rule));
    }
    let lane = used.first().copied().unwrap_or(0);
    Ok(Taken {
        cycle,
        value: lanes[0],
        bits: (lane % 16) as u8 * 16 + (strobes >> (4 * lane) & 15) as u8,
    })
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let State {
            setup,
            rng,
            writes,
            reads,
            cycle,
            ..
        } = self;
        writes.drive(dut, setup, rng, *cycle);
        reads.drive(dut, setup, rng, *cycle);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.cycle = cycle + 1;
        let held = dut.is_high(self.held);
        let State {
            setup,
            rng,
            writes,
            reads,
            ..
        } = self;
        writes.sample(dut, setup, rng, cycle, held)?;
        reads.sample(dut, setup, rng, cycle, held)
    }

    fn reset(&mut self, dut: &mut Instance) {
        for half in [&mut self.writes, &mut self.reads] {
            half.forget();
            dut.set_high(half.valid, false);
        }
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        let channels = [
            Some(&self.writes.address),
            self.writes.data.as_ref(),
            Some(&self.reads.address),
        ];
        for channel in channels.into_iter().flatten() {
            if dut.is_high(channel.valid) {
                return Err(channel.violation("valid is high in reset"));
            }
        }
        Ok(())
    }

    fn describe(&self) -> String {
        let is_waiting = |half: &Half| half.got_address.is_some() || half.got_data.is_some();
        format!(
            "m_axi: cluster has a write to answer: {}, a read: {}",
            is_waiting(&self.writes),
            is_waiting(&self.reads)
        )
    }
}
