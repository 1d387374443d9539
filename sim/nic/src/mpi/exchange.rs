//! Messages from one rank to another.

use super::{ExchangeError, Rank, program, rank_on, ranks_on};
use crate::device::Simulated;
use crate::nic::NicConfig;
use spinneret_fabric::Faults;
use spinneret_mpi::library::{Buffer, Config, Copies, Counts, From, Request, To};
use spinneret_mpi::nic::memory::Counter;
use spinneret_mpi::{Layout, Piece};
use spinneret_slmp::{Mode, SenderConfig};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Guard bytes around elements.
pub const GUARD: u32 = 96;
/// Time limit in simulated time.
pub const LIMIT: Duration = Duration::from_secs(1);
/// Initial bytes of receive buffers.
pub const FILL: u8 = 0x5a;
/// Delay before receives are started, so that the sender's announcements are there before.
const BEFORE: Duration = Duration::from_micros(150);
/// HPUs of a cluster.
const HPUS: usize = 8;
/// Time after the last round on a faulty cable, for repeated acknowledgements.
const AFTER_FAULTS: Duration = Duration::from_millis(4);

/// Messages from rank 0 to rank 1, all at once.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Type and number of elements of each.
    pub layouts: Vec<Layout>,
    /// Window: unacknowledged segments of each message.
    pub window: u16,
    /// Payload of a segment in bytes.
    pub unit: usize,
    /// Both NICs.
    pub nic: NicConfig,
    /// The cable.
    pub faults: Faults,
    /// Seed of faults and bytes.
    pub seed: u64,
    /// Number of rounds; the last one is measured.
    pub rounds: u32,
    /// Messages of a shorter warm-up round before, if any.
    pub warm_up: Option<Layout>,
    /// Whether the sender delays announcements of the next round by an eighth of this one. Announcements are repeated until
    /// they are granted, and a computing receiver would find all of them at the end of this round.
    pub rests: bool,
    /// Handler memory for tables of runs.
    pub table_bytes: u32,
    /// Number of NICs that are simulated in parallel.
    pub threads: usize,
}

impl Exchange {
    /// Once, with a window of 16, on a good cable.
    pub fn of(layouts: Vec<Layout>) -> Self {
        Self {
            layouts,
            window: 16,
            unit: 1462,
            nic: NicConfig::default(),
            faults: Faults::default(),
            seed: 1,
            rounds: 1,
            warm_up: None,
            rests: false,
            table_bytes: 256 << 10,
            threads: 2,
        }
    }

    /// The same message 16 times.
    pub fn sixteen(layout: Layout, window: u16) -> Self {
        Self {
            window,
            ..Self::of(vec![layout; 16])
        }
    }

    fn config(&self) -> Config {
        let config = Config::default();
        Config {
            table_bytes: self.table_bytes,
            sender: SenderConfig {
                mode: Mode::Window(self.window),
                segment_bytes: self.unit,
                ..config.sender
            },
            ..config
        }
    }

    /// A byte of the send buffer.
    fn byte(&self, message: usize, round: u32, index: u64) -> u8 {
        let mixed = self.seed ^ (message as u64) << 40 ^ u64::from(round) << 32 ^ index;
        mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0]
    }

    /// Time between the end of a round and the announcements of the next one.
    fn rest(&self, round: Duration) -> Duration {
        match self.rests {
            true => round / 8,
            false => Duration::ZERO,
        }
    }

    /// All rounds, and whether they are warm-up.
    fn all_rounds(&self) -> impl Iterator<Item = (u32, bool)> {
        let warm_ups = u32::from(self.warm_up.is_some());
        (0..self.rounds + warm_ups).map(move |round| (round, round < warm_ups))
    }

    /// The message of a round.
    fn sent<'e>(&'e self, layout: &'e Layout, is_warm_up: bool) -> &'e Layout {
        self.warm_up.as_ref().filter(|_| is_warm_up).unwrap_or(layout)
    }
}

