//! Requests to the page of a run, of those who know its address and of those who do not.

use crate::mutate::damaged;
use crate::{Fed, Target};
use anyhow::Context as _;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use spinneret_nic::nic::NicConfig;
use spinneret_nic::report::{Options, PageOptions, Recorder};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Stands in inputs for the part of the address that nobody guesses: it is another one in each process.
const TOKEN: &str = "TOKEN";
/// Good requests to begin with.
const GOOD: [&str; 5] = [
    "GET /TOKEN/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "GET /TOKEN/state HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAccept: */*\r\n\r\n",
    "GET /TOKEN/state HTTP/1.0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nCookie: a=b; c=d\r\nUser-Agent: x\r\n\r\n",
    "POST /TOKEN/state HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nstate",
];
/// Connections of an input that are there at once; now and then more than the page serves at once.
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
        // Who is dropped early does not send everything.
        let _ = stream
            .write_all(request)
            .and_then(|()| stream.shutdown(Shutdown::Write));
        Ok(stream)
    }
}

/// What was answered, until the connection was closed.
fn answer(mut stream: TcpStream) -> Result<Vec<u8>, String> {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            Err(format!("a connection is open after {} s", PATIENCE.as_secs()))
        }
        // Who was dropped may find the connection reset.
        _ => Ok(answer),
    }
}

fn status(answer: &[u8]) -> Option<u16> {
    let status = answer.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    str::from_utf8(status).ok()?.parse().ok()
}

/// The connections of an input: each is a length of 16 bits, and what is sent.
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
    fn pieces(&self) -> &'static str {
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
            let mut request = damaged(&good, rng);
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

    fn run(&mut self, input: &[u8]) -> Result<Fed, String> {
        let requests: Vec<Vec<u8>> = connections(input)
            .into_iter()
            .map(|request| replace(request, TOKEN.as_bytes(), self.token.as_bytes()))
            .collect();
        let open = requests.iter().map(|request| self.send(request));
        let open = open.collect::<Result<Vec<_>, _>>()?;
        let mut fed = Fed::default();
        for (request, stream) in requests.iter().zip(open) {
            let answer = answer(stream)?;
            fed.pieces += 1;
            match status(&answer) {
                None if answer.is_empty() => {}
                Some(400 | 431) => {}
                Some(404) => fed.understood += 1,
                Some(200) if find(request, self.token.as_bytes()).is_some() => fed.understood += 1,
                status => return Err(format!("it answers with {status:?} to {request:?}")),
            }
        }
        let state = self.send(format!("GET /{}/state HTTP/1.1\r\n\r\n", self.token).as_bytes())?;
        match status(&answer(state)?) {
            Some(200) => Ok(fed),
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
