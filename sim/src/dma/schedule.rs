//! When bytes move and when statuses come.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// Jobs in the order in which they were taken: their bytes move one after the other, and after that each has
/// its status, possibly behind that of a later one.
#[derive(Clone, Debug)]
pub(super) struct Schedule<T> {
    /// Jobs whose bytes have not moved, each with the cycle in which they have.
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

    /// Takes a job in a cycle; its bytes begin to move after the latency, and move for so many cycles.
    pub(super) fn accept(&mut self, job: T, cycle: u64, latency: u64, clocks: u64) {
        self.free = self.free.max(cycle + latency) + clocks;
        self.moving.push_back((self.free, job));
    }

    /// The next job whose bytes are where they belong at the start of that cycle.
    pub(super) fn next_moved(&mut self, cycle: u64) -> Option<T> {
        let next = self.moving.pop_front_if(|(end, _)| *end <= cycle);
        next.map(|(_, job)| job)
    }

    /// A job whose bytes have moved waits for its status, which may come in that cycle or later.
    pub(super) fn wait(&mut self, job: T, due: u64) {
        self.moved.push_back((due, job));
    }

    /// The job that has its status in that cycle: the oldest, or with `reorder` any that is due.
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

#[cfg(test)]
mod tests {
    use super::Schedule;
    use crate::seed::Seed;

    /// The cycles in which jobs have their status: each is taken in a cycle, and moves for some.
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
    fn statuses_overtake_each_other_if_they_may() {
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
    fn what_is_not_due_waits() {
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
}
