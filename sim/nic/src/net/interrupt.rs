//! Ctrl-C as a question, so that a run ends in order.

use super::NetError;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
