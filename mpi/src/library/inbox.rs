//! Announcements of messages, in the order in which MPI matches them, and the answers to them.

use super::control::{Announcement, Control};
use std::collections::{BTreeMap, VecDeque};

/// Grants that are kept for announcements that are repeated, for each rank.
const GRANTS: usize = 1024;
/// Announcements of a rank that may be ahead of one that was lost, at most.
const AHEAD: usize = 1024;

/// What is announced.
#[derive(Debug)]
pub(super) struct Inbox {
    ranks: Vec<FromRank>,
    /// Announcements in the order in which they can be matched.
    pub(super) unmatched: VecDeque<(usize, Announcement)>,
    /// Receives that were started.
    pub(super) starts: u64,
    pub(super) answers: Vec<(usize, Control)>,
}

#[derive(Debug, Default)]
struct FromRank {
    /// The number of the next announcement.
    next: u32,
    /// Those that came before their turn.
    ahead: BTreeMap<u32, Announcement>,
    grants: VecDeque<(u32, u32)>,
}

impl Inbox {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            ranks: (0..ranks).map(|_| FromRank::default()).collect(),
            unmatched: VecDeque::new(),
            starts: 0,
            answers: Vec::new(),
        }
    }

    /// An announcement has come. MPI's messages do not overtake each other, so they are looked at in their order.
    pub(super) fn announce(&mut self, rank: usize, announcement: Announcement) {
        let from = &mut self.ranks[rank];
        let number = announcement.number;
        if let Some(&(_, id)) = from.grants.iter().find(|(granted, _)| *granted == number) {
            self.answers.push((rank, Control::Grant { number, id }));
            return;
        }
        let distance = number.wrapping_sub(from.next);
        if distance as usize >= AHEAD {
            return;
        }
        from.ahead.insert(number, announcement);
        while let Some(next) = from.ahead.remove(&from.next) {
            self.unmatched.push_back((rank, next));
            from.next = from.next.wrapping_add(1);
        }
    }

    /// Answers an announcement, now and whenever it comes again.
    pub(super) fn grant(&mut self, rank: usize, number: u32, id: u32) {
        let grants = &mut self.ranks[rank].grants;
        grants.push_back((number, id));
        if grants.len() > GRANTS {
            grants.pop_front();
        }
        self.answers.push((rank, Control::Grant { number, id }));
    }
}
