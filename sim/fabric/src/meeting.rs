//! What NICs and the rest of a fabric say to each other when they meet.

use crate::Ps;

/// Why a NIC waits for somebody outside of the simulation, and time with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outside {
    /// Its application has not come.
    ApplicationToCome,
    /// Its application has neither waited nor computed.
    ApplicationToSpeak,
}

/// It is over: somebody wants an end, or another part has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the fabric was stopped")]
pub struct Stopped;

/// Why who runs a NIC ends before all is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Left {
    /// It was stopped, which is no failure.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// It has failed; the text is a sentence.
    #[error("{0}")]
    Failed(String),
}

/// How much earlier than a frame comes, or than it wants, a NIC may act: it skips whole clocks of its cluster. Nobody goes further
/// than what such a NIC could still send allows.
pub const SLACK_PS: Ps = 50_000;