/// Result of the last round.
#[derive(Clone, Debug, Default)]
pub struct Exchanged {
    /// Simulated time from the start of the first receive to the end of the last one.
    pub time: Duration,
    /// Bytes of all messages.
    pub bytes: u64,
    /// Counters of the library, of all rounds.
    pub counts: Counts,
    /// Segments that handlers have scattered, in all rounds.
    pub accepted: u32,
    /// Duplicate segments, in all rounds.
    pub duplicates: u32,
    /// Load of each cluster.
    pub load: Vec<f64>,
}

impl Exchanged {
    /// Goodput in Gbit/s.
    pub fn gbps(&self) -> f64 {
        gbps(self.bytes, self.time)
    }
}

/// Rate in Gbit/s of bytes in a time.
pub(super) fn gbps(bytes: u64, time: Duration) -> f64 {
    bytes as f64 * 8.0 / time.as_secs_f64() / 1e9
}

/// Offset of elements in a buffer with guards, and its size.
pub fn room(layout: &Layout) -> (i64, u32) {
    let origin = i64::from(GUARD) - layout.first();
    let bytes = (layout.end() - layout.first()) as u32 + 2 * GUARD;
    (origin, bytes)
}

/// Starts all receives, and waits for all of them.
pub(super) fn start_and_wait(_: u32, rank: &mut Rank, requests: &[Request]) -> Result<bool, ExchangeError> {
    rank.start_all(requests)?;
    rank.wait_all(requests, LIMIT)?;
    Ok(true)
}

/// Sends all messages, and compares all bytes of all buffers.
///
/// # Errors
/// If something fails, or received data is wrong.
pub fn exchange(how: &Exchange) -> Result<Exchanged, ExchangeError> {
    exchange_with(how, start_and_wait)
}

