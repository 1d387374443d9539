//! Events, traces and profiles of the cluster.

use crate::rv::Trap;
use crate::task::{CommandId, Stage};
use spinneret_regmap::MAX_FRAME;
use spinneret_regmap::pspin::{PROGRAM_BASE, PROGRAM_BYTES, driver};
use std::fmt;
use std::hash::{DefaultHasher, Hasher as _};

/// An HPU: cluster, and core within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HpuId {
    /// Cluster.
    pub cluster: usize,
    /// Core within it.
    pub core: usize,
}

/// How a handler ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It returned.
    Done,
    /// It failed with this cause.
    Failed(u32),
}

/// How a handler ended, in a word.
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::Failed(cause) => write!(f, "failed with cause {cause}"),
        }
    }
}

/// A handler that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of its packet, in the order of HERs.
    pub packet: u64,
    /// Message of the packet.
    pub message: u32,
    /// Bytes of the packet.
    pub size: u32,
    /// Which handler.
    pub stage: Stage,
    /// Its first instruction.
    pub handler: u32,
    /// Where it ran.
    pub hpu: HpuId,
    /// Clock in which the HPU took it.
    pub begun: u64,
    /// Clock in which it returned or failed.
    pub ended: u64,
    /// How.
    pub ending: Ending,
}

/// A trap in a handler, or a refused command of a handler or of a program that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Number of the packet, in the order of HERs. `None` outside of handlers; then message, stage and handler have no meaning.
    pub packet: Option<u64>,
    /// Message of the packet.
    pub message: u32,
    /// Which handler.
    pub stage: Stage,
    /// Its first instruction.
    pub handler: u32,
    /// Where it ran.
    pub hpu: HpuId,
    /// Why.
    pub trap: Trap,
    /// The instruction.
    pub pc: u32,
    /// The address or the bits that the trap is about.
    pub value: u32,
    /// Set if `value` is an address that a command or a copy names, not one that the instruction accesses.
    pub named: Option<Named>,
}

/// How a command or a copy would access an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// Read it.
    Read,
    /// Write it.
    Written,
}

/// Path of bytes that a command moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataPath {
    /// To the host.
    HostWritten,
    /// From the host.
    HostRead,
    /// To a link.
    Sent,
}

impl DataPath {
    /// Returns the path of a command and its bytes, by its kind (`INFO` of the driver) and its words. `None` if it moves none.
    pub fn of_command(info: u32, words: &[u32; driver::COMMAND_WORDS as usize]) -> Option<(Self, u32)> {
        match info >> 1 & 3 {
            0 if words[4] & 1 == 1 => Some((Self::HostWritten, words[3])),
            0 => Some((Self::HostRead, words[3])),
            1 if (1..=MAX_FRAME).contains(&words[4]) => Some((Self::Sent, words[4])),
            2 if words[2] & 1 == 1 => Some((Self::HostWritten, words[2] >> 1 & 0x1ff)),
            _ => None,
        }
    }
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A HER arrived.
    Arrived {
        /// When.
        clock: u64,
        /// Number of the packet.
        packet: u64,
        /// Its message.
        message: u32,
        /// Its bytes.
        size: u32,
        /// [`digest`] of them.
        digest: u64,
        /// The handler after which those of its context are named.
        handler: Option<u32>,
    },
    /// A handler ended.
    Finished(Run),
    /// A trap ended a handler; [`Event::Finished`] follows.
    Failed(Fault),
    /// A command was refused; the handler continues.
    Refused(Fault),
    /// A handler has started a command that moves bytes.
    Moved {
        /// Message of the handler's packet.
        message: u32,
        /// Where they go.
        path: DataPath,
        /// How many.
        bytes: u32,
    },
    /// A packet is complete, and its slot is free.
    Freed {
        /// When.
        clock: u64,
        /// Number of the packet.
        packet: u64,
    },
    /// An HPU trapped outside of handlers and stopped.
    Halted {
        /// Which.
        hpu: HpuId,
        /// Why.
        trap: Trap,
        /// The instruction.
        pc: u32,
    },
}

