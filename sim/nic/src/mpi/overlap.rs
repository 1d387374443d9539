//! Overlap of computation and communication: the paper's experiment, in simulated time.
//!
//! Times are those of the simulation. The measurement starts before the first receive, and so before the request to the
//! sender, and ends when the library reports the last message. A multiplication of matrices
//! takes the time that a [`Multiplication`] says, at the rate that the messages have alone. All work of the library counts as communication, by the latencies of
//! [`LatencyModel`](super::LatencyModel).

use super::exchange::{Exchange, LIMIT, exchange_with, gbps};
use super::priced::{HostAccesses, HostLatencies};
use super::{ExchangeError, Rank};
use spinneret_mpi::library::Request;
use std::time::Duration;

/// Range of multiplications at the end, by the paper's rule.
const WANTED: std::ops::RangeInclusive<u32> = 15..=20;
/// Initial dimension of the rule, and its step.
const DIMENSION: u32 = 1500;
const STEP: u32 = 10;
/// Maximum number of trials for one set of latencies until the rule is met.
const TRIALS: u32 = 4;

/// C = A B + 2 C of square matrices: how long it takes on a host, while a device writes to its memory.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Multiplication {
    /// Dimensions, ascending, and 10^9 operations a second at each; a multiplication has two for each triple of indices.
    pub gflops: Vec<(f64, f64)>,
    /// Rates of a device that writes, ascending, in Gb/s, and how many times as long a multiplication takes at each.
    pub slowed: Vec<(f64, f64)>,
}

impl Multiplication {
    /// The paper's eight cores with OpenBLAS, whose memory is never busy.
    pub fn paper() -> Self {
        Self {
            gflops: vec![(1.0, 175.0)],
            slowed: Vec::new(),
        }
    }

    /// Duration of one multiplication while a device writes that many Gb/s.
    pub fn time(&self, dimension: u32, gbps: f64) -> Duration {
        let alone = 2.0 * f64::from(dimension).powi(3) / (between(&self.gflops, dimension.into()) * 1e9);
        Duration::from_secs_f64(alone * self.slowdown(gbps))
    }

    /// How many times as long a multiplication takes while a device writes that many Gb/s.
    pub fn slowdown(&self, gbps: f64) -> f64 {
        match self.slowed.is_empty() {
            true => 1.0,
            false => between(&self.slowed, gbps),
        }
    }

    /// The dimension that the paper's rule finds for a transfer of this duration and rate.
    pub fn dimension(&self, transfer: Duration, gbps: f64) -> u32 {
        Tuning::expect(self, transfer, gbps).dimension
    }
}

/// The value at a place on the line through ascending points, that of the nearest point outside of them.
///
/// # Panics
/// If there is no point.
fn between(points: &[(f64, f64)], place: f64) -> f64 {
    let after = points.partition_point(|(at, _)| *at <= place);
    let (from, to) = (points[after.max(1) - 1], points[after.min(points.len() - 1)]);
    match to.0 > from.0 {
        true => from.1 + (to.1 - from.1) * (place - from.0) / (to.0 - from.0),
        false => to.1,
    }
}

/// The rule that finds the dimension. The paper repeats a trial until it is met five times; simulated time
/// is the same each time, so once is enough.
#[derive(Debug)]
struct Tuning {
    dimension: u32,
    step: u32,
    /// Whether the last one was too large.
    was_large: Option<bool>,
}

impl Tuning {
    fn new() -> Self {
        Self {
            dimension: DIMENSION,
            step: STEP,
            was_large: None,
        }
    }

    /// Whether a trial with that many multiplications meets the rule; otherwise, changes the dimension. Too
    /// few mean that it is too large. Steps become shorter where one step is too large, which the paper does after a
    /// first success.
    fn learn(&mut self, multiplications: u32) -> bool {
        if WANTED.contains(&multiplications) {
            return true;
        }
        let is_large = multiplications < *WANTED.start();
        if self.was_large.is_some_and(|was_large| was_large != is_large) {
            self.step = (self.step / 2).max(1);
        }
        self.was_large = Some(is_large);
        self.dimension = match is_large {
            true => self.dimension.saturating_sub(self.step).max(1),
            false => self.dimension + self.step,
        };
        false
    }

    /// Applies the rule to an estimate of the transfer, so that few trials have to be simulated.
    fn expect(multiplication: &Multiplication, transfer: Duration, gbps: f64) -> Self {
        let mut tuning = Self::new();
        let multiplications = |dimension| {
            let each = multiplication.time(dimension, gbps).max(Duration::from_nanos(1));
            transfer.as_nanos().div_ceil(each.as_nanos()) as u32
        };
        // From 1500 down to 1 in steps of 1.
        for _ in 0..DIMENSION {
            if tuning.learn(multiplications(tuning.dimension)) {
                break;
            }
        }
        tuning
    }
}

/// Messages without computation: the host polls for their end.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Alone {
    /// From the start of the first receive to the reported end of the last one.
    pub time: Duration,
    /// Bytes of all messages.
    pub bytes: u64,
}

