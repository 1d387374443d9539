//! How far requests are, whatever they are.

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    Inactive,
    GoesOn,
    HasEnded,
}
