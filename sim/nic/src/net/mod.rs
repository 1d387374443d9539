//! Where the NIC's packets come from and where they go to: captures, a generator, and Linux.
//!
//! ```text
//! PcapSource, Generator ──► Source ──► the simulated NIC ──► Sink ──► PcapSink
//! Tap (wire, host), PacketSocket ──►                         ──► Tap (wire, host), PacketSocket
//! ```
//!
//! Times are picoseconds of the simulation since the start. Captures and generators know in advance when their packets are at
//! the NIC. Packets of a live source arrive at the time of the call.
//!
//! Packets are Ethernet frames without their check sequence. Interfaces and namespaces are removed when their last user
//! is dropped, so a command that creates them should end by returning: its main loop polls [`Interrupt`] for Ctrl-C.

pub mod generator;
mod linux;
mod packet_socket;
mod pcap;
mod tap;

pub use generator::{Generator, Recipe};
pub use packet_socket::PacketSocket;
pub use pcap::{PcapSink, PcapSource, Timing};
pub use tap::{InterfaceAddress, Tap, TapConfig, TapEnd};

use crate::nic::{DAY_PS, LAST_PS};
use crate::terminal::tell;
use generator::RecipeError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use spinneret_packets::capture::CaptureError;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Smallest Ethernet frame without its check sequence, in bytes. Linux hands over shorter ones, and a wire pads them.
pub const MIN_FRAME_BYTES: usize = 60;

/// The next item of a [`Source`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A packet. Each is delivered once, and none is before the one that came before it.
    Packet {
        /// When it is at the NIC, in picoseconds since the start; may be in the future.
        at_ps: u64,
        /// The frame without its check sequence.
        bytes: Vec<u8>,
    },
    /// A packet to send when the NIC has room for it, so that it is not dropped, in order.
    WithRoom(Vec<u8>),
    /// No packet yet; live sources only.
    Nothing,
    /// No more packets.
    End,
}

/// A source of packets.
pub trait Source {
    /// The next packet, without waiting.
    ///
    /// # Errors
    /// If the source is damaged or gone.
    fn next(&mut self, now_ps: u64) -> Result<Next, NetError>;

    /// Total number of packets, if known.
    fn total(&self) -> Option<u64> {
        None
    }

    /// Truncated packets so far, which are sent truncated.
    fn cut_short(&self) -> u64 {
        0
    }

    /// Whether packets arrive in real time, which simulated time has to follow.
    fn is_live(&self) -> bool {
        false
    }
}

/// A sink of packets.
pub trait Sink {
    /// Takes a packet that left the NIC at `at_ps`.
    ///
    /// # Errors
    /// If the sink is full or gone.
    fn put(&mut self, at_ps: u64, bytes: &[u8]) -> Result<(), NetError>;

    /// Completes the output; without this, no incomplete file remains.
    ///
    /// # Errors
    /// If the output cannot be completed.
    fn finish(self: Box<Self>) -> Result<(), NetError> {
        Ok(())
    }
}

/// Prints how many frames an interface has refused.
fn tell_dropped(interface: &str, frames: u64) {
    if frames > 0 {
        tell(format_args!(
            "interface `{interface}` rejected {frames} frames of the NIC: it was down, its queue was full, or they were too long"
        ));
    }
}

/// Pads a frame as a wire does.
fn pad(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().max(MIN_FRAME_BYTES), 0);
    bytes
}

