//! The driver of an HPU: task registers, doorbell, commands, and its part of the copy engine.
//!
//! It follows `hpu_driver.sv` of PsPIN; comments name the modules that a detail is taken from.

use crate::event::{Ending, HpuId};
use crate::map::Memory;
use crate::rv::DecodeCache;
use crate::task::{CommandId, SCRATCHPAD_WORDS, SCRATCHPADS, TASK_WORDS, Task};
use crate::timing::{BEAT_BYTES, Timing};
use spinneret_regmap::pspin::{DRIVER_BASE, PROGRAM_BASE, PROGRAM_BYTES, dma, driver as register};
use std::collections::VecDeque;

/// Commands of an HPU that can be in flight.
pub const COMMANDS: usize = 4;
/// Ended tasks whose feedback can be pending: one in the feedback buffer, and one that waits for that buffer
/// (`task_frontend`, state `SendingFeedback`).
const ENDED: usize = 2;

/// HPUs of each of spinneret's own clusters.
const OWN_HPUS: usize = 8;

/// Words of a command.
pub(crate) const COMMAND_WORDS: usize = register::COMMAND_WORDS as usize;

/// A task on an HPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    /// The task.
    pub(crate) task: Task,
    /// Slot of the packet in L1.
    pub(crate) slot: usize,
    /// When it was assigned to the HPU.
    pub(crate) given: u64,
    /// When the HPU took it.
    pub(crate) since: Option<u64>,
    /// The cause that was written to the error register.
    pub(crate) failed: Option<u32>,
}

/// A task that has ended. Its feedback waits until none of its commands and copies is in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) running: Running,
    pub(crate) ending: Ending,
    /// When it ended.
    pub(crate) at: u64,
}

/// The registers of one HPU.
#[derive(Clone, Debug)]
pub(crate) struct Driver {
    /// Cluster and core.
    pub(crate) cluster: usize,
    pub(crate) core: usize,
    pub(crate) running: Option<Running>,
    words: [u32; TASK_WORDS],
    ended: VecDeque<Ended>,
    /// The HPU has asked for a task.
    asked: bool,
    /// Commands in flight.
    open: [bool; COMMANDS],
    /// The command number that the core reads, fixed at its first attempt.
    told: Option<usize>,
    tested: u32,
    info: u32,
    command: [u32; COMMAND_WORDS],
    /// Its part of the copy engine.
    pub(crate) dma: Dma,
    /// It has the defects of PsPIN's driver.
    is_strict: bool,
}

/// Memory of the cluster that a command reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandMemory {
    pub(crate) address: u32,
    pub(crate) bytes: u32,
    pub(crate) is_written: bool,
}

/// Outcome of a register read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Returns this value.
    Value(u32),
    /// Stalls.
    Wait,
    /// Starts this command, and returns the number that the core knows it by (`cmd_frontend`, `cmd_idx`).
    Issue(CommandId, u32),
    /// Ends the task.
    End,
    /// No such register.
    Nothing,
}

/// Outcome of a register write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    /// Done.
    Done,
    /// Stalls.
    Wait,
    /// Ends the task.
    End,
    /// No such register, or it is read-only.
    Nothing,
}

impl Driver {
    pub(crate) fn new(cluster: usize, core: usize, is_strict: bool) -> Self {
        Self {
            cluster,
            core,
            running: None,
            words: [0; TASK_WORDS],
            ended: VecDeque::new(),
            asked: false,
            open: [false; COMMANDS],
            told: None,
            tested: 0,
            info: 0,
            command: [0; COMMAND_WORDS],
            dma: Dma::default(),
            is_strict,
        }
    }

    /// The HPU that it belongs to.
    pub(crate) fn id(&self) -> HpuId {
        HpuId {
            cluster: self.cluster,
            core: self.core,
        }
    }

    /// Whether a task can be given.
    pub(crate) fn is_free(&self) -> bool {
        self.running.is_none() && self.ended.len() < ENDED
    }

