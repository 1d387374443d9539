//! The common part of these benches: the command and the server that they start, memory, and pictures.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use clap::Args;
use serde_json::{Value, json};
use spinneret_cluster::{Event, Program};
use spinneret_nic::installed::example;
use spinneret_nic::net::generator::check_reply;
use spinneret_nic::nic::{Nic, NicConfig};
use spinneret_nic::picture::{Area, Painted, svg};
use spinneret_nic::run;
use spinneret_rules::{MatcherParams, RuleFile};
use spinneret_table::bench::write;
use spinneret_table::{Table, figures};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Between two attempts.
pub(crate) const PAUSE: Duration = Duration::from_millis(3);
/// Longest that a server takes to accept a client.
const PATIENCE: Duration = Duration::from_secs(30);

/// The command `spinneret`, for benches that start it.
#[derive(Debug, Args)]
pub(crate) struct Spinneret {
    /// Command to measure [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    spinneret: Option<PathBuf>,
}

impl Spinneret {
    /// Its path.
    ///
    /// # Errors
    /// If the file does not exist.
    pub(crate) fn path(&self) -> Result<PathBuf> {
        let path = match &self.spinneret {
            Some(path) => path.clone(),
            None => std::env::current_exe()?.with_file_name("spinneret"),
        };
        ensure!(
            path.exists(),
            "no such file: {}; `cargo build --workspace --bins` makes it",
            path.display()
        );
        Ok(path)
    }
}

/// A server process, which is killed on drop.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    folder: TempDir,
}

impl Server {
    /// Starts a server with these options, and waits for its socket.
    ///
    /// # Errors
    /// If it exits.
    pub(crate) fn start(spinneret: &Path, options: &[&str]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let child = Command::new(spinneret)
            .arg("serve")
            .args(options)
            .arg(folder.path().join("nic"))
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", spinneret.display()))?;
        let mut server = Self { child, folder };
        while !server.socket().exists() {
            let is_running = server.child.try_wait()?.is_none();
            ensure!(is_running, "{} ended at once", spinneret.display());
            std::thread::sleep(PAUSE);
        }
        Ok(server)
    }

    /// Its socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("nic")
    }

    /// The number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It is our child, so both can only fail if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Connects to a server as soon as it accepts.
///
/// # Errors
/// The last one, if it never does.
pub(crate) fn connect<C, E: Display>(socket: &Path, connect: impl Fn(&Path) -> Result<C, E>) -> Result<C> {
    let begun = Instant::now();
    loop {
        match connect(socket) {
            Ok(client) => return Ok(client),
            Err(error) => ensure!(begun.elapsed() < PATIENCE, "{}: {error}", socket.display()),
        }
        std::thread::sleep(PAUSE);
    }
}

