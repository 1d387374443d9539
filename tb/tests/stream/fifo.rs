//! `Fifo` in all its forms.

use crate::reference::{self, OutputRegister, PassQueue, Pins, Reference};
use spinneret_models as models;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{STALLED, each, patterns};
use std::collections::VecDeque;

/// Parameters of the FIFO under test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FifoParams {
    /// Elements that fit.
    pub(crate) depth: u64,
    /// Cycles from input to output.
    pub(crate) latency: u64,
    /// None: there is no `almost_full`.
    pub(crate) margin: Option<u64>,
    pub(crate) has_level: bool,
    /// Output register of a FIFO that lets elements pass.
    pub(crate) register: OutputRegister,
}

/// The contract of a FIFO.
struct FifoReference {
    params: FifoParams,
    /// Elements with the cycle in which they came.
    elements: VecDeque<(u64, u64)>,
    /// Cycles since reset.
    cycle: u64,
}

impl FifoReference {
    fn new(params: FifoParams) -> Self {
        Self {
            params,
            elements: VecDeque::new(),
            cycle: 0,
        }
    }
}

impl Reference for FifoReference {
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        let level = self.elements.len() as u64;
        pins.expect("s_ready", level < self.params.depth && self.cycle > 0)?;
        if self.params.has_level {
            pins.expect("level", level)?;
        }
        if let Some(margin) = self.params.margin {
            pins.expect("almost_full", level + margin >= self.params.depth)?;
        }
        let first = self
            .elements
            .front()
            .filter(|(_, came)| came + self.params.latency <= self.cycle);
        pins.expect("m_valid", first.is_some())?;
        if let Some((data, _)) = first {
            pins.expect("m_data", *data)?;
        }
        if pins.fires("m") {
            self.elements.pop_front();
        }
        if pins.fires("s") {
            self.elements.push_back((pins.value("s_data"), self.cycle));
        }
        self.cycle += 1;
        Ok(())
    }

    fn reset(&mut self) {
        self.elements.clear();
        self.cycle = 0;
    }

    fn inside(&self) -> usize {
        self.elements.len()
    }
}

struct Tb<M> {
    sim: Simulation<M>,
    source: ChannelSource,
    sink: ChannelSink,
}

impl<M: Model> Tb<M> {
    fn new(run: &mut TestRun, params: FifoParams, pauses: (Pause, Pause)) -> Self {
        let mut sim = run.simulation::<M>();
        let source = sim.channel_source("s", &["data"], pauses.0);
        let sink = sim.channel_sink("m", &["data"], pauses.1);
        if params.latency == 0 {
            reference::attach(&mut sim, PassReference::new(params));
        } else {
            reference::attach(&mut sim, FifoReference::new(params));
        }
        sim.reset();
        // Ready rises one cycle after reset.
        sim.cycle();
        Self { sim, source, sink }
    }

    fn send(&self, elements: impl IntoIterator<Item = u64>) {
        elements
            .into_iter()
            .for_each(|element| self.source.send(&[element]));
    }

    /// Runs until that many elements have arrived, and returns them with their cycles.
    fn receive(&mut self, count: usize) -> Vec<(u64, u64)> {
        self.sim.run_until(|_| self.sink.waiting() >= count);
        self.sink
            .receive_all()
            .into_iter()
            .map(|item| (item.values[0], item.cycle))
            .collect()
    }
}

fn values(received: &[(u64, u64)]) -> Vec<u64> {
    received.iter().map(|(value, _)| *value).collect()
}

pub(crate) fn keeps_order_under_random_traffic<M: Model>(params: FifoParams) {
    each(0x0001_f1f0, patterns(), |run, pauses| {
        let mut rng = run.rng("elements");
        let sent: Vec<u64> = (0..3000).map(|_| u64::from(rng.random::<u32>())).collect();
        let mut tb = Tb::<M>::new(run, params, pauses);
        tb.send(sent.iter().copied());
        assert_eq!(values(&tb.receive(sent.len())), sent);
        tb.sim.run(10);
    });
}

