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

/// All that comes until the connection is closed.
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
fn one_more_connection_takes_the_place_of_the_oldest_idle_one() {
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
fn what_follows_a_request_is_bounded() {
    let served = Served::with(4, 60_000);
    let mut stream = served.say(GET);
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    let sent = (0..1024)
        .map_while(|_| stream.write(&[b'x'; 64 << 10]).ok())
        .sum::<usize>();
    assert!(sent < 64 << 20, "{sent} bytes were taken");
}