/// Draws a picture into a file.
pub(crate) fn draw(path: &Path, size: (u32, u32), paint: impl FnOnce(&Area<'_>) -> Painted) -> Result<()> {
    let picture = svg(size, paint).map_err(|error| anyhow!("cannot draw {}: {error}", path.display()))?;
    write(path, &picture)
}

/// Memory of a process in bytes: `VmRSS` now, `VmHWM` at most.
///
/// # Errors
/// If the process has ended, or the system has no such figure.
pub(crate) fn memory_bytes(process: u32, figure: &str) -> Result<u64> {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(&path).with_context(|| path.clone())?;
    let figures = status.lines().filter_map(|line| line.split_once(':'));
    let kibibytes = figures
        .filter(|(name, _)| *name == figure)
        .find_map(|(_, value)| value.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(kibibytes.with_context(|| format!("{path} has no {figure}"))? << 10)
}

/// A cell of a [`Sheet`].
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Text(String),
    Count(u64),
    /// A number, and the digits to print.
    Number(f64, usize),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Figures as a table for people and as rows of JSON. Each column has a key and a heading; one without a key is not in the
/// JSON.
#[derive(Debug)]
pub(crate) struct Sheet<const N: usize> {
    keys: [&'static str; N],
    table: Table,
    rows: Vec<Value>,
}

impl<const N: usize> Sheet<N> {
    /// Creates an empty sheet; the first column is text.
    pub(crate) fn new(columns: [(&'static str, &'static str); N]) -> Self {
        Self {
            keys: columns.map(|(key, _)| key),
            table: figures(columns.map(|(_, heading)| heading), &[0]),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, cells: [Cell; N]) {
        let keyed = self.keys.iter().zip(&cells).filter(|(key, _)| !key.is_empty());
        let row = keyed.map(|(key, cell)| {
            let value = match cell {
                Cell::Text(text) => json!(text),
                Cell::Count(count) => json!(count),
                Cell::Number(number, _) => json!(number),
            };
            ((*key).to_owned(), value)
        });
        self.rows.push(Value::Object(row.collect()));
        self.table.add_row(cells.map(|cell| match cell {
            Cell::Text(text) => text,
            Cell::Count(count) => count.to_string(),
            Cell::Number(number, digits) => format!("{number:.digits$}"),
        }));
    }

    /// Prints the table and returns the rows.
    pub(crate) fn print(self) -> Vec<Value> {
        println!("{}", self.table);
        self.rows
    }
}

/// Longest that an answer takes.
pub(crate) const PATIENCE_PS: u64 = 1_000_000_000;
/// Bytes before the payload of an echo request or a datagram.
pub(crate) const HEADERS: usize = 42;

/// Builds the handlers of an example.
///
/// # Errors
/// If they cannot be built.
pub(crate) fn program(name: &str, config: &NicConfig) -> Result<Program> {
    Ok(Program::open(&run::program(
        &example(name)?,
        config.cluster.clusters,
    )?)?)
}

/// Starts a NIC with the handlers and the rules of an example.
///
/// # Errors
/// If they cannot be built or started.
pub(crate) fn start(name: &str, config: NicConfig) -> Result<Nic> {
    start_in(&example(name)?, config)
}

/// The same with handlers and rules of a folder.
///
/// # Errors
/// As [`start`].
pub(crate) fn start_in(folder: &Path, config: NicConfig) -> Result<Nic> {
    start_with(folder, &folder.join("rules.toml"), config)
}

/// The same with handlers of a folder and a file of rules.
///
/// # Errors
/// As [`start`].
pub(crate) fn start_with(folder: &Path, rules: &Path, config: NicConfig) -> Result<Nic> {
    let program = Program::open(&run::program(folder, config.cluster.clusters)?)?;
    let rules = RuleFile::read(rules, &MatcherParams::BOARD)?;
    Ok(spinneret_nic::start(config, &program, &rules.rulesets, None)?)
}

/// Sends a request and waits for the answer: the time between, in picoseconds. `step` lets time pass, up to a limit.
///
/// # Errors
/// If the answer is wrong or missing.
pub(crate) fn exchange(
    nic: &mut Nic,
    request: &[u8],
    mut step: impl FnMut(&mut Nic, u64) -> Result<()>,
) -> Result<u64> {
    let sent_ps = nic.now_ps();
    nic.receive(request.to_vec());
    while nic.now_ps() <= sent_ps + PATIENCE_PS {
        if let Some(reply) = nic.take_wire() {
            check_reply(request, &reply.bytes)?;
            return Ok(reply.at_ps - sent_ps);
        }
        step(nic, sent_ps + PATIENCE_PS)?;
    }
    bail!("no answer to {} bytes", request.len())
}

/// Steps of the NIC alone, for [`exchange`].
pub(crate) fn alone(nic: &mut Nic, limit_ps: u64) -> Result<()> {
    Ok(nic.step(limit_ps)?)
}

/// Runs until the handlers have finished, and returns the events.
///
/// # Errors
/// If the NIC fails.
pub(crate) fn settle(nic: &mut Nic) -> Result<Vec<Event>> {
    nic.run_until_idle(nic.now_ps() + PATIENCE_PS)?;
    Ok(nic.take_events())
}