/// Errors of sources and sinks.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// A capture is damaged, or cannot be read or written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A packet of a capture is not a frame.
    #[error("{}: packet {packet} is empty", file.display())]
    EmptyPacket {
        /// The capture.
        file: PathBuf,
        /// Number of the packet, counted from 1.
        packet: u64,
    },
    /// A packet of a capture is after the end of simulated time.
    #[error(
        "{}: packet {packet} comes {days} days after the first, and simulated time ends after {}: --back-to-back takes \
         packets without their times",
        file.display(),
        LAST_PS / DAY_PS
    )]
    TooLate {
        /// The capture.
        file: PathBuf,
        /// Number of the packet, counted from 1.
        packet: u64,
        /// Days after the first one.
        days: u64,
    },
    /// The description of generated traffic is wrong.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// Missing privileges.
    #[error("{wanted} needs more privileges: run `{command}` once, or run this with sudo")]
    Privileges {
        /// The operation.
        wanted: String,
        /// How to grant them.
        command: String,
    },
    /// An invalid name of an interface or namespace.
    #[error("`{name}` cannot be the name of an interface: {problem}")]
    BadName {
        /// The name.
        name: String,
        /// The reason.
        problem: String,
    },
    /// An interface or namespace exists already.
    #[error("{what} `{name}` exists already: choose another name, or remove it with `{command}`")]
    Exists {
        /// Interface or network namespace.
        what: &'static str,
        /// Its name.
        name: String,
        /// The command that removes it.
        command: String,
    },
    /// There is no such interface.
    #[error("there is no interface `{name}`: `ip link` lists those that exist")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The interface is down.
    #[error("interface `{name}` is down: `ip link set {name} up` brings it up")]
    Down {
        /// Its name.
        name: String,
    },
    /// The interface is not an Ethernet interface.
    #[error("interface `{name}` does not carry Ethernet frames (its hardware type is {found}, not 1)")]
    NotEthernet {
        /// Its name.
        name: String,
        /// Its hardware type.
        found: u16,
    },
    /// The interface was removed by someone else.
    #[error("interface `{name}` is gone: somebody removed it")]
    Gone {
        /// Its name.
        name: String,
    },
    /// A program of the system failed, or is missing.
    #[error("`{command}` failed: {problem}")]
    Command {
        /// The command.
        command: String,
        /// Its output.
        problem: String,
    },
    /// The program that exchanges packets ended.
    #[error("the program ended the run: {0}")]
    Program(String),
    /// The system refuses something.
    #[error("cannot {what}: {source}")]
    System {
        /// The operation.
        what: String,
        /// The error of the system.
        source: io::Error,
    },
}

impl NetError {
    /// The system refuses something.
    fn system(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::System {
            what: what.into(),
            source: source.into(),
        }
    }
}

/// Keeps simulated time from running ahead of real time.
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

    /// Maximum simulated time now, in picoseconds.
    pub fn allowed_ps(&self) -> u64 {
        self.start_ps.saturating_add(picoseconds(self.start.elapsed()))
    }

    /// Real time until simulated time may reach `at_ps`.
    pub fn until(&self, at_ps: u64) -> Duration {
        Duration::from_nanos(at_ps.saturating_sub(self.allowed_ps()).div_ceil(1000))
    }
}

/// Sleeps until something can be read, a signal comes, or the time is over; without a time, as long as it takes.
/// Says whether something can be read.
///
/// # Errors
/// If the system call fails.
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

/// Interrupts of the run: Ctrl-C, SIGTERM, or a closed terminal.
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
    /// If the system call fails.
    pub fn catch() -> Result<Self, NetError> {
        let failed = |error| NetError::system("catch Ctrl-C", error);
        let (is_set, again) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (wake, wakes) = UnixStream::pair().map_err(failed)?;
        let signals = [SIGINT, SIGTERM, SIGHUP];
        // A signal waits until all of its actions are there: the library loses one that comes after it told the system, and
        // before it has noted the action itself.
        linux::without_signals(&signals, || {
            signals.into_iter().try_for_each(|signal| {
                // The end of the process is before its own flag, which the first signal finds not set.
                flag::register(signal, Arc::clone(&is_set))?;
                low_level::pipe::register(signal, wakes.try_clone()?)?;
                flag::register_conditional_shutdown(signal, 130, Arc::clone(&again))?;
                flag::register(signal, Arc::clone(&again)).map(drop)
            })
        })
        .flatten()
        .map_err(failed)?;
        let wake = Arc::new(wake);
        Ok(Self { is_set, wake })
    }

    /// Simulates a signal.
    pub fn set(&self) {
        self.is_set.store(true, Ordering::SeqCst);
    }

    /// Without signals, for a process with its own handling.
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
    use std::io::Write as _;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    use std::thread;

    #[test]
    fn simulated_time_follows_real_time() {
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
    fn wait_ends_with_input_or_at_its_timeout() {
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
