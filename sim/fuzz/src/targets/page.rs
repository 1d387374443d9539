//! HTTP requests to the live page of a run, with and without its secret address.

use crate::{Counts, Target, mutate};
use anyhow::Context as _;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use spinneret_nic::nic::NicConfig;
use spinneret_nic::report::{Options, PageOptions, Recorder};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Placeholder for the random part of the address, which differs in each process.
const TOKEN: &str = "TOKEN";
/// Valid requests as seeds.
const GOOD: [&str; 5] = [
    "GET /TOKEN/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "GET /TOKEN/state HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAccept: */*\r\n\r\n",
    "GET /TOKEN/state HTTP/1.0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nCookie: a=b; c=d\r\nUser-Agent: x\r\n\r\n",
    "POST /TOKEN/state HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nstate",
];
/// Concurrent connections of an input; `TOO_MANY` exceeds the limit of the page.
const CONNECTIONS: usize = 24;
const TOO_MANY: usize = 48;
/// Longest that an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A page of a run that stands still.
pub(super) struct Page {
    address: SocketAddr,
    token: String,
    _recorder: Recorder,
}

impl Page {
    pub(super) fn new() -> anyhow::Result<Self> {
        let options = Options {
            page: PageOptions {
                watch: Some(0),
                ..PageOptions::default()
            },
            ..Options::silent()
        };
        let recorder = Recorder::new(options, None, &NicConfig::default())?;
        let address = recorder.page_address().context("the page is served")?;
        let mut parts = address.trim_start_matches("http://").split('/');
        let mut part = || parts.next().context("the page has an address");
        Ok(Self {
            address: part()?.parse()?,
            token: part()?.to_owned(),
            _recorder: recorder,
        })
    }

    /// Connects and sends everything, as far as it is taken.
    fn send(&self, request: &[u8]) -> Result<TcpStream, String> {
        let connected = TcpStream::connect_timeout(&self.address, PATIENCE).and_then(|stream| {
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Ok(stream)
        });
        let mut stream = connected.map_err(|error| format!("the page is gone: {error}"))?;
        // Ignore errors: a client that is dropped early cannot send everything.
        let _ = stream
            .write_all(request)
            .and_then(|()| stream.shutdown(Shutdown::Write));
        Ok(stream)
    }
}

/// Returns the answer until the connection closes.
fn answer(mut stream: TcpStream) -> Result<Vec<u8>, String> {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            Err(format!("a connection is open after {} s", PATIENCE.as_secs()))
        }
        // A dropped client may see a reset.
        _ => Ok(answer),
    }
}

fn status(answer: &[u8]) -> Option<u16> {
    let status = answer.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    str::from_utf8(status).ok()?.parse().ok()
}

/// Splits an input into connections: a length of 16 bits, then the request.
fn connections(mut input: &[u8]) -> Vec<&[u8]> {
    let mut connections = Vec::new();
    while let Some((length, rest)) = input.split_first_chunk() {
        let (request, rest) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
        connections.push(request);
        input = rest;
        if connections.len() == TOO_MANY {
            break;
        }
    }
    connections
}

impl Target for Page {
    fn unit(&self) -> &'static str {
        "requests"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        let good = GOOD.map(Vec::from);
        let count = match rng.random_ratio(1, 20) {
            true => TOO_MANY,
            false => rng.random_range(1..CONNECTIONS),
        };
        let mut input = Vec::new();
        for _ in 0..count {
            let mut request = mutate(&good, rng);
            if rng.random_ratio(1, 20) && !request.is_empty() {
                let at = rng.random_range(0..request.len());
                let again = request[at..].repeat(rng.random_range(1..2000));
                request.extend(again);
            }
            request.truncate(u16::MAX.into());
            input.extend((request.len() as u16).to_le_bytes());
            input.extend(request);
        }
        input
    }

    fn run(&mut self, input: &[u8]) -> Result<Counts, String> {
        let requests: Vec<Vec<u8>> = connections(input)
            .into_iter()
            .map(|request| replace(request, TOKEN.as_bytes(), self.token.as_bytes()))
            .collect();
        let open = requests.iter().map(|request| self.send(request));
        let open = open.collect::<Result<Vec<_>, _>>()?;
        let mut counts = Counts::default();
        for (request, stream) in requests.iter().zip(open) {
            let answer = answer(stream)?;
            counts.pieces += 1;
            match status(&answer) {
                None if answer.is_empty() => {}
                Some(400 | 431) => {}
                Some(404) => counts.understood += 1,
                Some(200) if find(request, self.token.as_bytes()).is_some() => counts.understood += 1,
                status => return Err(format!("it answers with {status:?} to {request:?}")),
            }
        }
        let state = self.send(format!("GET /{}/state HTTP/1.1\r\n\r\n", self.token).as_bytes())?;
        match status(&answer(state)?) {
            Some(200) => Ok(counts),
            status => Err(format!("the next browser is answered with {status:?}")),
        }
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn replace(mut bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::new();
    while let Some(at) = find(bytes, from) {
        replaced.extend(&bytes[..at]);
        replaced.extend(to);
        bytes = &bytes[at + from.len()..];
    }
    replaced.extend(bytes);
    replaced
}
