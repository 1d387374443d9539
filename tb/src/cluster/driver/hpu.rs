//! An HPU of the bench: its accesses, and the registers that it sees.

use super::{CLUSTER, HPUS};
use spinneret_hdl::hpu::SCRATCHPAD_RANGE;
use spinneret_regmap::pspin::{DRIVER_BASE, L1_ALIKE, dma, driver as register};
use std::collections::VecDeque;

/// Words of a task on its way.
pub type Words = [u32; 22];

/// An access of an HPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// It is one of the copy engine.
    pub is_dma: bool,
    /// Offset of the register.
    pub offset: u32,
    /// The word to store; a load has none.
    pub store: Option<u32>,
    /// It is made in user mode.
    pub is_user: bool,
}

impl Access {
    /// A load in machine mode.
    pub fn load(offset: u32) -> Self {
        Self {
            is_dma: false,
            offset,
            store: None,
            is_user: false,
        }
    }

    /// A store in machine mode.
    pub fn store(offset: u32, word: u32) -> Self {
        Self {
            store: Some(word),
            ..Self::load(offset)
        }
    }

    /// The same of the copy engine.
    #[must_use]
    pub fn of_dma(self) -> Self {
        Self { is_dma: true, ..self }
    }

    /// The same in user mode.
    #[must_use]
    pub fn by_user(self) -> Self {
        Self {
            is_user: true,
            ..self
        }
    }

    pub(super) fn is(&self, is_dma: bool, offset: u32) -> bool {
        self.is_dma == is_dma && self.offset == offset
    }

    /// It starts a command or copy.
    pub(super) fn starts(&self) -> bool {
        self.store.is_none() && (self.is(false, register::ISSUE) || self.is(true, dma::START))
    }

    /// The register exists for such an access.
    fn exists(&self) -> bool {
        let is_load = self.store.is_none();
        match (self.is_dma, self.offset) {
            (true, dma::SOURCE | dma::DESTINATION | dma::BYTES) => true,
            (true, dma::START | dma::DONE) => is_load,
            (true, _) => false,
            (false, register::DOORBELL | register::ERROR | register::WAIT | register::TEST) => true,
            (false, register::INFO..register::COMMAND_END) => true,
            (false, register::ISSUE | register::PACKET_SUM | ..register::DOORBELL) => is_load,
            (false, register::ARGS..register::ARGS_END) => is_load,
            (false, _) => false,
        }
    }
}

/// How an offer of an HPU went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It took place; the word of a load.
    Word(u32),
    /// It was refused.
    Refused,
    /// The HPU was stopped instead.
    Stopped,
}

/// A task in the driver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) words: Words,
    pub(super) slot: usize,
    pub(super) failed: bool,
}

/// A copy: source, destination, bytes.
pub(super) type Bytes = [u32; 3];

/// State of an HPU.
#[derive(Clone, Debug, Default)]
pub struct Hpu {
    /// Its offer until that is done.
    pub offer: Option<Access>,
    /// It is in user mode, and so can be stopped.
    pub is_user: bool,
    /// How the last offer went.
    pub done: Option<Done>,
    pub(super) tries: u32,
    /// An access that took place, the clock in which its word is there, and the word.
    pub(super) answer: Option<(u64, Access, u32)>,
    /// The queue of its last task.
    pub(super) queue: Option<u64>,
    pub(super) asks: bool,
    pub(super) task: Option<Task>,
    pub(super) given: u64,
    pub(super) was_stopped: bool,
    pub(super) ended: Option<Task>,
    pub(super) open: [bool; 4],
    pub(super) started: u32,
    pub(super) copied: u32,
    pub(super) copies: VecDeque<Bytes>,
    pub(super) tested: u32,
    pub(super) registers: [u32; 8],
    pub(super) copy: [u32; 3],
    pub(super) ranges: [[u32; 2]; 7],
}

impl Hpu {
    /// It holds a task.
    pub fn has_task(&self) -> bool {
        self.task.is_some()
    }

    /// It waits for its last offer, or for the word of it.
    pub fn is_busy(&self) -> bool {
        self.offer.is_some() || self.answer.is_some()
    }

    /// Its tasks are done.
    pub fn is_done(&self) -> bool {
        self.task.is_none() && self.ended.is_none()
    }

