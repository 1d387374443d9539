//! Announcements of messages, in the order in which MPI matches them, and the answers to them.

use super::control::{Announcement, Control, Grant, MOST};
use std::collections::{BTreeMap, VecDeque};

/// Grants that are kept for announcements that are repeated, for each rank.
const GRANTS: usize = 1024;
/// Announcements of a rank that may be ahead of one that was lost, at most.
const AHEAD: usize = 1024;
/// Announcements of a rank that wait for their receives, at most. Its host says the others again.
const UNMATCHED: usize = 4096;

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
    /// How many wait for their receives.
    unmatched: usize,
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

    /// Whether another announcement of a rank can be kept.
    pub(super) fn has_room(&self, rank: usize) -> bool {
        self.ranks[rank].unmatched < UNMATCHED
    }

    /// Takes away an announcement that has been matched.
    pub(super) fn take(&mut self, index: usize) {
        if let Some((rank, _)) = self.unmatched.remove(index) {
            self.ranks[rank].unmatched -= 1;
        }
    }

    /// An announcement has come. MPI's messages do not overtake each other, so they are looked at in their order.
    pub(super) fn announce(&mut self, rank: usize, announcement: Announcement) {
        let from = &mut self.ranks[rank];
        let number = announcement.number;
        if let Some(grant) = from.grants.iter().find(|grant| grant.number == number) {
            let answers = self.answers.entry(rank).or_default();
            if !answers.contains(grant) {
                answers.push(*grant);
            }
            return;
        }
        let distance = number.wrapping_sub(from.next);
        if distance as usize >= AHEAD {
            return;
        }
        from.ahead.insert(number, announcement);
        while let Some(next) = from.ahead.remove(&from.next) {
            self.unmatched.push_back((rank, next));
            from.unmatched += 1;
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

#[cfg(test)]
mod tests {
    use super::{Inbox, UNMATCHED};
    use crate::library::control::{Announcement, Control, Grant};

    fn announcement(number: u32) -> Announcement {
        Announcement {
            number,
            communicator: 0,
            tag: 0,
            bytes: 8,
            unit: 1462,
            port: 9332,
        }
    }

    #[test]
    fn announcements_without_end_are_kept_up_to_a_bound_and_go_on_from_there() {
        let mut inbox = Inbox::new(2);
        let most = UNMATCHED as u32;
        for number in 0..most + 1000 {
            if inbox.has_room(1) {
                inbox.announce(1, announcement(number));
            }
        }
        assert_eq!(inbox.unmatched.len(), UNMATCHED);
        assert!(inbox.has_room(0) && !inbox.has_room(1));
        inbox.take(0);
        assert!(inbox.has_room(1));
        inbox.announce(1, announcement(most));
        let last = inbox.unmatched.back();
        assert_eq!(last, Some(&(1, announcement(most))));
        assert!(!inbox.has_room(1));
    }

    #[test]
    fn an_announcement_that_is_said_many_times_is_answered_once() {
        let mut inbox = Inbox::new(1);
        inbox.announce(0, announcement(0));
        inbox.grant(0, 0, 7);
        for _ in 0..1000 {
            inbox.announce(0, announcement(0));
        }
        let grants = vec![Grant { number: 0, id: 7 }];
        assert_eq!(inbox.answers(), [(0, Control::Grant(grants))]);
        assert_eq!(inbox.answers(), []);
    }
}