impl Alone {
    /// Goodput in Gbit/s.
    pub fn gbps(&self) -> f64 {
        gbps(self.bytes, self.time)
    }
}

/// Messages with computation: {multiply, poll} until the reported end of the last one.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Trial {
    /// Latencies of the host.
    pub prices: HostLatencies,
    /// Dimension of the matrices.
    pub dimension: u32,
    /// Number of multiplications.
    pub multiplications: u32,
    /// How many times as long one takes as without the messages.
    pub slowdown: f64,
    /// From before the start of the first receive to the end of the last poll.
    pub elapsed: Duration,
    /// The part of it in which the host multiplied: T_MM.
    pub computed: Duration,
    /// Accesses of the host in the rest.
    pub acts: HostAccesses,
}

impl Trial {
    /// Time without computation: T_Poll, with starts and requests.
    pub fn polling(&self) -> Duration {
        self.elapsed - self.computed
    }

    /// The paper's R = T_MM / (T_MM + T_Poll).
    pub fn ratio(&self) -> f64 {
        self.computed.as_secs_f64() / self.elapsed.as_secs_f64()
    }

    /// Share of the transfer time that the library leaves to the program, independent of long computations.
    /// The host may have further work for the messages, such as to unpack them.
    pub fn availability(&self, alone: &Alone, more: Duration) -> f64 {
        1.0 - (self.polling() + more).as_secs_f64() / alone.time.as_secs_f64()
    }
}

/// Results.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Overlapped {
    /// Without computation, with the given latencies.
    pub alone: Alone,
    /// With computation, for each set of latencies.
    pub trials: Vec<Trial>,
}

/// Exchanges messages alone, and then with each set of latencies while the host computes.
///
/// # Errors
/// If received data is wrong, something fails, or no dimension meets the rule.
pub fn overlap(
    how: &Exchange,
    multiplication: &Multiplication,
    prices: &[HostLatencies],
) -> Result<Overlapped, ExchangeError> {
    let mut done = Overlapped::default();
    let mut tuning = Tuning::new();
    let how = Exchange {
        rounds: 1 + TRIALS * prices.len() as u32,
        rests: true,
        ..how.clone()
    };
    exchange_with(&how, |round, rank, requests| {
        if round == 0 {
            done.alone = Alone {
                time: alone(rank, requests)?,
                bytes: how.layouts.iter().map(spinneret_mpi::Layout::bytes).sum(),
            };
            tuning = Tuning::expect(multiplication, done.alone.time, done.alone.gbps());
        } else {
            let prices = prices[done.trials.len()];
            let one = Product {
                dimension: tuning.dimension,
                time: multiplication.time(tuning.dimension, done.alone.gbps()),
                slowdown: multiplication.slowdown(done.alone.gbps()),
            };
            let trial = trial(rank, requests, prices, one)?;
            if tuning.learn(trial.multiplications) {
                done.trials.push(trial);
                tuning = Tuning::expect(multiplication, done.alone.time, done.alone.gbps());
            }
        }
        Ok(done.trials.len() < prices.len())
    })?;
    match done.trials.len() == prices.len() {
        true => Ok(done),
        false => Err(ExchangeError::Wrong(format!(
            "no dimension lets a transfer of {:?} end after {WANTED:?} multiplications",
            done.alone.time
        ))),
    }
}

fn alone(rank: &mut Rank, requests: &[Request]) -> Result<Duration, ExchangeError> {
    let begun = rank.nic().now();
    rank.nic().device().set_latencies(HostLatencies::STATED);
    rank.start_all(requests)?;
    while rank.test_all(requests)?.is_none() {
        check(rank, begun)?;
    }
    rank.nic().device().set_latencies(HostLatencies::NONE);
    Ok(rank.nic().now() - begun)
}

/// A multiplication of a trial.
#[derive(Clone, Copy)]
struct Product {
    dimension: u32,
    time: Duration,
    slowdown: f64,
}

fn trial(
    rank: &mut Rank,
    requests: &[Request],
    prices: HostLatencies,
    one: Product,
) -> Result<Trial, ExchangeError> {
    let (begun, acts) = (rank.nic().now(), rank.nic().device().acts());
    rank.nic().device().set_latencies(prices);
    rank.start_all(requests)?;
    let (mut multiplications, mut computed) = (0, Duration::ZERO);
    loop {
        let before = rank.nic().now();
        rank.nic().compute(one.time)?;
        computed += rank.nic().now() - before;
        multiplications += 1;
        if rank.test_all(requests)?.is_some() {
            break;
        }
        check(rank, begun)?;
    }
    rank.nic().device().set_latencies(HostLatencies::NONE);
    Ok(Trial {
        prices,
        dimension: one.dimension,
        multiplications,
        slowdown: one.slowdown,
        elapsed: rank.nic().now() - begun,
        computed,
        acts: rank.nic().device().acts() - acts,
    })
}

fn check(rank: &Rank, begun: Duration) -> Result<(), ExchangeError> {
    match rank.nic().now() - begun < LIMIT {
        true => Ok(()),
        false => Err(ExchangeError::Wrong(format!(
            "messages have not come within {} s",
            LIMIT.as_secs()
        ))),
    }
}
