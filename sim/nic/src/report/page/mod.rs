//! A page about a run: live in a browser, and saved as one HTML file.
//!
//! ```text
//! Recorder --> Page: Timeline, last lines --+-- when somebody looks --> PageServer --> browser
//!              (and the summary so far)     +-- at the end ----------> FILE.html
//! ```

mod http;
mod timeline;

pub(crate) use timeline::{Stage, Timeline};

use super::ReportError;
use super::summary::Summary;
use crate::nic::NicConfig;
use http::{Answer, Limits};
use rand::TryRng as _;
use rand::rngs::SysRng;
use rustix::net::listen;
use serde::Serialize;
use spinneret_packets::capture::whole_file::WholeFile;
use std::collections::VecDeque;
use std::io;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use timeline::View;

/// Maximum number of lines on the page.
const LINES: usize = 400;
/// Interval between states for browsers.
const EVERY: Duration = Duration::from_millis(200);

/// Options of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageOptions {
    /// Served on loopback during the run, at this port; 0 selects a free one.
    pub watch: Option<u16>,
    /// Saved to this file at the end.
    pub report: Option<PathBuf>,
    /// Title of the page.
    pub title: String,
}

impl PageOptions {
    fn is_wanted(&self) -> bool {
        self.watch.is_some() || self.report.is_some()
    }
}

/// Contents of the page.
#[derive(Debug)]
pub(crate) struct Page {
    title: String,
    shape: [usize; 2],
    timeline: Timeline,
    lines: VecDeque<String>,
    lines_before: u64,
    server: Option<PageServer>,
    published: Option<Instant>,
    file: Option<(PathBuf, WholeFile)>,
}

/// The state of a run, as the page reads it.
#[derive(Serialize)]
struct State<'a> {
    title: &'a str,
    is_over: bool,
    clusters: usize,
    hpus: usize,
    summary: &'a Summary,
    timeline: View,
    lines: &'a VecDeque<String>,
    /// Number of earlier lines, which are dropped.
    lines_before: u64,
}

impl Page {
    /// A page, if enabled.
    ///
    /// # Errors
    /// If it cannot be served, or its file cannot be written.
    pub(crate) fn open(options: &PageOptions, config: &NicConfig) -> Result<Option<Self>, ReportError> {
        if !options.is_wanted() {
            return Ok(None);
        }
        let file = options.report.as_ref().map(|path| {
            let file = WholeFile::create(path).map_err(|error| ReportError::write("report", path, error))?;
            Ok((path.clone(), file))
        });
        let shape = [config.cluster.clusters, config.cluster.hpus];
        let mut page = Self {
            title: options.title.clone(),
            shape,
            timeline: Timeline::new(shape[0] * shape[1]),
            lines: VecDeque::new(),
            lines_before: 0,
            server: None,
            published: None,
            file: file.transpose()?,
        };
        if let Some(port) = options.watch {
            let state = page.state(&Summary::default(), false);
            let server = PageServer::start(port, &state);
            page.server = Some(server.map_err(|source| ReportError::Page { port, source })?);
        }
        Ok(Some(page))
    }

    /// Address of the page.
    pub(crate) fn address(&self) -> Option<&str> {
        self.server.as_ref().map(PageServer::address)
    }

    /// The timeline.
    pub(crate) fn timeline(&mut self) -> &mut Timeline {
        &mut self.timeline
    }

    /// Adds a line of a handler, or about one.
    pub(crate) fn line(&mut self, text: &str) {
        if self.lines.len() == LINES {
            self.lines.pop_front();
            self.lines_before += 1;
        }
        self.lines.push_back(text.to_owned());
    }

    /// Whether a browser waits for a newer state.
    pub(crate) fn is_due(&self) -> bool {
        let is_asked = self.server.as_ref().is_some_and(PageServer::is_asked);
        is_asked && self.published.is_none_or(|at| at.elapsed() >= EVERY)
    }

