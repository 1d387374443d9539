//! Reference model of the gate of the matched path, in plain Rust.
//!
//! Beats have 32 bits: `s_data` is {bad, last, keep, data}, `m_data` {cut, over, bad, beyond, last, keep, data}.

use crate::reference::{OutputRegister, PassQueue, Pins, Reference};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Lowest bit of keep.
const KEEP_AT: u64 = 32;
/// Bit of last.
const LAST_AT: u64 = 36;
/// Bit that says that the frame is bad, at the input.
const BAD_AT: u64 = 37;
/// All lanes of a beat.
pub const FULL: u64 = 0xf;
/// Places for verdicts, that in the output register included.
const VERDICTS: usize = 9;

/// Parameters of a gate.
#[derive(Clone, Copy, Debug)]
pub struct GateParams {
    /// Beats of a large slot.
    pub limit: usize,
    /// Beats that can wait.
    pub queue: u64,
    /// The queue is in block RAM.
    pub block: bool,
    /// Frames that can be under way.
    pub packets: usize,
    /// A frame waits for room.
    pub stall: bool,
}

/// A beat of a frame; whether it is the last follows from its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// Data.
    pub data: u64,
    /// Lanes that have a byte.
    pub keep: u64,
    /// The frame is bad, if this is its last beat.
    pub bad: bool,
}

impl Beat {
    /// The beat at the input.
    pub fn word(self, last: bool) -> u64 {
        u64::from(self.bad) << BAD_AT | u64::from(last) << LAST_AT | self.keep << KEEP_AT | self.data
    }
}

/// The mark of the last of these beats, the first ones of a frame: what enters the queue, if anything.
fn mark(beats: &[Beat], ends: bool, limit: usize) -> Option<u64> {
    let number = beats.len() - 1;
    let beyond = number >= limit;
    if beyond && !ends {
        return None;
    }
    let bad = |number: usize| {
        let Beat { keep, bad, .. } = beats[number];
        let lanes_filled = keep & (keep + 1) == 0;
        let gap_before = beats[..number].iter().any(|earlier| earlier.keep != FULL);
        !lanes_filled || (gap_before && keep != 0) || (bad && ends && number + 1 == beats.len())
    };
    // The last beat behind the slot stands for all of them.
    let stands_for = if beyond { limit..=number } else { number..=number };
    let over = beyond && stands_for.clone().any(|number| beats[number].keep != 0);
    let flags = [
        ends,
        beyond,
        stands_for.clone().any(bad),
        over,
        ends || number + 1 == limit,
    ];
    let flags = (0..)
        .zip(flags)
        .map(|(bit, flag)| u64::from(flag) << (LAST_AT + bit));
    let Beat { data, keep, .. } = beats[number];
    Some(flags.sum::<u64>() | keep << KEEP_AT | data)
}

/// All that enters of a frame.
pub fn marks(frame: &[Beat], limit: usize) -> Vec<u64> {
    (1..=frame.len())
        .filter_map(|count| mark(&frame[..count], count == frame.len(), limit))
        .collect()
}

/// The contract of the gate.
#[derive(Debug)]
pub struct GateReference {
    params: GateParams,
    queue: PassQueue,
    /// Beats of the frame that has begun; empty between frames.
    frame: Vec<Beat>,
    admitted: bool,
    /// Frames that wait for their metadata, and metadata, with the cycle in which they came.
    verdicts: VecDeque<(bool, u64)>,
    metas: VecDeque<(u64, u64)>,
    /// Admitted frames whose metadata has not left.
    under_way: usize,
    cycle: u64,
    /// All verdicts, for the test.
    log: Rc<RefCell<Vec<bool>>>,
}

impl GateReference {
    /// A gate after reset, which writes down whether each frame that begins is admitted.
    pub fn new(params: GateParams, log: Rc<RefCell<Vec<bool>>>) -> Self {
        Self {
            params,
            queue: PassQueue::new(
                params.queue,
                if params.block {
                    OutputRegister::FirstWaiting
                } else {
                    OutputRegister::First
                },
            ),
            frame: Vec::new(),
            admitted: false,
            verdicts: VecDeque::new(),
            metas: VecDeque::new(),
            under_way: 0,
            cycle: 0,
            log,
        }
    }

    /// Takes a beat in; returns what enters the queue.
    fn accept(&mut self, word: u64, room: bool) -> Option<u64> {
        if self.frame.is_empty() {
            self.admitted = room;
            self.log.borrow_mut().push(room);
            self.verdicts.push_back((room, self.cycle));
            self.under_way += usize::from(room);
        }
        self.frame.push(Beat {
            data: word & 0xffff_ffff,
            keep: word >> KEEP_AT & FULL,
            bad: word >> BAD_AT & 1 == 1,
        });
        let ends = word >> LAST_AT & 1 == 1;
        let entered = mark(&self.frame, ends, self.params.limit).filter(|_| self.admitted);
        if ends {
            self.frame.clear();
        }
        entered
    }

    /// Metadata meets the verdict of its frame.
    fn step_metas(&mut self, pins: Pins<'_>) -> Result<(), String> {
        let there = |came: u64| came < self.cycle;
        let verdict = self.verdicts.front().copied().filter(|(_, came)| there(*came));
        let room = self.cycle > 0 && self.metas.len() <= self.params.packets;
        pins.expect("meta_s_ready", verdict.is_some() && room)?;
        let output = self.metas.front().copied().filter(|(_, came)| there(*came));
        pins.expect("meta_m_valid", output.is_some())?;
        if let Some((meta, _)) = output {
            pins.expect("meta_m_data", meta)?;
        }
        if pins.fires("meta_m") {
            self.metas.pop_front();
            self.under_way -= 1;
        }
        if let Some((admitted, _)) = verdict.filter(|_| pins.fires("meta_s")) {
            self.verdicts.pop_front();
            if admitted {
                self.metas.push_back((pins.value("meta_s_data"), self.cycle));
            }
        }
        Ok(())
    }
}

impl Reference for GateReference {
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        let limit = self.params.limit as u64;
        let places = self.cycle > 0 && self.under_way < self.params.packets;
        let room = places && !self.queue.almost_full(limit);
        let within = !self.frame.is_empty();
        let stalls = self.params.stall && !within && !room;
        let full = self.verdicts.len() == VERDICTS;
        pins.expect("s_ready", self.cycle > 0 && !full && !stalls)?;
        let takes = pins.fires("s");
        pins.expect("dropped", takes && !within && !room)?;
        self.step_metas(pins)?;
        let entered = takes.then(|| self.accept(pins.value("s_data"), room)).flatten();
        if entered.is_some() && !self.queue.ready() {
            return Err("a beat enters the queue, which is full".to_owned());
        }
        let output = self.queue.output(entered);
        pins.expect("m_valid", output.is_some())?;
        if let Some(data) = output {
            pins.expect("m_data", data)?;
        }
        self.queue.step(entered, pins.high("m_ready"));
        self.cycle += 1;
        Ok(())
    }

    fn reset(&mut self) {
        *self = Self::new(self.params, Rc::clone(&self.log));
    }

    fn inside(&self) -> usize {
        self.queue.inside() + self.verdicts.len() + self.metas.len()
    }
}
