//! Announcements of messages, in the order in which MPI matches them, and the answers to them.

use super::control::{Announcement, Control, Grant, MOST};
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
    /// What is to be answered, for each rank.
    answers: BTreeMap<usize, Vec<Grant>>,
}

#[derive(Debug, Default)]
struct FromRank {
    /// The number of the next announcement.
    next: u32,
    /// Those that came before their turn.
    ahead: BTreeMap<u32, Announcement>,
    grants: VecDeque<Grant>,
}

impl Inbox {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            ranks: (0..ranks).map(|_| FromRank::default()).collect(),
            unmatched: VecDeque::new(),
            starts: 0,
            answers: BTreeMap::new(),
        }
    }

    /// An announcement has come. MPI's messages do not overtake each other, so they are looked at in their order.
    pub(super) fn announce(&mut self, rank: usize, announcement: Announcement) {
        let from = &mut self.ranks[rank];
        let number = announcement.number;
        if let Some(grant) = from.grants.iter().find(|grant| grant.number == number) {
            self.answers.entry(rank).or_default().push(*grant);
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
        let grant = Grant { number, id };
        grants.push_back(grant);
        if grants.len() > GRANTS {
            grants.pop_front();
        }
        self.answers.entry(rank).or_default().push(grant);
    }

    /// The answers that were not taken yet, as many in a frame as go into one: each with the rank that it is for.
    pub(super) fn answers(&mut self) -> Vec<(usize, Control)> {
        let answers = std::mem::take(&mut self.answers);
        let frames = answers.iter().flat_map(|(rank, grants)| {
            grants
                .chunks(MOST)
                .map(move |grants| (*rank, Control::Grant(grants.to_vec())))
        });
        frames.collect()
    }
}
