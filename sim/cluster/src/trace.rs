//! What passes between HPUs and their drivers, and through the cluster's ports: to be held against a recording.

use crate::event::HpuId;
use crate::task::CommandId;

/// Something that passed, and in which clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The clock.
    pub clock: u64,
    /// What.
    pub what: Passed,
}

/// What passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
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
