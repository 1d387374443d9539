//! A small HTTP server on one thread. It uses a bounded number of connections, a bounded amount of
//! memory and at most a twentieth of a processor, whatever its clients do.
//!
//! ```text
//! accept --> Asking: up to 8 KiB of a head --> RpcService --> Leaving: until the client closes
//!               |                                 |             |
//!               +------ 5 s, or room is needed for another -----+--> dropped
//! ```
//!
//! Each connection is for one request: a browser asks a few times a second, and a connection on loopback costs little.

use httparse::{EMPTY_HEADER, Error, Request, Status};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest head of a request, and the most that a client may send after it, in bytes.
const HEAD_BYTES: usize = 8 << 10;
/// Most header lines of a request.
const HEADERS: usize = 64;
/// New connections that are accepted before the others are served.
const ACCEPTED_AT_ONCE: usize = 16;
/// Pause after running out of descriptors.
const REST: Duration = Duration::from_millis(100);
/// Ratio of sleep to processor time of this thread.
const OTHERS: u32 = 19;
/// Maximum pause of that kind.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// Limits of all clients together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Connections at once. One more takes the place of the oldest that is not being answered.
    pub(super) connections: usize,
    /// Time for a client to send its request, and again to take the answer.
    pub(super) patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 32,
            patience: Duration::from_secs(5),
        }
    }
}

/// An answer to a request.
pub(super) struct Answer {
    /// Status code and reason.
    pub(super) status: &'static str,
    /// Type of the content.
    pub(super) kind: &'static str,
    pub(super) body: Arc<str>,
}

impl Answer {
    /// Refuses a request.
    pub(super) fn refusal(status: &'static str) -> Self {
        Self {
            status,
            kind: "text/plain",
            body: format!("{status}\n").into(),
        }
    }
}

/// Serves until the other end of `end` is closed; `answer` gets the method and the path of each request.
///
/// Errors of the system close connections, never the server: without descriptors it drops the oldest connection, or waits.
pub(super) fn serve(
    listener: &TcpListener,
    end: &UnixStream,
    limits: Limits,
    answer: impl Fn(&str, &str) -> Answer,
) {
    let mut connections = Connections {
        open: Vec::with_capacity(limits.connections),
        limits,
    };
    let mut rests_until: Option<Instant> = None;
    loop {
        let rests = rests_until.is_some_and(|until| until > Instant::now());
        let Some(ready) = connections.wait(end, (!rests).then_some(listener), rests_until) else {
            return;
        };
        let before = spent();
        connections.go_on(&ready, &answer);
        if !rests {
            rests_until = connections
                .accept(listener)
                .is_err()
                .then(|| Instant::now() + REST);
        }
        std::thread::sleep(LONGEST_PAUSE.min(OTHERS * (spent().saturating_sub(before))));
    }
}

/// Processor time of this thread.
fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap_or(0),
        time.tv_nsec.try_into().unwrap_or(0),
    )
}

/// All connections, the oldest first.
struct Connections {
    open: Vec<Connection>,
    limits: Limits,
}

impl Connections {
    /// Waits for ready connections; returns nothing at the end of the server.
    fn wait(
        &self,
        end: &UnixStream,
        listener: Option<&TcpListener>,
        rests_until: Option<Instant>,
    ) -> Option<Vec<bool>> {
        let mut fds = vec![PollFd::new(end, PollFlags::IN)];
        fds.extend(self.open.iter().map(Connection::waits_for));
        fds.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
        let rest = rests_until.filter(|_| listener.is_none());
        let first = self
            .open
            .iter()
            .map(|connection| connection.until)
            .chain(rest)
            .min();
        let time = first.map(|until| until.saturating_duration_since(Instant::now()));
        let time = time.and_then(|time| Timespec::try_from(time).ok());
        if poll(&mut fds, time.as_ref()).is_err() {
            // A signal, or a system without memory: all are tried, and none of that blocks.
            std::thread::sleep(Duration::from_millis(1));
            return Some(vec![true; self.open.len()]);
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        (ready.next() == Some(false)).then(|| ready.take(self.open.len()).collect())
    }

    /// Serves the connections that are ready, and drops those whose time is over.
    fn go_on(&mut self, ready: &[bool], answer: &impl Fn(&str, &str) -> Answer) {
        let (now, patience) = (Instant::now(), self.limits.patience);
        let mut ready = ready.iter();
        self.open.retain_mut(|connection| {
            let is_ready = ready.next().is_some_and(|ready| *ready);
            connection.until > now && (!is_ready || connection.go_on(patience, answer).is_ok())
        });
    }

    /// Takes in new connections.
    ///
    /// # Errors
    /// If the system has no room for one, and none can be dropped for it.
    fn accept(&mut self, listener: &TcpListener) -> io::Result<()> {
        for _ in 0..ACCEPTED_AT_ONCE {
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if is_passing(&error) => continue,
                Err(_) if self.drop_one() => continue,
                Err(error) => return Err(error),
            };
            stream.set_nonblocking(true)?;
            if self.open.len() >= self.limits.connections {
                self.drop_one();
            }
            self.open.push(Connection {
                stream,
                until: Instant::now() + self.limits.patience,
                phase: Phase::Asking(Vec::new()),
            });
        }
        Ok(())
    }

