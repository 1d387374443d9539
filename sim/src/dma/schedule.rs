//! When bytes move and when statuses come, including unsolicited ones.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// Jobs in the order of acceptance: their bytes move one job after the other; then each gets its status, possibly
/// after that of a later job.
#[derive(Clone, Debug)]
pub(super) struct Schedule<T> {
    /// Jobs whose bytes have not moved, each with the cycle in which they will have.
    moving: VecDeque<(u64, T)>,
    /// Jobs without status, each with the cycle of its earliest.
    moved: VecDeque<(u64, T)>,
    /// The first cycle in which nothing moves.
    free: u64,
}

impl<T> Schedule<T> {
    pub(super) fn new() -> Self {
        Self {
            moving: VecDeque::new(),
            moved: VecDeque::new(),
            free: 0,
        }
    }

    /// Accepts a job in a cycle; its bytes begin to move after the latency, and move for `clocks` cycles.
    pub(super) fn accept(&mut self, job: T, cycle: u64, latency: u64, clocks: u64) {
        self.free = self.free.max(cycle + latency) + clocks;
        self.moving.push_back((self.free, job));
    }

    /// Takes the next job whose bytes have arrived by the start of that cycle.
    pub(super) fn next_moved(&mut self, cycle: u64) -> Option<T> {
        let next = self.moving.pop_front_if(|(end, _)| *end <= cycle);
        next.map(|(_, job)| job)
    }

    /// A job whose bytes have moved waits for its status, which is due in that cycle.
    pub(super) fn wait(&mut self, job: T, due: u64) {
        self.moved.push_back((due, job));
    }

    /// Takes the job that gets its status in that cycle: the oldest, or with `reorder` any that is due.
    pub(super) fn next_status(&mut self, cycle: u64, reorder: bool, rng: &mut ChaCha8Rng) -> Option<T> {
        let chosen = if reorder {
            let due = |(_, (due, _)): &(usize, &(u64, T))| *due <= cycle;
            let count = self.moved.iter().enumerate().filter(due).count();
            if count == 0 {
                return None;
            }
            let wanted = rng.random_range(0..count);
            let mut ready = self.moved.iter().enumerate().filter(due);
            ready.nth(wanted).map(|(index, _)| index)?
        } else {
            (self.moved.front()?.0 <= cycle).then_some(0)?
        };
        self.moved.remove(chosen).map(|(_, job)| job)
    }

    /// Jobs without status.
    pub(super) fn len(&self) -> usize {
        self.moving.len() + self.moved.len()
    }

    /// All jobs without status.
    pub(super) fn into_jobs(self) -> impl Iterator<Item = T> {
        self.moving.into_iter().chain(self.moved).map(|(_, job)| job)
    }
}

/// Minimum number of tags with which some are surely not reused soon.
const MANY: u64 = 16;

/// A tag that is not in flight: half of them are outside the design's range, the others were used recently.
///
/// Tags that the design may be about to use are left out, all of them if there are few: the model cannot see when the
/// design has chosen one.
pub(super) fn draw_tag(
    rng: &mut ChaCha8Rng,
    tags: u64,
    width: usize,
    last: Option<u64>,
    in_flight: impl Fn(u64) -> bool,
) -> Option<u64> {
    let all = 1u64.checked_shl(width as u32).unwrap_or(u64::MAX);
    let old = last.filter(|_| tags >= MANY);
    let old = old.map(|last| (last + tags - rng.random_range(0..tags / 4)) % tags);
    let old = old.filter(|tag| !in_flight(*tag));
    let foreign = (tags < all).then(|| rng.random_range(tags..all));
    if rng.random_bool(0.5) {
        old.or(foreign)
    } else {
        foreign.or(old)
    }
}

#[cfg(test)]
mod tests {
    use super::{Schedule, draw_tag};
    use crate::seed::Seed;

    /// The cycle of each job's status; a job is given as its acceptance cycle and its clocks.
    fn statuses(latency: u64, jobs: &[(u64, u64)]) -> Vec<u64> {
        let mut schedule = Schedule::new();
        let mut rng = Seed(1).rng("test");
        let mut cycles = vec![0; jobs.len()];
        let mut next = 0;
        for cycle in 0..1000 {
            while let Some(job) = schedule.next_moved(cycle) {
                schedule.wait(job, cycle);
            }
            if let Some(job) = schedule.next_status(cycle, false, &mut rng) {
                let job: usize = job;
                cycles[job] = cycle;
            }
            if let Some((at, clocks)) = jobs.get(next).filter(|(at, _)| *at == cycle) {
                schedule.accept(next, *at, latency, *clocks);
                next += 1;
            }
        }
        assert_eq!(schedule.len(), 0);
        cycles
    }

    #[test]
    fn a_line_takes_a_clock_and_the_latency() {
        assert_eq!(statuses(0, &[(5, 1)]), [6]);
        assert_eq!(statuses(100, &[(5, 1)]), [106]);
        assert_eq!(statuses(0, &[(5, 64)]), [69]);
        assert_eq!(statuses(7, &[(5, 3)]), [15]);
    }

    #[test]
    fn lines_move_one_after_the_other_without_gaps() {
        assert_eq!(statuses(0, &[(1, 1), (2, 1), (3, 1)]), [2, 3, 4]);
        assert_eq!(statuses(0, &[(1, 4), (2, 1), (3, 2)]), [5, 6, 8]);
        assert_eq!(statuses(10, &[(1, 4), (2, 1), (30, 2)]), [15, 16, 42]);
    }

    #[test]
    fn statuses_overtake_each_other_only_with_reorder() {
        let mut rng = Seed(1).rng("test");
        let mut orders = std::collections::BTreeSet::new();
        for _ in 0..100 {
            let mut schedule = Schedule::new();
            (0..3).for_each(|job| schedule.wait(job, 0));
            let order: Vec<i32> = std::iter::from_fn(|| schedule.next_status(0, true, &mut rng)).collect();
            assert_eq!(order.len(), 3);
            orders.insert(order);
        }
        assert_eq!(orders.len(), 6);
    }

    #[test]
    fn jobs_wait_until_they_are_due() {
        let mut rng = Seed(1).rng("test");
        let mut schedule = Schedule::new();
        schedule.wait('a', 5);
        schedule.wait('b', 3);
        assert_eq!(schedule.next_status(2, true, &mut rng), None);
        assert_eq!(schedule.next_status(3, false, &mut rng), None, "in order");
        assert_eq!(schedule.next_status(3, true, &mut rng), Some('b'));
        assert_eq!(schedule.next_status(5, true, &mut rng), Some('a'));
        schedule.accept('c', 5, 0, 1);
        schedule.wait('d', 5);
        assert_eq!(schedule.len(), 2);
        assert!(schedule.into_jobs().eq(['c', 'd']));
    }

    #[test]
    fn tags_in_flight_are_never_drawn() {
        let mut rng = Seed(1).rng("test");
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            let tag = draw_tag(&mut rng, 16, 5, Some(2), |tag| tag == 1);
            seen.extend(tag);
        }
        assert!(!seen.contains(&1));
        // The last four that were used, and those outside the design's range.
        assert!(seen.into_iter().eq([0, 2, 15].into_iter().chain(16..32)));
    }

    #[test]
    fn all_tags_may_be_excluded() {
        let mut rng = Seed(1).rng("test");
        assert_eq!(draw_tag(&mut rng, 16, 4, Some(0), |_| true), None);
        assert_eq!(draw_tag(&mut rng, 4, 2, Some(0), |_| false), None, "too few");
        assert_eq!(draw_tag(&mut rng, 16, 4, None, |_| false), None);
    }
}