    /// Fills in scratchpads of clusters that do not exist. PsPIN's driver reads beyond the end of its array there
    /// (`hpu_driver.sv`, `l1_scratchpad_addr[2]`), which is undefined; this is the result with Verilator.
    pub(crate) fn repeat_scratchpads(&mut self, clusters: usize) {
        for number in clusters..SCRATCHPADS {
            for first in [SCRATCHPAD_WORDS, SCRATCHPAD_WORDS + SCRATCHPADS] {
                self.words[first + number] = self.words[first + number % clusters];
            }
        }
    }

    /// Assigns a task whose packet is in L1.
    pub(crate) fn assign(&mut self, task: Task, slot: usize, packet_in_l1: u32, given: u64) {
        self.words = task.words(packet_in_l1);
        self.running = Some(Running {
            task,
            slot,
            given,
            since: None,
            failed: None,
        });
    }

    /// The words of the current task.
    pub(crate) fn task_bytes(&self) -> Vec<u8> {
        let words = self.running.iter().flat_map(|_| self.words);
        words.flat_map(u32::to_le_bytes).collect()
    }

    /// Whether a handler runs.
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some_and(|running| running.since.is_some())
    }

    /// Marks the task as begun. Returns whether this is the first time that the HPU reads it.
    pub(crate) fn begin(&mut self, now: u64) -> bool {
        match &mut self.running {
            Some(running) if running.since.is_none() => {
                running.since = Some(now);
                true
            }
            _ => false,
        }
    }

    /// Ends the task.
    pub(crate) fn end(&mut self, at: u64) {
        if let Some(running) = self.running.take() {
            let ending = running.failed.map_or(Ending::Done, Ending::Failed);
            self.ended.push_back(Ended { running, ending, at });
        }
    }

    /// Whether an ended task waits for its feedback.
    pub(crate) fn is_ending(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Whether the HPU has asked for a task since reset.
    pub(crate) fn has_asked(&self) -> bool {
        self.asked
    }

    /// Commands that are under way.
    pub(crate) fn open(&self) -> usize {
        self.open.iter().filter(|open| **open).count()
    }

    /// Completes a command.
    pub(crate) fn complete(&mut self, local: u8) {
        if let Some(open) = self.open.get_mut(usize::from(local)) {
            *open = false;
        }
    }

    /// Takes the oldest ended task once nothing is in flight.
    pub(crate) fn take_ended(&mut self) -> Option<Ended> {
        if self.open() > 0 || !self.dma.is_idle() {
            return None;
        }
        self.ended.pop_front()
    }

    /// The registers of the command.
    pub(crate) fn command(&self) -> (u32, &[u32; COMMAND_WORDS]) {
        (self.info, &self.command)
    }

    /// The memory that the command names, if any.
    pub(crate) fn command_memory(&self) -> Option<CommandMemory> {
        let words = &self.command;
        let (address, bytes, is_written) = match self.info >> 1 & 3 {
            0 => (words[2], words[3], words[4] & 1 == 0),
            // An address of more than 32 bits is outside of all memories.
            1 if words[3] != 0 => (u32::MAX, words[4], false),
            1 => (words[2], words[4], false),
            _ => return None,
        };
        Some(CommandMemory {
            address,
            bytes,
            is_written,
        })
    }

    pub(crate) fn read(&mut self, offset: u32) -> Read {
        let word = (offset / 4) as usize;
        self.asked |= offset == 0;
        match offset {
            _ if offset < register::TASK_END && self.running.is_none() => Read::Wait,
            _ if word < TASK_WORDS => Read::Value(self.words[word]),
            register::DOORBELL => Read::End,
            register::ERROR => Read::Value(0),
            register::PACKET_SUM if !self.is_strict => {
                Read::Value(self.running.map_or(0, |running| running.task.her.size_and_sum()))
            }
            register::ARGS..register::ARGS_END if !self.is_strict => Read::Value(self.argument(offset)),
            register::ISSUE => self.issue(),
            register::TEST => Read::Value(u32::from(!self.is_open(self.tested))),
            register::WAIT => Read::Value(self.open() as u32),
            register::INFO => Read::Value(self.info),
            register::COMMAND..register::COMMAND_END => {
                Read::Value(self.command[((offset - register::COMMAND) / 4) as usize])
            }
            _ => Read::Nothing,
        }
    }

    /// An argument of a handler.
    fn argument(&self, offset: u32) -> u32 {
        let HpuId { cluster, core } = self.id();
        let arguments = [
            (DRIVER_BASE + register::HANDLER_MEM) as usize,
            cluster * OWN_HPUS + core,
            cluster,
            core,
        ];
        arguments[(offset - register::ARGS) as usize / 4] as u32
    }

    /// Starts a command under the lowest free number. Stalls while no number is free, or while feedback of the previous task is
    /// pending, because the command would count as one of that task (`task_frontend`, `disable_commands_o`).
    ///
    /// PsPIN's `cmd_frontend` returns the number that was free at the first attempt (or the last number if none was), but
    /// uses the one that is free in the end.
    fn issue(&mut self) -> Read {
        let free = self.open.iter().position(|open| !open);
        let told = *self.told.get_or_insert(free.unwrap_or(COMMANDS - 1));
        let Some(number) = free.filter(|_| !self.is_ending()) else {
            return Read::Wait;
        };
        self.told = None;
        self.open[number] = true;
        let id = CommandId {
            cluster: self.cluster as u8,
            core: self.core as u8,
            local: number as u8,
        };
        Read::Issue(id, if self.is_strict { told } else { number } as u32)
    }

    pub(crate) fn write(&mut self, offset: u32, value: u32) -> Write {
        match offset {
            _ if offset < register::TASK_END && self.running.is_none() => Write::Wait,
            register::DOORBELL => Write::End,
            register::ERROR => {
                if let Some(running) = &mut self.running {
                    running.failed = Some(value);
                }
                Write::Done
            }
            register::WAIT if self.is_open(value) => Write::Wait,
            register::WAIT => Write::Done,
            register::TEST => {
                // PsPIN's driver uses the data of the read, which no program sets (assumption: 0).
                self.tested = if self.is_strict { 0 } else { value };
                Write::Done
            }
            register::INFO => {
                self.info = value;
                Write::Done
            }
            register::COMMAND..register::COMMAND_END => {
                self.command[((offset - register::COMMAND) / 4) as usize] = value;
                Write::Done
            }
            _ if self.is_strict && offset < register::TASK_END => Write::Done,
            _ => Write::Nothing,
        }
    }

    fn is_open(&self, id: u32) -> bool {
        self.open[id as usize % COMMANDS]
    }
}

