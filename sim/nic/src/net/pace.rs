//! Keeps simulated time and the time on the wall together.

use super::NetError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// How far simulated time may go, and how much slower than real time the work was.
///
/// Simulated time never runs ahead of the wall. While the NIC works it falls behind, because work is simulated more
/// slowly than it happens; it catches up as soon as the NIC is idle, since idle time costs next to nothing.
#[derive(Clone, Debug)]
pub struct Pacer {
    start: Instant,
    start_ps: u64,
    /// Since when the NIC works: on the wall and in the simulation.
    working: Option<(Instant, u64)>,
    worked: Duration,
    worked_ps: u64,
}

impl Pacer {
    /// A pacer for a simulation that starts now, at time 0.
    pub fn new() -> Self {
        Self::starting_at(0)
    }

    /// A pacer for a simulation that is there now.
    pub fn starting_at(now_ps: u64) -> Self {
        Self {
            start: Instant::now(),
            start_ps: now_ps,
            working: None,
            worked: Duration::ZERO,
            worked_ps: 0,
        }
    }

    /// How far simulated time may go, in picoseconds.
    pub fn allowed_ps(&self) -> u64 {
        self.start_ps.saturating_add(picoseconds(self.start.elapsed()))
    }

    /// How long to wait on the wall until simulated time may be there.
    pub fn until(&self, at_ps: u64) -> Duration {
        Duration::from_nanos(at_ps.saturating_sub(self.allowed_ps()).div_ceil(1000))
    }

    /// The NIC has work to do from this simulated time on; says nothing new if it had already.
    pub fn begin_work(&mut self, now_ps: u64) {
        self.working.get_or_insert_with(|| (Instant::now(), now_ps));
    }

    /// The NIC has none any more; says nothing new if it had none.
    pub fn end_work(&mut self, now_ps: u64) {
        let (wall, simulated) = self.current(now_ps);
        self.worked += wall;
        self.worked_ps += simulated;
        self.working = None;
    }

    /// How many times slower than real time the work has been until now; `None` if there was none.
    pub fn slow_down(&self, now_ps: u64) -> Option<f64> {
        let (wall, simulated) = self.current(now_ps);
        let simulated_ps = self.worked_ps + simulated;
        (simulated_ps > 0).then(|| (self.worked + wall).as_secs_f64() * 1e12 / simulated_ps as f64)
    }

    /// The stretch of work that has not ended.
    fn current(&self, now_ps: u64) -> (Duration, u64) {
        self.working.map_or((Duration::ZERO, 0), |(wall, since_ps)| {
            (wall.elapsed(), now_ps.saturating_sub(since_ps))
        })
    }
}

impl Default for Pacer {
    fn default() -> Self {
        Self::new()
    }
}

/// Sleeps until something can be read, a signal comes, or the time is over; without a time, as long as it takes.
/// Says whether something can be read.
///
/// # Errors
/// If the system refuses it.
pub fn wait(fds: &[BorrowedFd<'_>], timeout: Option<Duration>) -> Result<bool, NetError> {
    let mut fds: Vec<PollFd<'_>> = fds
        .iter()
        .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
        .collect();
    // A time that is too long for the system is as good as none.
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(&mut fds, timeout.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(NetError::system("wait for packets", error)),
    }
}

/// Simulated time of a duration.
pub(crate) fn picoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    use std::thread;

    #[test]
    fn simulated_time_may_go_as_far_as_the_wall() {
        let started = Instant::now();
        let pacer = Pacer::starting_at(7_000_000);
        thread::sleep(Duration::from_millis(20));
        let allowed = pacer.allowed_ps();
        let elapsed = picoseconds(started.elapsed());
        assert!(
            (20_000_000_000..=elapsed).contains(&(allowed - 7_000_000)),
            "{allowed}"
        );
        assert_eq!(pacer.until(1), Duration::ZERO);
        assert!(pacer.until(allowed + 1_000_000_000_000) <= Duration::from_secs(1));
        assert!(pacer.until(u64::MAX) > Duration::from_hours(1000));
    }

    #[test]
    fn slow_down_counts_work_and_not_idle_time() {
        let mut pacer = Pacer::new();
        assert_eq!(pacer.slow_down(0), None);
        thread::sleep(Duration::from_millis(50));
        pacer.begin_work(1_000);
        pacer.begin_work(2_000);
        let begun = Instant::now();
        thread::sleep(Duration::from_millis(20));
        // 20 ms of the wall for 2 ms of the simulation.
        pacer.end_work(2_000_001_000);
        let at_most = begun.elapsed().as_secs_f64() / 0.002 + 0.1;
        let slow_down = pacer.slow_down(0).unwrap();
        assert!((10.0..=at_most).contains(&slow_down), "{slow_down}");
        thread::sleep(Duration::from_millis(20));
        pacer.end_work(9_000_000_000);
        assert_eq!(pacer.slow_down(0), Some(slow_down));
    }

    #[test]
    fn wait_ends_with_a_byte_or_with_the_time() {
        let (reads, mut writes) = UnixStream::pair().unwrap();
        let begun = Instant::now();
        assert!(!wait(&[reads.as_fd()], Some(Duration::from_millis(30))).unwrap());
        assert!(begun.elapsed() >= Duration::from_millis(30));
        let writer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(30));
            writes.write_all(b"x").unwrap();
        });
        assert!(wait(&[reads.as_fd()], None).unwrap());
        writer.join().unwrap();
        assert!(wait(&[reads.as_fd()], Some(Duration::MAX)).unwrap());
    }
}
