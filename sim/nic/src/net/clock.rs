//! Keeps simulated time and the time on the wall together.

use super::NetError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Keeps simulated time from running ahead of the wall clock.
///
/// A busy NIC falls behind, because simulation is slower than real time. It catches up when it is idle, because idle time
/// costs next to nothing.
#[derive(Clone, Debug)]
pub struct Pacer {
    start: Instant,
    start_ps: u64,
}

impl Pacer {
    /// Returns a pacer for a simulation that is at `now_ps`.
    pub fn starting_at(now_ps: u64) -> Self {
        Self {
            start: Instant::now(),
            start_ps: now_ps,
        }
    }

    /// How far simulated time may go, in picoseconds.
    pub fn allowed_ps(&self) -> u64 {
        self.start_ps.saturating_add(picoseconds(self.start.elapsed()))
    }

    /// How long to wait on the wall clock until simulated time may reach `at_ps`.
    pub fn until(&self, at_ps: u64) -> Duration {
        Duration::from_nanos(at_ps.saturating_sub(self.allowed_ps()).div_ceil(1000))
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

/// Whether the run shall end: by Ctrl-C, a request to terminate, or a terminal that was closed.
///
/// The first one is only noted, and makes [`wait`](super::wait) return if this is among what it waits for. The second
/// one ends the process at once with code 130, for a run that does not come to its end; what it made in the system
/// may then be left behind. The signals stay caught until the process ends.
#[derive(Clone, Debug)]
pub struct Interrupt {
    is_set: Arc<AtomicBool>,
    /// Becomes readable with the first signal, and stays so.
    wake: Arc<UnixStream>,
}

impl Interrupt {
    /// Catches the signals from now on.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn catch() -> Result<Self, NetError> {
        let failed = |error| NetError::system("catch Ctrl-C", error);
        let is_set = Arc::new(AtomicBool::new(false));
        let (wake, wakes) = UnixStream::pair().map_err(failed)?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the first signal finds the flag not set.
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&is_set)).map_err(failed)?;
            flag::register(signal, Arc::clone(&is_set)).map_err(failed)?;
            low_level::pipe::register(signal, wakes.try_clone().map_err(failed)?).map_err(failed)?;
        }
        let wake = Arc::new(wake);
        Ok(Self { is_set, wake })
    }

    /// As if there had been a signal.
    pub fn set(&self) {
        self.is_set.store(true, Ordering::SeqCst);
    }

    /// No signal is caught, for a process that does so itself.
    ///
    /// # Errors
    /// If the system has no sockets left.
    pub fn never() -> Result<Self, NetError> {
        let (wake, _) =
            UnixStream::pair().map_err(|error| NetError::system("make a pair of sockets", error))?;
        let (is_set, wake) = (Arc::new(AtomicBool::new(false)), Arc::new(wake));
        Ok(Self { is_set, wake })
    }

    /// Whether there was a signal.
    pub fn is_set(&self) -> bool {
        self.is_set.load(Ordering::SeqCst)
    }
}

impl AsFd for Interrupt {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
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
