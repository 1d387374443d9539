//! `./dev bench serve`: effect of a hostile client of `spinneret serve` on other clients.
//!
//! The NIC belongs to one client at a time; the server rejects others. Measures how long that rejection takes while a
//! client behaves, floods the server with requests, or does not read replies. Also measures calls of a client before
//! and after all of them.

use crate::harness::{Cell, PAUSE, Server, Sheet, Spinneret, connect, memory_bytes};
use anyhow::{Result, anyhow};
use clap::Args;
use serde_json::{Value, json};
use spinneret_host::device::socket::VERSION;
use spinneret_host::{Device as _, Nic};
use spinneret_regmap::caps;
use spinneret_table::bench::{Bars, Spread};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Hello, and a register read that is sent repeatedly (`host/src/device/socket/message.rs`).
const HELLO: [u8; 6] = [2, 0, 0, 0, 0, VERSION as u8];
const READ: [u8; 7] = [3, 0, 0, 0, 1, 0x80, 0x22];
/// Calls of the first and the last client.
const CALLS: usize = 300;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Seconds of each part
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    #[command(flatten)]
    spinneret: Spinneret,
}

/// Cells of a row: a client, its requests, and what other clients measured meanwhile.
type Row = [Cell; 6];

fn row(client: &'static str, milliseconds: &Spread, requests: u64, server: &Server) -> Result<Row> {
    Ok([
        client.into(),
        Cell::Count(requests),
        Cell::Count(milliseconds.values().len() as u64),
        Cell::Number(milliseconds.median(), 2),
        Cell::Number(milliseconds.percentile(99), 2),
        Cell::Count(memory_bytes(server.process(), "VmRSS")? >> 10),
    ])
}

pub(crate) fn run(arguments: &Arguments, _: &mut Bars) -> Result<Value> {
    let server = Server::start(&arguments.spinneret.path()?, &[])?;
    let time = Duration::from_secs(arguments.seconds);
    let mut sheet = Sheet::new([
        ("client", "client"),
        ("requests", "its requests"),
        ("calls", "calls of others"),
        ("median_ms", "median ms"),
        ("p99_ms", "p99 ms"),
        ("memory_kib", "server KiB"),
    ]);
    sheet.add(calls("the first one, all counters", &server)?);
    for (name, client) in CLIENTS {
        sheet.add(beside(name, client, &server, time)?);
    }
    sheet.add(calls("the last one, all counters", &server)?);
    Ok(json!(sheet.print()))
}

/// Sends requests until it is over, and counts them.
type Client = fn(&Path, &AtomicBool, &AtomicU64) -> Result<()>;

const CLIENTS: [(&str, Client); 3] = [
    ("one that behaves", behaves),
    ("one that floods", floods),
    ("one that takes no answers", takes_nothing),
];

fn behaves(socket: &Path, is_over: &AtomicBool, requests: &AtomicU64) -> Result<()> {
    let nic = connect(socket, open)?;
    while !is_over.load(Ordering::Relaxed) {
        nic.device().read_register(caps::MAGIC.offset)?;
        requests.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn floods(socket: &Path, is_over: &AtomicBool, requests: &AtomicU64) -> Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(&HELLO)?;
    let mut answers = stream.try_clone()?;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut bytes = [0; 1 << 16];
            while answers.read(&mut bytes).is_ok_and(|count| count > 0) {}
        });
        let many = READ.repeat(500);
        while !is_over.load(Ordering::Relaxed) {
            stream.write_all(&many)?;
            requests.fetch_add(500, Ordering::Relaxed);
        }
        stream.shutdown(Shutdown::Both)?;
        Ok(())
    })
}

/// The server drops this client, which then reconnects.
fn takes_nothing(socket: &Path, is_over: &AtomicBool, requests: &AtomicU64) -> Result<()> {
    while !is_over.load(Ordering::Relaxed) {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_nonblocking(true)?;
        let mut sent = stream.write(&HELLO).is_ok();
        while sent && !is_over.load(Ordering::Relaxed) {
            match stream.write(&READ) {
                Ok(count) => drop(requests.fetch_add((count == READ.len()).into(), Ordering::Relaxed)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
                Err(_) => sent = false,
            }
        }
    }
    Ok(())
}

fn open(socket: &Path) -> Result<Nic, spinneret_host::Error> {
    Nic::open(&format!("unix:{}", socket.display()))
}

/// Measures how long others wait for the answer that the NIC is in use.
fn beside(name: &'static str, client: Client, server: &Server, time: Duration) -> Result<Row> {
    let (is_over, requests) = (AtomicBool::new(false), AtomicU64::new(0));
    let socket = server.socket();
    std::thread::scope(|scope| {
        let works = scope.spawn(|| client(&socket, &is_over, &requests));
        while requests.load(Ordering::Relaxed) == 0 && !works.is_finished() {
            std::thread::sleep(PAUSE);
        }
        let (begun, mut times) = (Instant::now(), Vec::new());
        while begun.elapsed() < time && !works.is_finished() {
            let call = Instant::now();
            drop(open(&socket));
            times.push(call.elapsed().as_secs_f64() * 1e3);
            std::thread::sleep(PAUSE);
        }
        is_over.store(true, Ordering::Relaxed);
        works
            .join()
            .unwrap_or_else(|_| Err(anyhow!("the client panicked")))?;
        let times = times.into_iter().collect();
        row(name, &times, requests.load(Ordering::Relaxed), server)
    })
}

/// Measures calls of the client that owns the NIC.
fn calls(client: &'static str, server: &Server) -> Result<Row> {
    let nic = connect(&server.socket(), open)?;
    let call = |_| {
        let begun = Instant::now();
        nic.counters()?;
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    };
    let times = (0..CALLS).map(call).collect::<Result<_>>()?;
    row(client, &times, CALLS as u64, server)
}
