//! What an HPU has to itself: its task, its doorbell and its commands.

use crate::dma::Dma;
use crate::task::{CommandId, TASK_WORDS, Task};

/// Commands of an HPU that may be under way.
pub const COMMANDS: usize = 4;

/// Offsets of the registers; the task's words are at 0.
pub(crate) mod register {
    /// A read waits for a task, a write says that it is done.
    pub(crate) const DOORBELL: u32 = 0x50;
    /// A write says that the task has failed, with the cause.
    pub(crate) const ERROR: u32 = 0x54;
    /// A read starts the command and gives its number.
    pub(crate) const ISSUE: u32 = 0x80;
    /// A write of a number waits for that command.
    pub(crate) const WAIT: u32 = 0x84;
    /// A write of a number chooses the command that a read tells about: 1 if it is done.
    pub(crate) const TEST: u32 = 0x88;
    /// Kind of the command: event in bit 0, type in bits 2 and 1.
    pub(crate) const INFO: u32 = 0x8c;
    /// The words of the command, up to the register before `COMMAND_END`.
    pub(crate) const COMMAND: u32 = 0x90;
    /// Behind the last word of the command.
    pub(crate) const COMMAND_END: u32 = 0xac;
}

/// Words of a command.
pub(crate) const COMMAND_WORDS: usize = ((register::COMMAND_END - register::COMMAND) / 4) as usize;

/// A task on an HPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    /// What runs.
    pub(crate) task: Task,
    /// Place of the packet in L1.
    pub(crate) slot: usize,
    /// When the HPU took it; nothing before.
    pub(crate) since: Option<u64>,
}

/// How a handler ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It returned.
    Done,
    /// It trapped, with this cause.
    Failed(u32),
}

/// The registers of one HPU.
#[derive(Clone, Debug)]
pub(crate) struct Driver {
    /// Cluster and core.
    pub(crate) cluster: usize,
    pub(crate) core: usize,
    pub(crate) running: Option<Running>,
    words: [u32; TASK_WORDS],
    /// The handler has ended; its commands may still be under way.
    pub(crate) ended: Option<(Ending, u64)>,
    /// Commands that are under way.
    open: [bool; COMMANDS],
    /// Where the search for a free number begins.
    next: usize,
    tested: u32,
    info: u32,
    command: [u32; COMMAND_WORDS],
    /// Its part of the copy engine.
    pub(crate) dma: Dma,
}

/// What a read of a register does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// It gives this.
    Value(u32),
    /// Nothing yet.
    Wait,
    /// It starts a command, under that number.
    Issue(CommandId),
    /// The HPU has its task now.
    Begin,
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
    End(Ending),
    /// There is no such register, or it cannot be written.
    Nothing,
}

impl Driver {
    pub(crate) fn new(cluster: usize, core: usize) -> Self {
        Self {
            cluster,
            core,
            running: None,
            words: [0; TASK_WORDS],
            ended: None,
            open: [false; COMMANDS],
            next: 0,
            tested: 0,
            info: 0,
            command: [0; COMMAND_WORDS],
            dma: Dma::default(),
        }
    }

    /// Whether a task can be given.
    pub(crate) fn is_free(&self) -> bool {
        self.running.is_none()
    }

    /// Gives it a task, whose packet lies in L1.
    pub(crate) fn assign(&mut self, task: Task, slot: usize, packet_in_l1: u32) {
        self.words = task.words(packet_in_l1);
        self.running = Some(Running {
            task,
            slot,
            since: None,
        });
    }

    /// Whether a handler runs.
    pub(crate) fn is_running(&self) -> bool {
        self.ended.is_none() && self.running.is_some_and(|running| running.since.is_some())
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

    /// The task, if its handler has ended and nothing of it is under way; the HPU is free then.
    pub(crate) fn take_ended(&mut self) -> Option<(Running, Ending, u64)> {
        if self.open() > 0 || !self.dma.is_idle() {
            return None;
        }
        let (ending, clock) = self.ended.take()?;
        Some((self.running.take()?, ending, clock))
    }

    /// The registers of the command that is started.
    pub(crate) fn command(&self) -> (u32, &[u32; COMMAND_WORDS]) {
        (self.info, &self.command)
    }

    pub(crate) fn read(&mut self, offset: u32) -> Read {
        let word = (offset / 4) as usize;
        match offset {
            _ if word < TASK_WORDS => Read::Value(self.words[word]),
            // A task whose handler has ended is not to be begun again.
            register::DOORBELL if self.ended.is_some() => Read::Wait,
            register::DOORBELL => match self.running {
                Some(Running { since: None, .. }) => Read::Begin,
                Some(_) => Read::Value(1),
                None => Read::Wait,
            },
            register::ERROR => Read::Value(0),
            register::ISSUE => {
                let free = (0..COMMANDS)
                    .map(|step| (self.next + step) % COMMANDS)
                    .find(|number| !self.open[*number]);
                let Some(number) = free else { return Read::Wait };
                self.open[number] = true;
                self.next = (number + 1) % COMMANDS;
                Read::Issue(CommandId {
                    cluster: self.cluster as u8,
                    core: self.core as u8,
                    local: number as u8,
                })
            }
            register::TEST => Read::Value(u32::from(!self.is_open(self.tested))),
            register::WAIT => Read::Value(self.open() as u32),
            register::INFO => Read::Value(self.info),
            register::COMMAND..register::COMMAND_END => {
                Read::Value(self.command[((offset - register::COMMAND) / 4) as usize])
            }
            _ => Read::Nothing,
        }
    }

    pub(crate) fn write(&mut self, offset: u32, value: u32) -> Write {
        match offset {
            register::DOORBELL => Write::End(Ending::Done),
            register::ERROR => Write::End(Ending::Failed(value)),
            register::WAIT if self.is_open(value) => Write::Wait,
            register::WAIT => Write::Done,
            register::TEST => {
                self.tested = value;
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
            _ => Write::Nothing,
        }
    }

    fn is_open(&self, id: u32) -> bool {
        self.open[id as usize % COMMANDS]
    }
}