pub(crate) fn has_its_latency<M: Model>(params: FifoParams) {
    run_test(0x0002_f1f0, |run| {
        let mut tb = Tb::<M>::new(run, params, (Pause::Never, Pause::Never));
        for _ in 0..10 {
            let taken = tb.sim.cycle_count();
            tb.send([7]);
            assert_eq!(tb.receive(1), [(7, taken + params.latency)]);
        }
    });
}

pub(crate) fn passes_one_element_per_cycle<M: Model>(params: FifoParams) {
    run_test(0x0003_f1f0, |run| {
        let mut tb = Tb::<M>::new(run, params, (Pause::Never, Pause::Never));
        let first = tb.sim.cycle_count() + params.latency;
        tb.send(0..500);
        let expected: Vec<_> = (0..500).map(|index| (index, first + index)).collect();
        assert_eq!(tb.receive(500), expected);
    });
}

pub(crate) fn fills_to_its_depth<M: Model>(params: FifoParams) {
    run_test(0x0004_f1f0, |run| {
        let mut tb = Tb::<M>::new(run, params, (Pause::Never, STALLED));
        let count = 4 * params.depth;
        tb.send(0..count);
        tb.sim.run(2 * params.depth + 5);
        assert_eq!(tb.source.counts().beats, params.depth);
        tb.sink.set_pause(Pause::Never);
        assert_eq!(
            values(&tb.receive(count as usize)),
            (0..count).collect::<Vec<_>>()
        );
    });
}

pub(crate) fn drains_without_a_gap<M: Model>(params: FifoParams) {
    run_test(0x0007_f1f0, |run| {
        let mut tb = Tb::<M>::new(run, params, (Pause::Never, STALLED));
        let count = 10 * params.depth;
        tb.send(0..count);
        tb.sim.run(2 * params.depth + 5);
        tb.sink.set_pause(Pause::Never);
        let received = tb.receive(count as usize);
        assert!(
            received.windows(2).all(|pair| pair[1].1 == pair[0].1 + 1),
            "{received:?}"
        );
    });
}

pub(crate) fn warns_in_time<M: Model>(params: FifoParams) {
    let margin = params.margin.expect("the block has almost_full");
    run_test(0x0005_f1f0, |run| {
        let mut tb = Tb::<M>::new(run, params, (Pause::Never, STALLED));
        let flag = tb
            .sim
            .dut
            .instance()
            .find("almost_full")
            .expect("a FIFO has almost_full");
        tb.send(0..2 * params.depth);
        // An output shows in a cycle what was taken before it.
        tb.sim.run_until(|dut| dut.instance().is_high(flag));
        assert_eq!(tb.source.counts().beats + margin, params.depth);
        tb.sim.run(params.depth + 5);
        assert_eq!(tb.source.counts().beats, params.depth);
        tb.sink.set_pause(Pause::Never);
        tb.receive(2 * params.depth as usize);
    });
}

pub(crate) fn forgets_everything_at_reset<M: Model>(params: FifoParams) {
    run_test(0x0006_f1f0, |run| {
        let half = Pause::Random { percent: 50 };
        let mut tb = Tb::<M>::new(run, params, (half.clone(), half));
        let mut next = 0;
        for cycles in 1..50 {
            tb.send(next..next + 2 * cycles);
            next += 2 * cycles;
            tb.sim.run(cycles);
            tb.sim.reset();
            tb.sink.receive_all();
        }
        let left = tb.source.waiting();
        let received = values(&tb.receive(left));
        assert_eq!(received, (next - left as u64..next).collect::<Vec<_>>());
        tb.sim.run(10);
    });
}

/// The tests of some forms of FIFO, by name.
macro_rules! fifo_tests {
    ($($name:ident: $model:ty, $params:expr, [$($test:ident)+];)+) => {$(
        mod $name {
            use super::*;

            $(
                #[test]
                fn $test() {
                    $crate::fifo::$test::<$model>($params);
                }
            )+
        }
    )+};
    ($($name:ident: $model:ty, $params:expr, also [$($test:ident)*];)+) => {
        fifo_tests! {$(
            $name: $model, $params, [
                keeps_order_under_random_traffic
                has_its_latency
                fills_to_its_depth
                forgets_everything_at_reset
                $($test)*
            ];
        )+}
    };
}

