//! The revisions of Corundum whose application block each generation fits.

use spinneret_hdl::app::corundum::Generation;
use std::fmt;

/// A commit of <https://github.com/corundum/corundum>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Its beginning, long enough to be the only one.
    pub commit: &'static str,
    /// Its date.
    pub date: &'static str,
}

/// The first and the last revision of a generation. All revisions between them fit; those after one generation and before
/// the next fit none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revisions {
    /// The generation.
    pub generation: Generation,
    /// The first revision that fits.
    pub first: Revision,
    /// The last revision that fits, or the newest that is known.
    pub last: Revision,
}

/// All generations, in the order of their revisions.
pub const REVISIONS: [Revisions; 2] = [
    Revisions {
        generation: Generation::Fpspin2023,
        first: Revision {
            commit: "941288e9",
            date: "2022-10-12",
        },
        last: Revision {
            commit: "66b1a281",
            date: "2023-09-24",
        },
    },
    Revisions {
        generation: Generation::Corundum202312,
        first: Revision {
            commit: "2a7d0e09",
            date: "2023-11-07",
        },
        last: Revision {
            commit: "1ca0151b",
            date: "2023-12-02",
        },
    },
];

/// All of them in one phrase.
pub(super) fn told() -> String {
    REVISIONS.map(|revisions| revisions.to_string()).join(" or ")
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.commit, self.date)
    }
}

impl fmt::Display for Revisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {} for {}", self.first, self.last, self.generation)
    }
}