/// A copy in flight.
#[derive(Clone, Copy, Debug)]
struct Copy {
    source: u32,
    destination: u32,
    bytes: u32,
    /// When it is done.
    at: u64,
}

/// One HPU's part of the copy engine, which copies between L1 and L2. Copies are done in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dma {
    source: u32,
    destination: u32,
    bytes: u32,
    started: u32,
    done: u32,
    copies: VecDeque<Copy>,
    /// Copies from or to addresses without memory; they have no effect.
    pub(crate) refused: u64,
}

impl Dma {
    /// Whether no copy is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.copies.is_empty()
    }

    /// When the next copy is done.
    pub(crate) fn next(&self) -> Option<u64> {
        self.copies.front().map(|copy| copy.at)
    }

    /// Performs the copies that are due.
    pub(crate) fn advance(&mut self, now: u64, memory: &mut Memory, decoded: &mut DecodeCache) {
        while let Some(copy) = self.copies.front().copied().filter(|copy| copy.at <= now) {
            self.copies.pop_front();
            self.done = self.done.wrapping_add(1);
            let there = memory.copy(copy.source, copy.destination, copy.bytes);
            self.refused += u64::from(!there);
            if copy.destination.wrapping_sub(PROGRAM_BASE) < PROGRAM_BYTES {
                decoded.invalidate(copy.destination, copy.bytes);
            }
        }
    }

    /// The copy that a read of this register would start, as {source, destination, bytes}.
    pub(crate) fn would_start(&self, offset: u32) -> Option<(u32, u32, u32)> {
        (offset == dma::START).then_some((self.source, self.destination, self.bytes))
    }

    /// Reads a register; `None` if it does not exist.
    pub(crate) fn read(
        &mut self,
        offset: u32,
        now: u64,
        timing: &Timing,
        memory: &mut Memory,
        decoded: &mut DecodeCache,
    ) -> Option<u32> {
        Some(match offset {
            dma::SOURCE => self.source,
            dma::DESTINATION => self.destination,
            dma::BYTES => self.bytes,
            dma::START => {
                let begins = self.copies.back().map_or(now, |copy| copy.at.max(now));
                self.copies.push_back(Copy {
                    source: self.source,
                    destination: self.destination,
                    bytes: self.bytes,
                    at: begins + timing.copy + u64::from(self.bytes.div_ceil(BEAT_BYTES)),
                });
                self.started = self.started.wrapping_add(1);
                self.started
            }
            dma::DONE => {
                self.advance(now, memory, decoded);
                self.done
            }
            _ => return None,
        })
    }

    /// Writes a register; `None` if it cannot be written.
    pub(crate) fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        match offset {
            dma::SOURCE => self.source = value,
            dma::DESTINATION => self.destination = value,
            dma::BYTES => self.bytes = value,
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Her, Meta, Stage};

    fn task() -> Task {
        Task {
            packet: 0,
            queue: 0,
            her: Her::default(),
            meta: Meta::default(),
            stage: Stage::Payload,
            frees: true,
            home: 0,
        }
    }

    fn with_task(is_strict: bool) -> Driver {
        let mut driver = Driver::new(0, 0, is_strict);
        driver.assign(task(), 0, 0x1000_4400, 0);
        driver
    }

    /// The number of the command that left, and the one that the core was told.
    fn issue(driver: &mut Driver) -> Option<[u32; 2]> {
        match driver.read(register::ISSUE) {
            Read::Issue(id, told) => Some([u32::from(id.local), told]),
            Read::Wait => None,
            other => panic!("an issue is answered with {other:?}"),
        }
    }

    /// The fifth command leaves when another one is done, under that one's number.
    fn fifth(is_strict: bool) -> [u32; 2] {
        let mut driver = with_task(is_strict);
        for number in 0..COMMANDS as u32 {
            assert_eq!(issue(&mut driver), Some([number; 2]));
        }
        assert_eq!(issue(&mut driver), None);
        driver.complete(1);
        issue(&mut driver).expect("one is free")
    }

    #[test]
    fn fifth_command_returns_its_number_unless_strict() {
        assert_eq!(fifth(false), [1, 1]);
        assert_eq!(fifth(true), [1, 3]);
    }

    /// A command is issued while those of the task before are under way.
    fn behind_feedback(is_strict: bool) -> [u32; 2] {
        let mut driver = with_task(is_strict);
        assert_eq!(issue(&mut driver), Some([0; 2]));
        assert_eq!(issue(&mut driver), Some([1; 2]));
        driver.end(10);
        driver.assign(task(), 1, 0x1000_4800, 10);
        assert_eq!(issue(&mut driver), None);
        driver.complete(0);
        driver.complete(1);
        assert!(driver.take_ended().is_some());
        issue(&mut driver).expect("the feedback is away")
    }

    #[test]
    fn command_after_feedback_returns_its_number_unless_strict() {
        assert_eq!(behind_feedback(false), [0, 0]);
        assert_eq!(behind_feedback(true), [0, 2]);
    }

    #[test]
    fn size_and_sum_of_the_packet_are_a_register_unless_strict() {
        for (is_strict, wanted) in [(false, Read::Value(0x1_ffff << 15 | 1514)), (true, Read::Nothing)] {
            let mut task = task();
            (task.her.size, task.her.sum) = (1514, 0x1_ffff);
            let mut driver = Driver::new(0, 0, is_strict);
            driver.assign(task, 0, 0x1000_4400, 0);
            assert_eq!(driver.read(register::PACKET_SUM), wanted);
        }
    }

    #[test]
    fn test_register_uses_the_command_number_unless_strict() {
        for (is_strict, wanted) in [(false, 1), (true, 0)] {
            let mut driver = with_task(is_strict);
            issue(&mut driver);
            issue(&mut driver);
            driver.complete(1);
            assert_eq!(driver.write(register::TEST, 1), Write::Done);
            assert_eq!(driver.read(register::TEST), Read::Value(wanted));
        }
    }
}
