//! What an HPU has to itself: its task, its doorbell and its commands.
//!
//! It follows the public design's `hpu_driver.sv`, of which the modules are named where something rests on them.

use crate::event::{Ending, HpuId};
use crate::map::Memory;
use crate::rv::DecodeCache;
use crate::task::{CommandId, SCRATCHPAD_WORDS, SCRATCHPADS, TASK_WORDS, Task};
use crate::timing::{BEAT_BYTES, Timing};
use spinneret_regmap::pspin::{PROGRAM_BASE, PROGRAM_BYTES, dma, driver as register};
use std::collections::VecDeque;

/// Commands of an HPU that may be under way.
pub const COMMANDS: usize = 4;
/// Tasks that have ended and are not reported, before the HPU takes no more: one in the buffer for feedback, and one that
/// waits for that buffer (`task_frontend`, state `SendingFeedback`).
const ENDED: usize = 2;

/// Words of a command.
pub(crate) const COMMAND_WORDS: usize = register::COMMAND_WORDS as usize;

/// A task on an HPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    /// What runs.
    pub(crate) task: Task,
    /// Place of the packet in L1.
    pub(crate) slot: usize,
    /// When it was given to the HPU.
    pub(crate) given: u64,
    /// When the HPU took it; nothing before.
    pub(crate) since: Option<u64>,
    /// The cause that was written to the error register.
    pub(crate) failed: Option<u32>,
}

/// A task that has ended, and is not reported while anything of it is under way.
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
    /// It was asked for a task.
    asked: bool,
    /// Commands that are under way.
    open: [bool; COMMANDS],
    /// The number that the core is told of the command that it starts, from its first try on.
    told: Option<usize>,
    tested: u32,
    info: u32,
    command: [u32; COMMAND_WORDS],
    /// Its part of the copy engine.
    pub(crate) dma: Dma,
    /// It has the public driver's defects.
    is_strict: bool,
}

/// Memory of the cluster that a command reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandMemory {
    pub(crate) address: u32,
    pub(crate) bytes: u32,
    pub(crate) is_written: bool,
}

/// What a read of a register does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// It gives this.
    Value(u32),
    /// Nothing yet.
    Wait,
    /// It starts this command, and gives the number that the core knows it by (`cmd_frontend`, `cmd_idx`).
    Issue(CommandId, u32),
    /// It gives this, and the task has ended.
    End,
    /// There is no such register.
    Nothing,
}

/// What a write of a register does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    /// It is done.
    Done,
    /// Not yet.
    Wait,
    /// The task has ended.
    End,
    /// There is no such register, or it cannot be written.
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

    /// Whose it is.
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

    /// Shows scratchpads of clusters that there are not as those of others: the public driver reads beyond the end of its
    /// array there (`hpu_driver.sv`, `l1_scratchpad_addr[2]`), which is anything; this is what Verilator makes of it.
    pub(crate) fn repeat_scratchpads(&mut self, clusters: usize) {
        for number in clusters..SCRATCHPADS {
            for first in [SCRATCHPAD_WORDS, SCRATCHPAD_WORDS + SCRATCHPADS] {
                self.words[first + number] = self.words[first + number % clusters];
            }
        }
    }

    /// Gives it a task, whose packet lies in L1.
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

    /// The words of the task, while there is one.
    pub(crate) fn task_bytes(&self) -> Vec<u8> {
        let words = self.running.iter().flat_map(|_| self.words);
        words.flat_map(u32::to_le_bytes).collect()
    }

    /// Whether a handler runs.
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some_and(|running| running.since.is_some())
    }

    /// The HPU asks for its task for the first time: whether it does so now.
    pub(crate) fn begin(&mut self, now: u64) -> bool {
        match &mut self.running {
            Some(running) if running.since.is_none() => {
                running.since = Some(now);
                true
            }
            _ => false,
        }
    }

    /// The task ends.
    pub(crate) fn end(&mut self, at: u64) {
        if let Some(running) = self.running.take() {
            let ending = running.failed.map_or(Ending::Done, Ending::Failed);
            self.ended.push_back(Ended { running, ending, at });
        }
    }

    /// Whether a task has ended and is not reported.
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

    /// A command is done.
    pub(crate) fn complete(&mut self, local: u8) {
        if let Some(open) = self.open.get_mut(usize::from(local)) {
            *open = false;
        }
    }

    /// The task that ended first, once nothing is under way.
    pub(crate) fn take_ended(&mut self) -> Option<Ended> {
        if self.open() > 0 || !self.dma.is_idle() {
            return None;
        }
        self.ended.pop_front()
    }

    /// The registers of the command that is started.
    pub(crate) fn command(&self) -> (u32, &[u32; COMMAND_WORDS]) {
        (self.info, &self.command)
    }

    /// The memory that it names, if it names any.
    pub(crate) fn command_memory(&self) -> Option<CommandMemory> {
        let words = &self.command;
        let (address, bytes, is_written) = match self.info >> 1 & 3 {
            0 => (words[2], words[3], words[4] & 1 == 0),
            // An address of more than 32 bits is beyond everything.
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

    /// Starts a command under the lowest number that is free, once there is one and the task before is reported: commands
    /// would be taken for those of that task (`task_frontend`, `disable_commands_o`).
    ///
    /// The public `cmd_frontend` tells the number that it saw free when it was asked first, or the last one if none was,
    /// and gives the command the one that is free in the end.
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
                // The public one looks at the data of the read, which no program sets: 0 for all it knows (assumption).
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

/// A copy that is under way.
#[derive(Clone, Copy, Debug)]
struct Copy {
    source: u32,
    destination: u32,
    bytes: u32,
    /// When it is done.
    at: u64,
}

/// One HPU's part of the copy engine: copies are done one after another, in the order of their start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dma {
    source: u32,
    destination: u32,
    bytes: u32,
    started: u32,
    done: u32,
    copies: VecDeque<Copy>,
    /// Copies to or from where no memory is; they do nothing.
    pub(crate) refused: u64,
}

impl Dma {
    /// Whether nothing is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.copies.is_empty()
    }

    /// When the next copy is done.
    pub(crate) fn next(&self) -> Option<u64> {
        self.copies.front().map(|copy| copy.at)
    }

    /// Does the copies whose time has come.
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

    /// A read of a register; nothing if there is none.
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

    /// A write of a register; nothing if it cannot be written.
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
    fn the_fifth_command_is_told_its_number_but_for_the_public_driver() {
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
    fn a_command_behind_feedback_is_told_its_number_but_for_the_public_driver() {
        assert_eq!(behind_feedback(false), [0, 0]);
        assert_eq!(behind_feedback(true), [0, 2]);
    }

    #[test]
    fn a_command_is_asked_for_by_its_number_but_for_the_public_driver() {
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
