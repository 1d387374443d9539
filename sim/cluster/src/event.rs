//! What happens in the cluster, for who keeps account.

use crate::hpu::Outcome;
use crate::rv::Trap;
use crate::task::{CommandId, Stage};
use spinneret_regmap::pspin::{PROGRAM_BASE, PROGRAM_BYTES};
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
    /// It trapped, with this cause.
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
    /// Number of its packet, counted as HERs come.
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

/// A trap in a handler, or something that was refused to one or to a program that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Number of the packet, counted as HERs come; none outside of handlers, where message, stage and handler say nothing.
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
    /// The address is one that a command or a copy names, not one that the instruction accesses.
    pub named: Option<Named>,
}

/// What a command or a copy was to do with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// Read it.
    Read,
    /// Write it.
    Written,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A HER came.
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
    /// A handler has ended.
    Finished(Run),
    /// A handler was ended by a trap; it follows as [`Event::Finished`], too.
    Failed(Fault),
    /// A command was not done; who asked for it goes on.
    Refused(Fault),
    /// A packet is done with.
    Freed {
        /// When.
        clock: u64,
        /// Number of the packet.
        packet: u64,
    },
    /// An HPU has trapped outside of any handler, and the program has ended it.
    Halted {
        /// Which.
        hpu: HpuId,
        /// Why.
        trap: Trap,
        /// The instruction.
        pc: u32,
    },
}

/// A number by which packets are told apart, for who wants to know which packet from the wire became which one in the
/// cluster.
pub fn digest(packet: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(packet);
    hasher.finish()
}

/// Something that passed, and in which clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// The clock.
    pub clock: u64,
    /// What.
    pub what: TraceEvent,
}

/// What passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// A packet came in.
    Her {
        /// Message.
        message: u32,
        /// It ends the message.
        is_last: bool,
        /// Where the packet lies in L2.
        address: u32,
        /// Bytes of the packet.
        size: u32,
    },
    /// A packet was given back.
    Feedback {
        /// Queue of the message.
        queue: u32,
        /// Where the packet lay in L2.
        address: u32,
    },
    /// An HPU has read a register of its driver.
    Read {
        /// Who.
        hpu: HpuId,
        /// Which register.
        offset: u32,
        /// What it gave.
        value: u32,
    },
    /// An HPU has written a register of its driver.
    Written {
        /// Who.
        hpu: HpuId,
        /// Which register.
        offset: u32,
        /// With what.
        value: u32,
    },
    /// A command to send has left.
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

/// Compressed instructions lie at every second byte.
const PARCEL_BYTES: u32 = 2;

/// Clocks and counts of every instruction of program memory, since [`Cluster::enable_profile`].
///
/// An instruction's clocks are those it takes by itself, as [`Timing`](crate::Timing) has them. A handler's instruction that
/// has to wait, for a command, for room or for a copy, has its waiting counted apart. HPUs that wait for work count nothing.
///
/// [`Cluster::enable_profile`]: crate::Cluster::enable_profile
#[derive(Clone, Debug)]
pub struct Profile {
    places: Vec<Spent>,
    /// The instruction in which each HPU waits, and since when.
    waits: Vec<Option<(u32, u64)>>,
}

/// What was spent on one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// How often it was executed, traps included.
    pub times: u64,
    /// Clocks that this took.
    pub clocks: u64,
    /// Clocks that handlers waited in it.
    pub waited: u64,
}

impl Profile {
    pub(crate) fn new(hpus: usize) -> Self {
        Self {
            places: vec![Spent::default(); (PROGRAM_BYTES / PARCEL_BYTES) as usize],
            waits: vec![None; hpus],
        }
    }

    /// Instructions that were executed, by address.
    pub fn spent(&self) -> impl Iterator<Item = (u32, Spent)> + '_ {
        let addresses = (PROGRAM_BASE..).step_by(PARCEL_BYTES as usize);
        let places = addresses.zip(self.places.iter().copied());
        places.filter(|(_, spent)| *spent != Spent::default())
    }

    /// All HPUs were reset.
    pub(crate) fn forget_waits(&mut self) {
        self.waits.fill(None);
    }

    /// An HPU did one step at `pc`, in clock `now`; its next one is in clock `next`.
    pub(crate) fn note(
        &mut self,
        hpu: usize,
        pc: u32,
        [now, next]: [u64; 2],
        outcome: &Outcome,
        waits: bool,
    ) {
        if waits {
            if outcome.in_handler && self.waits[hpu].is_none() {
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