// A FIFO of two elements with a registered output passes two elements in three cycles only.
fifo_tests! {
    fifo_fallthrough: models::FifoFallthrough, FifoParams { depth: 4, latency: 1, margin: Some(1), has_level: true, register: OutputRegister::None },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    fifo_fallthrough_2: models::FifoFallthrough2, FifoParams { depth: 2, latency: 1, margin: Some(0), has_level: true, register: OutputRegister::None },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    fifo_registered: models::FifoRegistered, FifoParams { depth: 4, latency: 2, margin: Some(3), has_level: true, register: OutputRegister::None },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    fifo_block: models::FifoBlock, FifoParams { depth: 4, latency: 2, margin: Some(0), has_level: true, register: OutputRegister::None },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    fifo_block_2: models::FifoBlock2, FifoParams { depth: 2, latency: 2, margin: Some(1), has_level: true, register: OutputRegister::None },
        also [warns_in_time];
    fifo_block_64: models::FifoBlock64, FifoParams { depth: 64, latency: 2, margin: Some(10), has_level: true, register: OutputRegister::None },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
}

/// The contract of a FIFO that lets elements pass.
pub(crate) struct PassReference {
    margin: Option<u64>,
    queue: PassQueue,
}

impl PassReference {
    pub(crate) fn new(params: FifoParams) -> Self {
        let depth = params.depth - u64::from(params.register != OutputRegister::None);
        Self {
            margin: params.margin,
            queue: PassQueue::new(depth, params.register),
        }
    }
}

impl Reference for PassReference {
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        pins.expect("s_ready", self.queue.ready())?;
        if let Some(margin) = self.margin {
            pins.expect("almost_full", self.queue.almost_full(margin))?;
        }
        let input = pins.fires("s").then(|| pins.value("s_data"));
        let output = self.queue.output(input);
        pins.expect("m_valid", output.is_some())?;
        if let Some(data) = output {
            pins.expect("m_data", data)?;
        }
        self.queue.step(input, pins.high("m_ready"));
        Ok(())
    }

    fn reset(&mut self) {
        self.queue.reset();
    }

    fn inside(&self) -> usize {
        self.queue.inside()
    }
}

// After the first element that had to wait, elements take the two cycles of a block RAM.
fifo_tests! {
    pass_fifo: models::PassFifo, FifoParams { depth: 4, latency: 0, margin: Some(1), has_level: false, register: OutputRegister::None },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    pass_fifo_2: models::PassFifo2, FifoParams { depth: 2, latency: 0, margin: Some(0), has_level: false, register: OutputRegister::None },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    pass_fifo_register: models::PassFifoRegister, FifoParams { depth: 5, latency: 0, margin: Some(1), has_level: false, register: OutputRegister::First },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    pass_fifo_register_2: models::PassFifoRegister2, FifoParams { depth: 3, latency: 0, margin: Some(0), has_level: false, register: OutputRegister::First },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    pass_fifo_block: models::PassFifoBlock, FifoParams { depth: 5, latency: 0, margin: Some(1), has_level: false, register: OutputRegister::FirstWaiting },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    pass_fifo_block_64: models::PassFifoBlock64, FifoParams { depth: 65, latency: 0, margin: Some(10), has_level: false, register: OutputRegister::FirstWaiting },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
}

fifo_tests! {
    skid_buffer: models::SkidBuffer, FifoParams { depth: 2, latency: 1, margin: None, has_level: false, register: OutputRegister::None },
        also [passes_one_element_per_cycle drains_without_a_gap];
}

fifo_tests! {
    output_queue: models::OutputQueue, FifoParams { depth: 5, latency: 1, margin: Some(1), has_level: false, register: OutputRegister::None },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    output_queue_2: models::OutputQueue2, FifoParams { depth: 3, latency: 1, margin: Some(0), has_level: false, register: OutputRegister::None },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
}
