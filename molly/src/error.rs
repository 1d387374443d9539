//! Errors of ranks.

use spinneret_molly_model::Geometry;
use std::fmt;
use std::time::Duration;

/// An error of a run.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] spinneret_molly_model::Error),
    /// Another rank did not do its part.
    #[error(
        "rank {rank} waited {waited:?} for rank {peer} to {what} message {number} of {line}; all ranks have to call \
             the same functions with the same numbers"
    )]
    TimeOut {
        /// The rank that waited,
        rank: usize,
        /// the one that it waited for,
        peer: usize,
        /// what that one did not do,
        what: &'static str,
        /// the message, counted from 0,
        number: usize,
        /// in which line of messages,
        line: String,
        /// and how long.
        waited: Duration,
    },
    /// Another rank did not do its part of a call.
    #[error("{what}; rank {rank} is in {here}, and rank {peer} {}", said(.there.as_deref()))]
    Absent {
        /// The event that the rank waited for, in words.
        what: String,
        /// The rank that waited,
        rank: usize,
        /// what it had called, and where in the source,
        here: String,
        /// the rank that it waited for,
        peer: usize,
        /// and what that had called last, if the transport can say.
        there: Option<String>,
    },
    /// Another rank failed, so this one stopped.
    #[error("rank {rank} stopped, as another rank failed")]
    OtherFailed {
        /// The rank that stopped.
        rank: usize,
    },
    /// A rank panicked.
    #[error("rank {rank} panicked: {message}")]
    Panicked {
        /// The rank.
        rank: usize,
        /// Its output.
        message: String,
    },
    /// As many ranks as a grid has were not started.
    #[error(
        "the grid {geometry} has {wanted} ranks, and {started} were started; start {wanted}, or name another grid"
    )]
    Ranks {
        /// The grid.
        geometry: Geometry,
        /// Its ranks.
        wanted: usize,
        /// Ranks that run.
        started: usize,
    },
    /// More ranks than run as threads of one process.
    #[error(
        "the grid {geometry} has {} ranks, and at most {limit} run as threads of one process; name a smaller grid, or start \
             them as processes under MPI",
        geometry.ranks()
    )]
    Threads {
        /// The grid.
        geometry: Geometry,
        /// Ranks that can be threads.
        limit: usize,
    },
    /// A thread was not started.
    #[error("the thread of rank {rank} cannot be started: {what}; name a smaller grid, or raise the limit")]
    Start {
        /// The rank.
        rank: usize,
        /// The system's message.
        what: String,
    },
    /// There is no memory for what a rank stores of a field.
    #[error(
        "rank {rank} stores {elements} elements of `{field}`, and there is no memory for them; make it smaller"
    )]
    Room {
        /// The rank.
        rank: usize,
        /// The field.
        field: String,
        /// The number of elements that it stores.
        elements: i64,
    },
    /// MPI refused something.
    #[error("rank {rank}: {what}")]
    Mpi {
        /// The rank.
        rank: usize,
        /// The reason, in words.
        what: String,
    },
    /// A transport refused something.
    #[error("rank {rank}: {what}")]
    Transport {
        /// The rank.
        rank: usize,
        /// The reason, in words.
        what: String,
    },
    /// A message of another length than the plan says.
    #[error("rank {rank} received {found} bytes from rank {peer} where {expected} were planned")]
    Length {
        /// The receiver.
        rank: usize,
        /// The sender.
        peer: usize,
        /// Bytes that came.
        found: usize,
        /// Bytes that the plan says.
        expected: usize,
    },
    /// A random program gave something else than its serial run.
    #[error("rank {rank}: {what}")]
    Wrong {
        /// The rank.
        rank: usize,
        /// The program, the grid, and the difference.
        what: String,
    },
    /// A field that lives on another grid of ranks.
    #[error(
        "{call} runs on {here}, and `{field}` was made at {made}; make it with `Rank::field` of that rank"
    )]
    Foreign {
        /// The field.
        field: String,
        /// Where in the source it was made, and for which rank.
        made: String,
        /// The call, and its place in the source.
        call: String,
        /// The rank that runs it.
        here: String,
    },
}

impl Error {
    /// Whether every rank finds the error on its own, before anything is sent: the request cannot be met.
    pub fn is_found_by_all(&self) -> bool {
        matches!(
            self,
            Self::Plan(_) | Self::Ranks { .. } | Self::Threads { .. } | Self::Foreign { .. }
        )
    }
}

/// Same as `Display`, because a program whose `main` returns the error prints this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn said(call: Option<&str>) -> String {
    match call {
        Some(call) => format!("was last in {call}"),
        None => "is in no call that waits, or has ended".to_owned(),
    }
}

/// The result of a call, or an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
