//! Serves the page of a run on loopback, to whoever knows its address.

use super::document;
use rand::TryRng as _;
use rand::rngs::SysRng;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tiny_http::{Header, Method, Request, Response, Server};

/// After the end of the run the page is there until nobody has looked for so long.
const LOOKS: Duration = Duration::from_secs(5);
/// Or, if nobody ever looked, for so long.
const FIRST_LOOK: Duration = Duration::from_secs(30);
/// Between two questions whether somebody still looks.
const PAUSE: Duration = Duration::from_millis(100);

/// The page, as long as this lives.
#[derive(Debug)]
pub(crate) struct PageServer {
    shared: Arc<Shared>,
    address: String,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    server: Server,
    /// What stands before the names of everything that is served.
    root: String,
    /// The newest state, as JSON.
    state: Mutex<Arc<str>>,
    /// Somebody has taken the newest state.
    is_asked: AtomicBool,
    looked: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

impl PageServer {
    /// Serves at a port of loopback, 0 for any that is free.
    ///
    /// # Errors
    /// If the port is taken, or the system has no random numbers.
    pub(crate) fn start(port: u16, state: &str) -> io::Result<Self> {
        let server = Server::http(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).map_err(io::Error::other)?;
        let at = server
            .server_addr()
            .to_ip()
            .ok_or_else(|| io::Error::other("the page is at no address"))?;
        let root = format!("/{}/", token()?);
        let address = format!("http://{at}{root}");
        let shared = Arc::new(Shared {
            server,
            root,
            state: Mutex::new(state.into()),
            is_asked: AtomicBool::new(true),
            looked: Mutex::new(None),
        });
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("page".to_owned())
            .spawn(move || {
                for request in serving.server.incoming_requests() {
                    serving.answer(request);
                }
            })?;
        Ok(Self {
            shared,
            address,
            thread: Some(thread),
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
        self.shared.server.unblock();
        if let Some(thread) = self.thread.take() {
            // It only ends by itself, and has nothing to tell.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn answer(&self, request: Request) {
        let name = request.url().strip_prefix(&self.root).map(str::to_owned);
        let is_read = *request.method() == Method::Get;
        // Who has left takes no answer, and the run goes on.
        let _ = match name.as_deref().filter(|_| is_read) {
            Some("") => request.respond(page("text/html; charset=utf-8", document::live())),
            Some("state") => {
                let state = lock(&self.state).to_string();
                self.is_asked.store(true, Ordering::Relaxed);
                *lock(&self.looked) = Some(Instant::now());
                request.respond(page("application/json", state))
            }
            _ => request.respond(Response::from_string("not found\n").with_status_code(404)),
        };
    }
}

fn page(kind: &str, text: String) -> Response<io::Cursor<Vec<u8>>> {
    let headers = [
        ("Content-Type", kind),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:",
        ),
    ];
    let headers = headers
        .iter()
        .filter_map(|(name, value)| Header::from_bytes(name.as_bytes(), value.as_bytes()).ok());
    headers.fold(Response::from_string(text), Response::with_header)
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
