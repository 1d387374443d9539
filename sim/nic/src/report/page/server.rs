//! Serves the page of a run on loopback, to whoever knows its address.

use super::http::{self, Answer, Limits};
use super::live;
use rand::TryRng as _;
use rand::rngs::SysRng;
use rustix::net::listen;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// After the end of the run the page is there until nobody has looked for so long.
const LOOKS: Duration = Duration::from_secs(5);
/// Or, if nobody ever looked, for so long.
const FIRST_LOOK: Duration = Duration::from_secs(30);
/// Connections that wait to be taken in. With fewer, one more would be lost, and be tried again after a second.
const BACKLOG: i32 = 1024;
/// Between two questions whether somebody still looks.
const PAUSE: Duration = Duration::from_millis(100);

/// The page, as long as this lives.
#[derive(Debug)]
pub(crate) struct PageServer {
    shared: Arc<Shared>,
    address: String,
    thread: Option<JoinHandle<()>>,
    /// The thread ends when this is closed.
    end: Option<UnixStream>,
}

#[derive(Debug)]
struct Shared {
    /// What stands before the names of everything that is served.
    root: String,
    page: Arc<str>,
    /// The newest state, as JSON.
    state: Mutex<Arc<str>>,
    /// Somebody has taken the newest state.
    is_asked: AtomicBool,
    looked: Mutex<Option<Instant>>,
}

impl PageServer {
    /// Serves at a port of loopback, 0 for any that is free.
    ///
    /// # Errors
    /// If the port is taken, or the system has no random numbers.
    pub(crate) fn start(port: u16, state: &str) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        listen(&listener, BACKLOG)?;
        let at = listener.local_addr()?;
        let root = format!("/{}/", token()?);
        let address = format!("http://{at}{root}");
        let shared = Arc::new(Shared {
            root,
            page: live().into(),
            state: Mutex::new(state.into()),
            is_asked: AtomicBool::new(true),
            looked: Mutex::new(None),
        });
        let serving = Arc::clone(&shared);
        let (end, ends) = UnixStream::pair()?;
        let thread = std::thread::Builder::new()
            .name("page".to_owned())
            .spawn(move || {
                http::serve(&listener, &ends, Limits::default(), |method, path| {
                    serving.answer(method, path)
                });
            })?;
        Ok(Self {
            shared,
            address,
            thread: Some(thread),
            end: Some(end),
        })
    }

    /// Where the page is.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Whether somebody wants a newer state than the last.
    pub(crate) fn is_asked(&self) -> bool {
        self.shared.is_asked.load(Ordering::Relaxed)
    }

    /// The newest state.
    pub(crate) fn publish(&self, state: &str) {
        *lock(&self.shared.state) = state.into();
        self.shared.is_asked.store(false, Ordering::Relaxed);
    }

    /// Waits until nobody looks any more, or `is_over`.
    pub(crate) fn linger(&self, is_over: impl Fn() -> bool) {
        let ended = Instant::now();
        while !is_over() {
            let looked = *lock(&self.shared.looked);
            let (since, patience) = looked.map_or((ended, FIRST_LOOK), |looked| (looked.max(ended), LOOKS));
            if since.elapsed() >= patience {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It only ends by itself, and has nothing to tell.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn answer(&self, method: &str, path: &str) -> Answer {
        let name = path.strip_prefix(&self.root).filter(|_| method == "GET");
        let (kind, body) = match name {
            Some("") => ("text/html; charset=utf-8", Arc::clone(&self.page)),
            Some("state") => {
                let state = Arc::clone(&lock(&self.state));
                self.is_asked.store(true, Ordering::Relaxed);
                *lock(&self.looked) = Some(Instant::now());
                ("application/json", state)
            }
            _ => return Answer::refusal("404 Not Found"),
        };
        Answer {
            status: "200 OK",
            kind,
            body,
        }
    }
}

/// What nobody guesses: other users of this machine reach loopback as well.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    SysRng.try_fill_bytes(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What is behind the lock is whole at any time, also if somebody who held it is gone.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
