//! `./dev bench serve`: what a client of `spinneret serve` that sends what it likes does to others.
//!
//! The NIC belongs to one client at a time, and others hear so. How long they wait for that answer is measured while a
//! client works that behaves, and while one floods the server with requests whose answers it takes, or does not take.
//! The calls of a client before all of them, and of one behind them, are measured too.

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use serde::Serialize;
use spinneret_host::{Device as _, Nic};
use spinneret_regmap::caps;
use spinneret_table::{Table, figures};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Between two calls of who looks on.
const PAUSE: Duration = Duration::from_millis(3);
/// Hello, and what is sent again and again: a read of a register (`host/src/device/socket/message.rs`).
const HELLO: [u8; 6] = [2, 0, 0, 0, 0, 3];
const READ: [u8; 7] = [3, 0, 0, 0, 1, 0x80, 0x22];
/// Calls of the next client.
const CALLS: usize = 300;

/// What a client of `spinneret serve` that sends what it likes does to others
#[derive(Debug, Parser)]
struct Arguments {
    /// Seconds of each part
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The command
    #[arg(long, default_value = "target/debug/spinneret")]
    spinneret: PathBuf,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// What others noticed of a client.
#[derive(Debug, Serialize)]
struct Row {
    client: &'static str,
    /// Calls of others.
    calls: usize,
    /// Their median, and the 99th of a hundred, in milliseconds.
    median_ms: f64,
    p99_ms: f64,
    /// Requests of the client.
    requests: u64,
    /// Memory of the server, in KiB.
    memory_kib: u64,
}

/// `spinneret serve`, ended with this.
struct Server(Child, PathBuf);

impl Drop for Server {
    fn drop(&mut self) {
        // It is ours, so both can only fail if it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("nic");
    let server = Command::new(&arguments.spinneret)
        .arg("serve")
        .arg(&socket)
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("{} cannot be started", arguments.spinneret.display()))?;
    let mut server = Server(server, socket);
    while !server.1.exists() {
        ensure!(
            server.0.try_wait()?.is_none(),
            "{} ended at once",
            arguments.spinneret.display()
        );
        std::thread::sleep(PAUSE);
    }
    let time = Duration::from_secs(arguments.seconds);
    let mut rows = vec![calls("the first one, all counters", &server)?];
    for (name, client) in CLIENTS {
        rows.push(beside(name, client, &server, time)?);
    }
    rows.push(calls("the last one, all counters", &server)?);
    match arguments.json {
        true => println!("{}", serde_json::to_string_pretty(&rows)?),
        false => println!("{}", table(&rows)),
    }
    Ok(())
}

/// Sends requests until it is over, and counts them.
type Client = fn(&Path, &AtomicBool, &AtomicU64) -> Result<()>;

const CLIENTS: [(&str, Client); 3] = [
    ("one that behaves", behaves),
    ("one that floods", floods),
    ("one that takes no answers", takes_nothing),
];

fn behaves(socket: &Path, is_over: &AtomicBool, requests: &AtomicU64) -> Result<()> {
    let nic = open(socket)?;
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
        stream.shutdown(std::net::Shutdown::Both)?;
        Ok(())
    })
}

/// It is dropped, and comes again.
fn takes_nothing(socket: &Path, is_over: &AtomicBool, requests: &AtomicU64) -> Result<()> {
    while !is_over.load(Ordering::Relaxed) {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_nonblocking(true)?;
        let mut sent = stream.write(&HELLO).is_ok();
        while sent && !is_over.load(Ordering::Relaxed) {
            match stream.write(&READ) {
                Ok(count) => drop(requests.fetch_add((count == READ.len()).into(), Ordering::Relaxed)),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
                Err(_) => sent = false,
            }
        }
    }
    Ok(())
}

fn open(socket: &Path) -> Result<Nic> {
    let name = format!("unix:{}", socket.display());
    let begun = Instant::now();
    loop {
        match Nic::open(&name) {
            Ok(nic) => return Ok(nic),
            Err(error) => ensure!(begun.elapsed() < Duration::from_secs(30), "{error}"),
        }
        std::thread::sleep(PAUSE);
    }
}

/// How long others wait to hear that the NIC is in use.
fn beside(name: &'static str, client: Client, server: &Server, time: Duration) -> Result<Row> {
    let (is_over, requests) = (AtomicBool::new(false), AtomicU64::new(0));
    let socket = server.1.as_path();
    std::thread::scope(|scope| {
        let works = scope.spawn(|| client(socket, &is_over, &requests));
        while requests.load(Ordering::Relaxed) == 0 && !works.is_finished() {
            std::thread::sleep(PAUSE);
        }
        let (begun, mut times) = (Instant::now(), Vec::new());
        while begun.elapsed() < time && !works.is_finished() {
            let call = Instant::now();
            drop(Nic::open(&format!("unix:{}", socket.display())));
            times.push(call.elapsed());
            std::thread::sleep(PAUSE);
        }
        is_over.store(true, Ordering::Relaxed);
        works
            .join()
            .unwrap_or_else(|_| Err(anyhow::anyhow!("the client panicked")))?;
        row(name, times, requests.load(Ordering::Relaxed), server)
    })
}

/// Calls of a client that has the NIC.
fn calls(client: &'static str, server: &Server) -> Result<Row> {
    let nic = open(&server.1)?;
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let call = Instant::now();
        nic.counters()?;
        times.push(call.elapsed());
    }
    row(client, times, CALLS as u64, server)
}

fn row(client: &'static str, mut times: Vec<Duration>, requests: u64, server: &Server) -> Result<Row> {
    times.sort_unstable();
    let at = |percent: usize| {
        times
            .get(times.len() * percent / 100)
            .copied()
            .unwrap_or_default()
    };
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.0.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let memory = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    Ok(Row {
        client,
        calls: times.len(),
        median_ms: ms(at(50)),
        p99_ms: ms(at(99)),
        requests,
        memory_kib: memory.context("the system does not tell how much memory the server has")?,
    })
}

fn table(rows: &[Row]) -> Table {
    let headings = [
        "client",
        "its requests",
        "calls of others",
        "median ms",
        "p99 ms",
        "server KiB",
    ];
    let mut table = figures(headings, &[0, 1]);
    for row in rows {
        table.add_row([
            row.client.to_owned(),
            row.requests.to_string(),
            row.calls.to_string(),
            format!("{:.2}", row.median_ms),
            format!("{:.2}", row.p99_ms),
            row.memory_kib.to_string(),
        ]);
    }
    table
}
