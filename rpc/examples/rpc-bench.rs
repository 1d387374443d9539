//! How long a call takes: an increment by one, client and server in one thread or in two, and LLVM's own headers beside it.
//!
//! `cargo run --release -p spinneret-rpc --example rpc-bench -- [--json] [--llvm DIR]`

use clap::Parser;
use serde_json::json;
use spinneret_rpc::server::Running;
use spinneret_rpc::{Buffer, Client, Layout, Memory, Server, TestCalls, Version, opcode};
use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Figures of calls.
#[derive(Parser)]
struct Options {
    /// Prints JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// The folder `libc` of LLVM's sources, measured beside ours; its C++ is compiled with `CXX`, or `g++`. May be given
    /// more than once.
    #[arg(long, value_name = "DIR")]
    llvm: Vec<PathBuf>,
    /// Runs, of which the median is given.
    #[arg(long, default_value_t = 15)]
    runs: usize,
    /// Calls of a run.
    #[arg(long, default_value_t = 50_000)]
    calls: u32,
    /// Ports of the buffer.
    #[arg(long, default_value_t = 16)]
    ports: u32,
}

/// Nanoseconds a call, of each run.
struct Measured {
    who: String,
    threads: u32,
    runs: Vec<f64>,
}

impl Measured {
    fn sorted(mut self) -> Self {
        self.runs.sort_by(f64::total_cmp);
        self
    }

    fn median(&self) -> f64 {
        self.runs.get(self.runs.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn least(&self) -> f64 {
        self.runs.first().copied().unwrap_or(f64::NAN)
    }

    fn most(&self) -> f64 {
        self.runs.last().copied().unwrap_or(f64::NAN)
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    match measure(&options) {
        Ok(measured) => {
            print(&options, &measured);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("rpc-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<Vec<Measured>, String> {
    let mut all = Vec::new();
    for version in Version::ALL {
        let layout = Layout::new(version, options.ports).map_err(|error| error.to_string())?;
        let who = format!("spinneret, layout of LLVM {}", version.number());
        for (threads, run) in [(1, one_thread as fn(&Options, Layout) -> f64), (2, two_threads)] {
            let runs = (0..options.runs).map(|_| run(options, layout)).collect();
            let who = who.clone();
            all.push(Measured { who, threads, runs }.sorted());
        }
    }
    for folder in &options.llvm {
        all.extend(llvm(options, folder)?);
    }
    Ok(all)
}

fn server<M: Memory<Error = Infallible>>(memory: M, layout: Layout) -> Server<M> {
    let mut server = Server::new(memory, layout).expect("the memory is as long as the layout");
    server.add(opcode::LIBC, Rc::new(TestCalls));
    server
}

fn nanoseconds(options: &Options, start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64 / f64::from(options.calls)
}

fn one_thread(options: &Options, layout: Layout) -> f64 {
    let buffer = Buffer::new(layout.bytes());
    let client = Client::new(buffer.words(), layout).expect("the memory is as long as the layout");
    let mut server = server(buffer.words(), layout);
    let start = Instant::now();
    for call in 0..u64::from(options.calls) {
        let (mut answer, sent) = ([0], [call]);
        let Ok(mut port) = client.open(opcode::TEST_INCREMENT);
        port.send(&sent).expect("no mailbox is wrong");
        let Ok(_) = server.poll();
        port.receive(&mut answer).expect("no mailbox is wrong");
        let Ok(()) = port.close();
        assert_eq!(answer, [call + 1]);
    }
    nanoseconds(options, start)
}

fn two_threads(options: &Options, layout: Layout) -> f64 {
    let buffer = Arc::new(Buffer::new(layout.bytes()));
    let client = Client::new(Arc::clone(&buffer), layout).expect("the memory is as long as the layout");
    let running = Running::start(move || server(buffer, layout)).expect("there is a thread");
    let start = Instant::now();
    for call in 0..u64::from(options.calls) {
        let mut answer = [0];
        let Ok(mut port) = client.open(opcode::TEST_INCREMENT);
        port.send(&[call]).expect("no mailbox is wrong");
        port.receive(&mut answer).expect("no mailbox is wrong");
        let Ok(()) = port.close();
        assert_eq!(answer, [call + 1]);
    }
    let figure = nanoseconds(options, start);
    let Ok(_) = running.stop();
    figure
}

/// Compiles the same calls with LLVM's headers, and runs them.
fn llvm(options: &Options, folder: &Path) -> Result<Vec<Measured>, String> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let program = scratch.path().join("bench");
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "g++".into());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/llvm_headers/bench.cpp");
    let header = folder.join("shared/rpc.h");
    let text = fs::read_to_string(&header).map_err(|error| format!("{}: {error}", header.display()))?;
    let compiled = Command::new(&compiler)
        .args(["-std=c++17", "-O2", "-w", "-pthread", "-I"])
        .arg(folder)
        .arg("-o")
        .arg(&program)
        .arg(source)
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        let compiler = compiler.display();
        return Err(format!(
            "{compiler} does not compile LLVM's {}: set CXX to a compiler of C++17",
            header.display()
        ));
    }
    let output = Command::new(&program)
        .args([
            options.ports.to_string(),
            options.runs.to_string(),
            options.calls.to_string(),
        ])
        .output()
        .map_err(|error| error.to_string())?;
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let runs = |name| {
        let figures = lines
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        figures.collect()
    };
    let generation = match text.contains("Doorbell") {
        true => Version::V23,
        false => Version::V22,
    };
    let who = format!("LLVM {}'s own headers, in C++", generation.number());
    let measured = |threads, name| {
        Measured {
            who: who.clone(),
            threads,
            runs: runs(name),
        }
        .sorted()
    };
    Ok(vec![measured(1, "one "), measured(2, "two ")])
}

fn print(options: &Options, all: &[Measured]) {
    if options.json {
        let rows = all.iter().map(|measured| {
            json!({
                "who": measured.who,
                "threads": measured.threads,
                "median_ns": measured.median(),
                "least_ns": measured.least(),
                "most_ns": measured.most(),
                "runs": measured.runs.len(),
            })
        });
        let rows: Vec<_> = rows.collect();
        println!(
            "{}",
            json!({ "calls": options.calls, "ports": options.ports, "increment": rows })
        );
        return;
    }
    let headings = ["an increment", "threads", "median ns", "least", "most"];
    let mut table = spinneret_table::figures(headings, &[0]);
    for measured in all {
        table.add_row([
            measured.who.clone(),
            measured.threads.to_string(),
            format!("{:.1}", measured.median()),
            format!("{:.1}", measured.least()),
            format!("{:.1}", measured.most()),
        ]);
    }
    println!("{table}");
    println!(
        "{} runs of {} calls, {} ports",
        options.runs, options.calls, options.ports
    );
}
