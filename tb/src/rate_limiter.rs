//! The rate limiter: its contract in plain Rust, compared in every cycle, and a bench with its settings.

use crate::bench::{Finish, Parameters};
use crate::reference::{self, Pins, Reference};
use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// Clocks from a beat at the input to the same beat at the output, if it does not wait.
pub const LATENCY: u64 = 3;
/// Clocks until a counter shows an event.
pub const COUNTER_LATENCY: u64 = 2;

/// Parameters of the block.
#[derive(Clone, Copy, Debug)]
pub struct LimiterParams {
    /// Bytes of a beat.
    pub bytes: usize,
    /// Clocks of a period.
    pub period: u64,
    /// Width of the burst in bits.
    pub credit: u32,
}

impl LimiterParams {
    /// The parameters of a model.
    ///
    /// # Panics
    /// If the model is no rate limiter.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        Self {
            bytes: parameters.get("data_width") as usize / 8,
            period: parameters.get("period"),
            credit: parameters.get("credit_width") as u32,
        }
    }
}

/// Values of the setting inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The rate is kept.
    pub enforce: bool,
    /// Bytes in a period.
    pub rate: u64,
    /// Bytes that may be saved.
    pub burst: u64,
}

/// A beat as the contract sees it.
#[derive(Clone, Copy, Debug)]
struct Beat {
    keep: u64,
    last: bool,
}

/// Observations shared with the bench.
#[derive(Debug, Default)]
struct Seen {
    /// Bytes that left in each cycle since the bench was made.
    passed: Vec<u64>,
    /// Beats that are inside.
    inside: usize,
}

/// The contract: where each beat is, what the credit is, and what was counted.
struct Contract {
    params: LimiterParams,
    /// No cycle of work yet since reset.
    fresh: bool,
    /// Beats that wait after the input register, in both places before the output, and there.
    spare: Option<Beat>,
    counted: Option<Beat>,
    gate: Option<Beat>,
    output: Option<Beat>,
    within_frame: bool,
    /// In steps of 1 / period of a byte.
    credit: i64,
    /// It was above the burst in the cycle before.
    full: bool,
    /// Frames, bytes and held clocks: those of the last cycle, and those that the counters show.
    happened: [u64; 3],
    counts: [u64; 3],
    seen: Rc<RefCell<Seen>>,
}

impl Contract {
    fn new(params: LimiterParams, seen: Rc<RefCell<Seen>>) -> Self {
        Self {
            params,
            fresh: true,
            spare: None,
            counted: None,
            gate: None,
            output: None,
            within_frame: false,
            credit: 0,
            full: false,
            happened: [0; 3],
            counts: [0; 3],
            seen,
        }
    }

    fn check(&self, pins: Pins<'_>) -> Result<(), String> {
        pins.expect("s_axis_tready", !self.fresh && self.spare.is_none())?;
        pins.expect("m_axis_tvalid", self.output.is_some())?;
        if let Some(Beat { keep, last }) = self.output {
            pins.expect("m_axis_tkeep", keep)?;
            pins.expect("m_axis_tlast", last)?;
        }
        let counters = ["frames_passed", "bytes_passed", "cycles_held"];
        counters
            .into_iter()
            .zip(self.counts)
            .try_for_each(|(name, count)| pins.expect(name, count))
    }

    /// Credit after this cycle, in which that many bytes were paid for.
    fn earn(&mut self, settings: Settings, paid: u64) {
        let period = self.params.period as i64;
        let earned = if self.full { 0 } else { settings.rate as i64 };
        self.full = self.credit > settings.burst as i64 * period;
        let most_debt = (2 << self.params.credit) * period;
        self.credit = (self.credit + earned - paid as i64 * period).max(-most_debt);
    }