    /// Drops the oldest connection that is not being answered, or else the oldest: whether there was one.
    fn drop_one(&mut self) -> bool {
        let is_idle = |connection: &Connection| !matches!(connection.phase, Phase::RpcService { .. });
        let place = self.open.iter().position(is_idle).unwrap_or(0);
        let is_there = place < self.open.len();
        if is_there {
            self.open.remove(place);
        }
        is_there
    }
}

/// One connection.
struct Connection {
    stream: TcpStream,
    /// Time at which it is dropped.
    until: Instant,
    phase: Phase,
}

enum Phase {
    /// Receiving the head of the request; bytes so far.
    Asking(Vec<u8>),
    /// Sending the answer: its head, its body, and bytes sent so far.
    RpcService {
        head: String,
        body: Arc<str>,
        sent: usize,
    },
    /// The answer was sent. Further input is read, because closing would reset the connection; bytes so far.
    Leaving(usize),
}

/// A connection that has ended.
struct Over;

impl Connection {
    fn waits_for(&self) -> PollFd<'_> {
        let flags = match self.phase {
            Phase::RpcService { .. } => PollFlags::OUT,
            _ => PollFlags::IN,
        };
        PollFd::new(&self.stream, flags)
    }

    /// Reads or writes as much as possible without waiting.
    fn go_on(&mut self, patience: Duration, answer: &impl Fn(&str, &str) -> Answer) -> Result<(), Over> {
        match &mut self.phase {
            Phase::Asking(asked) => {
                let mut bytes = [0; HEAD_BYTES];
                let count = read(&self.stream, &mut bytes[asked.len()..])?;
                asked.extend(&bytes[asked.len()..][..count]);
                let answer = match parse(asked) {
                    Ok(Some((method, path))) => answer(method, path),
                    Ok(None) if asked.len() < HEAD_BYTES => return Ok(()),
                    Ok(None) => Answer::refusal(TOO_LARGE),
                    Err(status) => Answer::refusal(status),
                };
                self.until = Instant::now() + patience;
                self.phase = Phase::RpcService {
                    head: head(&answer),
                    body: answer.body,
                    sent: 0,
                };
                self.send()
            }
            Phase::RpcService { .. } => self.send(),
            Phase::Leaving(came) => {
                *came += read(&self.stream, &mut [0; HEAD_BYTES])?;
                (*came <= HEAD_BYTES).then_some(()).ok_or(Over)
            }
        }
    }

    /// Sends as much of the answer as the client takes.
    fn send(&mut self) -> Result<(), Over> {
        while let Phase::RpcService { head, body, sent } = &mut self.phase {
            let rest = match sent.checked_sub(head.len()) {
                None => &head.as_bytes()[*sent..],
                Some(sent) => &body.as_bytes()[sent..],
            };
            if rest.is_empty() {
                self.stream.shutdown(Shutdown::Write).map_err(|_| Over)?;
                self.phase = Phase::Leaving(0);
                break;
            }
            match self.stream.write(rest) {
                Ok(count) => *sent += count,
                Err(error) if is_passing(&error) => break,
                Err(_) => return Err(Over),
            }
        }
        Ok(())
    }
}

/// Reads what is there; nothing may be. The end of the stream is the end of the connection.
fn read(mut stream: &TcpStream, bytes: &mut [u8]) -> Result<usize, Over> {
    match stream.read(bytes) {
        Ok(0) => Err(Over),
        Ok(count) => Ok(count),
        Err(error) if is_passing(&error) => Ok(0),
        Err(_) => Err(Over),
    }
}

/// Whether the same call may succeed later.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted
    )
}

const TOO_LARGE: &str = "431 Request Header Fields Too Large";

/// Method and path of a request; nothing before its head is whole, and the status of a refusal if it is none.
fn parse(asked: &[u8]) -> Result<Option<(&str, &str)>, &'static str> {
    let mut headers = [EMPTY_HEADER; HEADERS];
    let mut request = Request::new(&mut headers);
    match request.parse(asked) {
        Ok(Status::Complete(_)) => Ok(request.method.zip(request.path)),
        Ok(Status::Partial) => Ok(None),
        Err(Error::TooManyHeaders) => Err(TOO_LARGE),
        Err(_) => Err("400 Bad Request"),
    }
}

