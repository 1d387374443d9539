//! How far a request is, and what came of it.

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    Inactive,
    GoesOn,
    HasEnded,
}

/// The rank of nobody, as `MPI_PROC_NULL`: what goes there, or is to come from there, has ended when it has begun.
pub const NOBODY: usize = usize::MAX;

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Bytes of the message; elements are these by the type's size.
    pub bytes: u32,
    /// The other rank.
    pub rank: usize,
    /// The tag; -1 if there was no message.
    pub tag: i32,
}

impl Status {
    /// That of a message from nobody or to nobody.
    pub(super) const NOTHING: Self = Self {
        bytes: 0,
        rank: NOBODY,
        tag: -1,
    };
}