    /// Beats that go on, from the output to the input.
    fn advance(&mut self, settings: Settings, ready: bool, input: Option<Beat>) {
        if ready {
            self.output = None;
        }
        let open = self.within_frame || !settings.enforce || self.credit >= 0;
        let mut events = [0; 3];
        let mut paid = 0;
        if self.output.is_none()
            && let Some(beat) = self.gate
        {
            if open {
                let bytes = u64::from(beat.keep.count_ones());
                events = [u64::from(beat.last), bytes, 0];
                paid = if settings.enforce { bytes } else { 0 };
                self.within_frame = !beat.last;
                self.output = self.gate.take();
            } else {
                events[2] = 1;
            }
        }
        self.earn(settings, paid);
        self.gate = self.gate.or_else(|| self.counted.take());
        let next = self.spare.or(input);
        if self.counted.is_none() {
            self.counted = next;
            self.spare = None;
        } else {
            self.spare = next;
        }
        for (count, event) in self.counts.iter_mut().zip(self.happened) {
            *count += event;
        }
        self.happened = events;
    }
}

impl Reference for Contract {
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        self.check(pins)?;
        let fires = |bus: &str| pins.high(&format!("{bus}_tvalid")) && pins.high(&format!("{bus}_tready"));
        let leaves = self.output.filter(|_| fires("m_axis"));
        let bytes = leaves.map_or(0, |beat| u64::from(beat.keep.count_ones()));
        let input = fires("s_axis").then(|| Beat {
            keep: pins.value("s_axis_tkeep"),
            last: pins.high("s_axis_tlast"),
        });
        let settings = Settings {
            enforce: pins.high("limit_enforce"),
            rate: pins.value("limit_rate"),
            burst: pins.value("limit_burst"),
        };
        self.advance(settings, pins.high("m_axis_tready"), input);
        self.fresh = false;
        let mut seen = self.seen.borrow_mut();
        seen.passed.push(bytes);
        seen.inside = self.inside();
        Ok(())
    }

    fn reset(&mut self) {
        self.seen.borrow_mut().inside = 0;
        *self = Self::new(self.params, Rc::clone(&self.seen));
    }

    fn inside(&self) -> usize {
        [self.spare, self.counted, self.gate, self.output]
            .iter()
            .flatten()
            .count()
    }
}

/// The block with a source, a sink and its reference model.
#[derive(Debug)]
pub struct LimiterBench<M: Model> {
    /// The simulation.
    pub sim: Simulation<M>,
    /// Frames in.
    pub source: StreamSource,
    /// Frames out.
    pub sink: StreamSink,
    seen: Rc<RefCell<Seen>>,
}

impl<M: Model> Finish for LimiterBench<M> {}

impl<M: Model> LimiterBench<M> {
    /// Resets the block, with these pauses of source and sink, and waits until it takes beats.
    pub fn new(mut sim: Simulation<M>, pauses: (Pause, Pause), settings: Settings) -> Self {
        let source = sim.source("s_axis", pauses.0);
        let sink = sim.sink("m_axis", pauses.1);
        let seen = Rc::<RefCell<Seen>>::default();
        reference::attach(
            &mut sim,
            Contract::new(LimiterParams::of::<M>(), Rc::clone(&seen)),
        );
        let mut bench = Self {
            sim,
            source,
            sink,
            seen,
        };
        bench.set(settings);
        bench.sim.reset();
        bench.sim.cycle();
        bench
    }

    /// Changes the settings from the next cycle on.
    ///
    /// # Panics
    /// If the model is of another block.
    pub fn set(&mut self, settings: Settings) {
        self.sim.set("limit_enforce", settings.enforce);
        self.sim.set("limit_rate", settings.rate);
        self.sim.set("limit_burst", settings.burst);
    }

    /// Runs until everything that was sent has left and is counted.
    pub fn drain(&mut self) {
        let (source, seen) = (&self.source, &self.seen);
        self.sim
            .run_until(|_| source.is_idle() && seen.borrow().inside == 0);
        self.sim.run(COUNTER_LATENCY);
    }

    /// Bytes that left in each cycle since the bench was made.
    pub fn passed(&self) -> Vec<u64> {
        self.seen.borrow().passed.clone()
    }
}