/// Returns a hash of a packet, which relates packets in the cluster to packets on the wire.
pub fn digest(packet: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(packet);
    hasher.finish()
}

/// An entry of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// The clock.
    pub clock: u64,
    /// What.
    pub what: TraceEvent,
}

/// A transfer between an HPU and its driver, or through a port of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// A packet arrived.
    Her {
        /// Message.
        message: u32,
        /// It ends the message.
        is_last: bool,
        /// Address of the packet in L2.
        address: u32,
        /// Bytes of the packet.
        size: u32,
    },
    /// A packet was released.
    Feedback {
        /// Queue of the message.
        queue: u32,
        /// Where the packet lay in L2.
        address: u32,
    },
    /// An HPU read a register of its driver.
    Read {
        /// Who.
        hpu: HpuId,
        /// Which register.
        offset: u32,
        /// The value.
        value: u32,
    },
    /// An HPU wrote a register of its driver.
    Written {
        /// Who.
        hpu: HpuId,
        /// Which register.
        offset: u32,
        /// The value.
        value: u32,
    },
    /// A send command left.
    Send {
        /// Which.
        id: CommandId,
        /// Where the frame lies.
        source: u64,
        /// Its bytes.
        length: u32,
    },
    /// A command is done.
    Done {
        /// Which.
        id: CommandId,
    },
}

/// Instructions begin at even addresses.
const PARCEL_BYTES: u32 = 2;

/// Clocks and counts of every instruction of program memory, since [`Cluster::enable_profile`].
///
/// An instruction's clocks are its own, as in [`Timing`](crate::Timing). Stalls of a handler's instruction, for a command, for
/// room or for a copy, are counted separately. HPUs that wait for work count nothing.
///
/// [`Cluster::enable_profile`]: crate::Cluster::enable_profile
#[derive(Clone, Debug)]
pub struct Profile {
    places: Vec<Spent>,
    /// The instruction in which each HPU stalls, and since when.
    waits: Vec<Option<(u32, u64)>>,
}

/// Counts of one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Number of executions, including those that trapped.
    pub times: u64,
    /// Clocks of these executions.
    pub clocks: u64,
    /// Clocks in which handlers stalled in it.
    pub waited: u64,
}

impl Profile {
    /// No counts, of that many HPUs.
    pub fn new(hpus: usize) -> Self {
        Self {
            places: vec![Spent::default(); (PROGRAM_BYTES / PARCEL_BYTES) as usize],
            waits: vec![None; hpus],
        }
    }

    /// Returns the executed instructions by address.
    pub fn spent(&self) -> impl Iterator<Item = (u32, Spent)> + '_ {
        let addresses = (PROGRAM_BASE..).step_by(PARCEL_BYTES as usize);
        let places = addresses.zip(self.places.iter().copied());
        places.filter(|(_, spent)| *spent != Spent::default())
    }

    /// Forgets stalls in progress, after a reset.
    pub fn forget_waits(&mut self) {
        self.waits.fill(None);
    }

    /// Counts one step of an HPU at `pc` in clock `now`; its next step is in clock `next`.
    pub fn note(&mut self, hpu: usize, pc: u32, [now, next]: [u64; 2], in_handler: bool, waits: bool) {
        if waits {
            if in_handler && self.waits[hpu].is_none() {
                self.waits[hpu] = Some((pc, now));
            }
            return;
        }
        if let Some((place, since)) = self.waits[hpu].take()
            && let Some(spent) = self.place(place)
        {
            spent.waited += now - since;
        }
        if let Some(spent) = self.place(pc) {
            spent.times += 1;
            spent.clocks += next - now;
        }
    }

    /// A jump may have led anywhere.
    fn place(&mut self, pc: u32) -> Option<&mut Spent> {
        let number = pc.wrapping_sub(PROGRAM_BASE) / PARCEL_BYTES;
        self.places.get_mut(number as usize)
    }
}