fn head(answer: &Answer) -> String {
    let Answer { status, kind, body } = answer;
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:\r\n\r\n",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::JoinHandle;

    /// More than the buffers of both ends of a connection hold.
    const LARGE: usize = 16 << 20;

    /// A server of a short text at `/` and a long one at `/large`.
    struct Served {
        port: u16,
        end: Option<UnixStream>,
        thread: Option<JoinHandle<()>>,
    }

    impl Served {
        fn with(connections: usize, patience_ms: u64) -> Self {
            let limits = Limits {
                connections,
                patience: Duration::from_millis(patience_ms),
            };
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.set_nonblocking(true).unwrap();
            let port = listener.local_addr().unwrap().port();
            let (end, ends) = UnixStream::pair().unwrap();
            let large: Arc<str> = "x".repeat(LARGE).into();
            let thread = std::thread::spawn(move || {
                serve(&listener, &ends, limits, |method, path| match (method, path) {
                    ("GET", "/") => Answer {
                        status: "200 OK",
                        kind: "text/plain",
                        body: "here".into(),
                    },
                    ("GET", "/large") => Answer {
                        status: "200 OK",
                        kind: "text/plain",
                        body: Arc::clone(&large),
                    },
                    _ => Answer::refusal("404 Not Found"),
                });
            });
            Self {
                port,
                end: Some(end),
                thread: Some(thread),
            }
        }

        fn connect(&self) -> TcpStream {
            let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            stream
        }

        fn say(&self, text: impl AsRef<[u8]>) -> TcpStream {
            let mut stream = self.connect();
            stream.write_all(text.as_ref()).unwrap();
            stream
        }

        fn ask(&self, text: impl AsRef<[u8]>) -> String {
            rest(self.say(text))
        }
    }

    impl Drop for Served {
        fn drop(&mut self) {
            drop(self.end.take());
            let ended = self.thread.take().map(JoinHandle::join);
            assert!(ended.is_some_and(|ended| ended.is_ok()));
        }
    }

    /// All bytes until the connection is closed.
    fn rest(mut stream: TcpStream) -> String {
        let mut text = Vec::new();
        match stream.read_to_end(&mut text) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
        String::from_utf8(text).unwrap()
    }

    const GET: &str = "GET / HTTP/1.1\r\n\r\n";

    #[test]
    fn requests_are_answered_and_others_refused() {
        let served = Served::with(4, 60_000);
        let many = "X: y\r\n".repeat(HEADERS + 1);
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(HEAD_BYTES));
        let body = format!(
            "POST / HTTP/1.1\r\nContent-Length: 4096\r\n\r\n{}",
            "b".repeat(4096)
        );
        for (text, status) in [
            (GET, "200 OK"),
            ("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", "200 OK"),
            ("GET /other HTTP/1.1\r\n\r\n", "404 Not Found"),
            ("HEAD / HTTP/1.1\r\n\r\n", "404 Not Found"),
            (&body, "404 Not Found"),
            ("\0\0\0\0", "400 Bad Request"),
            ("GET / HTTP/1.1\r\n: y\r\n\r\n", "400 Bad Request"),
            ("GET / SIP/2.0\r\n\r\n", "400 Bad Request"),
            (&format!("GET / HTTP/1.1\r\n{many}\r\n"), TOO_LARGE),
            (&long, TOO_LARGE),
        ] {
            let answer = served.ask(text);
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status}\r\n")),
                "{status} to {text:.40}: {answer}"
            );
        }
        assert!(served.ask(GET).ends_with("\r\n\r\nhere"));
    }

    #[test]
    fn a_request_in_pieces_is_answered() {
        let served = Served::with(4, 60_000);
        let mut stream = served.connect();
        for byte in GET.bytes() {
            stream.write_all(&[byte]).unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(rest(stream).ends_with("here"));
    }

    #[test]
    fn a_new_connection_replaces_the_oldest_idle_one() {
        let served = Served::with(3, 60_000);
        let taking = served.say("GET /large HTTP/1.1\r\n\r\n");
        let mut first = [0; 1];
        taking.peek(&mut first).unwrap();
        let idle: Vec<TcpStream> = (0..10).map(|_| served.connect()).collect();
        assert!(served.ask(GET).ends_with("here"));
        // Two of the ten may have a place; the others are closed.
        for stream in idle.into_iter().take(8) {
            assert_eq!(rest(stream), "");
        }
        assert!(rest(taking).len() > LARGE);
    }

    #[test]
    fn slow_clients_are_dropped() {
        let served = Served::with(4, 150);
        let begun = Instant::now();
        assert_eq!(rest(served.connect()), "");
        assert_eq!(rest(served.say("GET / HT")), "");
        // Takes the first bytes only.
        let mut taking = served.say("GET /large HTTP/1.1\r\n\r\n");
        taking.read_exact(&mut [0; 100]).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert!(rest(taking).len() < LARGE);
        // Keeps the connection after its answer.
        let stream = served.say(GET);
        std::thread::sleep(Duration::from_millis(300));
        assert!(rest(stream).ends_with("here"));
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn input_after_a_request_is_bounded() {
        let served = Served::with(4, 60_000);
        let mut stream = served.say(GET);
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        let sent = (0..1024)
            .map_while(|_| stream.write(&[b'x'; 64 << 10]).ok())
            .sum::<usize>();
        assert!(sent < 64 << 20, "{sent} bytes were taken");
    }
}