/// The same with a function that starts and waits for the receives of each round after warm-up, and returns whether there
/// are more rounds.
///
/// # Errors
/// If something fails, or received data is wrong.
pub(super) fn exchange_with(
    how: &Exchange,
    receive: impl FnMut(u32, &mut Rank, &[Request]) -> Result<bool, ExchangeError> + Send,
) -> Result<Exchanged, ExchangeError> {
    let program = &program()?;
    let result = Mutex::new(Exchanged::default());
    let into = &result;
    let sends = move |nic: &Simulated| send(how, rank_on(nic, program, 2, how.config())?);
    let receives = move |nic: &Simulated| {
        let rank = rank_on(nic, program, 2, how.config())?;
        let (exchanged, is_early) = receive_all(how, rank, receive)?;
        *into.lock().unwrap_or_else(PoisonError::into_inner) = exchanged;
        if is_early {
            nic.borrow().stop();
        }
        Ok(())
    };
    ranks_on(
        &how.nic,
        how.faults,
        how.seed,
        how.threads,
        vec![Box::new(sends), Box::new(receives)],
    )?;
    Ok(result.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn send(how: &Exchange, mut rank: Rank) -> Result<(), ExchangeError> {
    let mut sends = Vec::new();
    for (number, layout) in how.layouts.iter().enumerate() {
        let (origin, bytes) = room(layout);
        let buffer = rank.buffer(bytes)?;
        let to = To {
            rank: 1,
            tag: number as i32,
            communicator: 0,
        };
        let warm_up = rank.send_init(&buffer, origin, how.sent(layout, true), to)?;
        sends.push((buffer, [rank.send_init(&buffer, origin, layout, to)?, warm_up]));
    }
    for (round, is_warm_up) in how.all_rounds() {
        for (number, (buffer, _)) in sends.iter().enumerate() {
            let bytes = 0..u64::from(buffer.len());
            let bytes: Vec<u8> = bytes.map(|at| how.byte(number, round, at)).collect();
            rank.write(buffer, 0, &bytes)?;
        }
        let begun = rank.nic().now();
        let requests: Vec<Request> = sends
            .iter()
            .map(|(_, requests)| requests[usize::from(is_warm_up)])
            .collect();
        rank.start_all(&requests)?;
        rank.wait_all(&requests, LIMIT)?;
        rank.run_for(how.rest(rank.nic().now() - begun))?;
    }
    Ok(())
}

/// The result, and whether there were fewer rounds than the sender knows.
fn receive_all(
    how: &Exchange,
    mut rank: Rank,
    mut receive: impl FnMut(u32, &mut Rank, &[Request]) -> Result<bool, ExchangeError>,
) -> Result<(Exchanged, bool), ExchangeError> {
    let (mut requests, mut buffers) = (Vec::new(), Vec::new());
    for (number, layout) in how.layouts.iter().enumerate() {
        let (origin, bytes) = room(layout);
        let buffer = rank.buffer(bytes)?;
        let from = From {
            rank: Some(0),
            tag: Some(number as i32),
            communicator: 0,
        };
        requests.push(rank.recv_init(&buffer, origin, layout, from, Copies::Equal)?);
        buffers.push(buffer);
    }
    let mut exchanged = Exchanged::default();
    let mut rest = Duration::ZERO;
    for (round, is_warm_up) in how.all_rounds() {
        for buffer in &buffers {
            rank.write(buffer, 0, &vec![FILL; buffer.len() as usize])?;
        }
        rank.run_for(BEFORE + rest)?;
        let (begun, before) = (rank.nic().now(), busy(&rank));
        let goes_on = match is_warm_up {
            true => start_and_wait(round, &mut rank, &requests)?,
            false => receive(round - u32::from(how.warm_up.is_some()), &mut rank, &requests)?,
        };
        let time = rank.nic().now() - begun;
        rest = how.rest(time);
        for (number, (layout, buffer)) in how.layouts.iter().zip(&buffers).enumerate() {
            let sent = how.sent(layout, is_warm_up).bytes();
            let byte = |at| how.byte(number, round, at);
            check(&rank, layout, sent, buffer, byte).map_err(|error| {
                ExchangeError::Wrong(format!("message {number} of round {round}: {error}"))
            })?;
        }
        let after = busy(&rank);
        let clocks = time.as_secs_f64() * 1e12 / how.nic.cluster_ps as f64 * HPUS as f64;
        let load = after.iter().zip(&before);
        exchanged = Exchanged {
            time,
            bytes: how.layouts.iter().map(Layout::bytes).sum(),
            counts: rank.counts(),
            accepted: rank.handler_count(Counter::Accepted)?,
            duplicates: rank.handler_count(Counter::Duplicate)?,
            load: load
                .map(|(after, before)| (after - before) as f64 / clocks)
                .collect(),
        };
        if !goes_on {
            return Ok((exchanged, true));
        }
    }
    if how.faults != Faults::default() {
        rank.run_for(AFTER_FAULTS)?;
    }
    Ok((exchanged, false))
}

/// Clocks in which handlers ran, for each cluster.
fn busy(rank: &Rank) -> Vec<u64> {
    let nic = rank.nic().device();
    let nic = nic.device().borrow();
    let busy = nic.cluster().busy();
    busy.chunks(HPUS).map(|hpus| hpus.iter().sum()).collect()
}

/// Compares a receive buffer with the interpreter's result.
fn check(
    rank: &Rank,
    layout: &Layout,
    sent: u64,
    buffer: &Buffer,
    byte: impl Fn(u64) -> u8,
) -> Result<(), ExchangeError> {
    let (origin, bytes) = room(layout);
    let mut expected = vec![FILL; bytes as usize];
    for Piece { start, bytes, .. } in layout.place(0, sent) {
        let first = (origin + start) as u64;
        for at in first..first + bytes {
            expected[at as usize] = byte(at);
        }
    }
    let mut found = vec![0; bytes as usize];
    rank.read(buffer, 0, &mut found)?;
    match found
        .iter()
        .zip(&expected)
        .position(|(found, expected)| found != expected)
    {
        None => Ok(()),
        Some(at) => Err(ExchangeError::Wrong(format!(
            "byte {at} of {bytes} is {:#04x} and should be {:#04x}",
            found[at], expected[at]
        ))),
    }
}