    /// Words of its task.
    pub fn words(&self) -> Words {
        self.task.expect("it has a task").words
    }

    /// Commands and copies under way.
    pub fn open(&self) -> usize {
        self.open.iter().filter(|open| **open).count() + (self.started - self.copied) as usize
    }

    /// Copies that it has started.
    pub fn started(&self) -> u32 {
        self.started
    }

    /// Ranges of its task: first address and end.
    pub fn ranges(&self) -> [[u32; 2]; 7] {
        self.ranges.map(|range| range.map(|grain| grain << 6))
    }

    fn is_inside(&self, address: u32, bytes: u32) -> bool {
        let end = u64::from(address) + u64::from(bytes);
        let contains = |(number, range): (usize, [u32; 2])| {
            let alike = if number < SCRATCHPAD_RANGE { 0 } else { L1_ALIKE };
            let is_in_one = (address ^ end as u32) & alike == 0;
            range[0] <= address & !alike && end & !u64::from(alike) <= u64::from(range[1]) && is_in_one
        };
        bytes == 0 || self.ranges().into_iter().enumerate().any(contains)
    }

    /// Its start would be inside of its ranges.
    pub(super) fn may_start(&self, access: &Access) -> bool {
        let [kind, _, _, w2, w3, w4, ..] = self.registers;
        let [source, destination, bytes] = self.copy;
        match kind >> 1 & 3 {
            _ if access.is_dma => self.is_inside(source, bytes) && self.is_inside(destination, bytes),
            0 => self.is_inside(w2, w3),
            1 => w4 == 0 || w3 == 0 && self.is_inside(w2, w4),
            _ => true,
        }
    }

    fn is_low(&self, access: &Access) -> bool {
        !access.is_dma && access.offset < register::TASK_END
    }

    pub(super) fn is_refused(&self, access: &Access) -> bool {
        let is_end = access.is(false, register::DOORBELL) || access.is(false, register::ERROR);
        let waits = self.is_low(access) && self.task.is_none();
        access.is_user && is_end || !access.exists() && !waits
    }

    /// It has to wait; a start may wait for others as well.
    pub(super) fn waits(&self, access: &Access) -> bool {
        let is_full = match access.is_dma {
            true => self.started - self.copied == 15,
            false => self.open.iter().all(|open| *open),
        };
        let is_wait = access.is(false, register::WAIT);
        let blocks = access
            .store
            .is_some_and(|number| is_wait && self.open[number as usize % 4]);
        self.is_low(access) && self.task.is_none()
            || access.starts() && (is_full || self.ended.is_some())
            || blocks
    }

    /// An access of this HPU that takes place; returns the word of a load.
    pub(super) fn access(&mut self, access: &Access, number: usize) -> u32 {
        let (is_dma, offset) = (access.is_dma, access.offset);
        let place = |base: u32| (offset.wrapping_sub(base) / 4) as usize;
        if access.is(false, register::DOORBELL) {
            self.ended = self.task.take();
            self.asks = true;
            return 0;
        }
        if let Some(word) = access.store {
            match (is_dma, offset) {
                (true, _) => self.copy[offset as usize / 8] = word,
                (_, register::ERROR) => self.task.as_mut().expect("it has a task").failed = true,
                (_, register::TEST) => self.tested = word % 4,
                (_, register::INFO..) => self.registers[place(register::INFO)] = word,
                _ => {}
            }
            return 0;
        }
        match (is_dma, offset) {
            (true, dma::START) => {
                self.started += 1;
                self.copies.push_back(self.copy);
                self.started
            }
            (true, dma::DONE) => self.copied,
            (true, _) => self.copy[offset as usize / 8],
            (_, register::PACKET_SUM) => self.words()[20],
            (_, register::ARGS..register::ARGS_END) => {
                let (all, memory) = (
                    (CLUSTER * HPUS + number) as u32,
                    DRIVER_BASE + register::HANDLER_MEM,
                );
                [memory, all, CLUSTER as u32, number as u32][place(register::ARGS)]
            }
            (_, ..register::DOORBELL) => self.words()[place(0)],
            (_, register::WAIT) => self.open.iter().filter(|open| **open).count() as u32,
            (_, register::TEST) => u32::from(!self.open[self.tested as usize]),
            (_, register::INFO..) => self.registers[place(register::INFO)],
            _ => 0,
        }
    }
}
