//! How far a request is, and what came of it.

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    Inactive,
    GoesOn,
    HasEnded,
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Bytes of the message; elements are these by the type's size.
    pub bytes: u32,
    /// The other rank.
    pub rank: usize,
    /// The tag.
    pub tag: i32,
}