    /// Updates the state.
    pub(crate) fn publish(&mut self, summary: &Summary) {
        if let Some(server) = &self.server {
            server.publish(&self.state(summary, false));
            self.published = Some(Instant::now());
        }
    }

    /// Ends the page: errors of writing, and the server that still shows the page.
    pub(crate) fn finish(mut self, summary: &Summary) -> (Option<ReportError>, Option<PageServer>) {
        let state = self.state(summary, true);
        if let Some(server) = &self.server {
            server.publish(&state);
        }
        let file = self.file.take();
        let failure = file.and_then(|(path, file)| save(&path, file, &state).err());
        (failure, self.server)
    }

    fn state(&self, summary: &Summary, is_over: bool) -> String {
        let [clusters, hpus] = self.shape;
        let state = State {
            title: &self.title,
            is_over,
            clusters,
            hpus,
            summary,
            timeline: self.timeline.view(),
            lines: &self.lines,
            lines_before: self.lines_before,
        };
        // Serialization cannot fail: names are text, figures are finite.
        serde_json::to_string(&state).unwrap_or_default()
    }
}

fn save(path: &Path, mut file: WholeFile, state: &str) -> Result<(), ReportError> {
    let written = file.write_all(saved(state).as_bytes());
    let written = written.and_then(|()| file.finish());
    written.map_err(|error| ReportError::write("report", path, error))
}

/// The page; it reads the state from `RUN`, or asks for it where that is empty.
const PAGE: &str = include_str!("page.html");
/// Placeholder of the state.
const RUN: &str = "<!--run-->";

/// The page that polls the state of the run.
pub(super) fn live() -> String {
    PAGE.replacen(RUN, "", 1)
}

/// The page of a completed run, with its last state.
pub(super) fn saved(state: &str) -> String {
    // Within a script element only this could end it, and in JSON it may be written otherwise.
    let state = state.replace('<', "\\u003c");
    PAGE.replacen(RUN, &state, 1)
}

/// After the run, the page is served until no browser has asked for this long.
const LOOKS: Duration = Duration::from_secs(5);
/// Or, if no browser ever asked, for this long.
const FIRST_LOOK: Duration = Duration::from_secs(30);
/// Backlog of connections. With fewer, one more would be lost, and be retried after a second.
const BACKLOG: i32 = 1024;
/// Interval between checks for browsers.
const PAUSE: Duration = Duration::from_millis(100);

/// Server of the page, until it is dropped.
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
    /// Prefix of all paths.
    root: String,
    page: Arc<str>,
    /// The newest state, as JSON.
    state: Mutex<Arc<str>>,
    /// Whether the newest state was fetched.
    is_asked: AtomicBool,
    looked: Mutex<Option<Instant>>,
}

impl PageServer {
    /// Serves at a port of loopback; 0 selects a free one.
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

    /// Address of the page.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Whether a browser has fetched the last state.
    pub(crate) fn is_asked(&self) -> bool {
        self.shared.is_asked.load(Ordering::Relaxed)
    }

    /// The newest state.
    pub(crate) fn publish(&self, state: &str) {
        *lock(&self.shared.state) = state.into();
        self.shared.is_asked.store(false, Ordering::Relaxed);
    }

    /// Waits until no browser shows the page, or `is_over`.
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
            // The thread only returns, and has no result.
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

/// A random path: other users of this machine reach loopback as well.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    SysRng.try_fill_bytes(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The data is always consistent, so a poisoned lock is ignored.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_one_placeholder() {
        assert_eq!(PAGE.matches(RUN).count(), 1);
        assert!(!live().contains(RUN));
    }

    #[test]
    fn output_of_handlers_cannot_end_the_script() {
        let page = saved("{\"lines\":[\"</script><script>alert(1)</script>\"]}");
        assert!(page.contains("\\u003c/script>\\u003cscript>"));
        assert_eq!(
            page.matches("</script>").count(),
            PAGE.matches("</script>").count()
        );
    }
}
