//! What happens in the cluster, for who keeps account.

use crate::rv::Trap;
use crate::task::Stage;
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
    Came {
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
    Ran(Run),
    /// A handler was ended by a trap; it follows as [`Event::Ran`], too.
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
    Broken {
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
