//! Calls in one process: increments with client and server in one thread or in two, compared with LLVM's own headers.

use crate::harness::{Cell, Sheet};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use spinneret_rpc::server::Running;
use spinneret_rpc::{Buffer, Client, Layout, Memory, Server, TestCalls, Version, opcode};
use spinneret_table::bench::Spread;
use spinneret_table::say;
use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Runs; the median counts.
const RUNS: usize = 15;
/// Calls of a run.
const CALLS: u32 = 50_000;
/// Ports of the buffer.
const PORTS: u32 = 16;

/// Nanoseconds a call, of each run.
struct Measured {
    who: String,
    threads: u32,
    runs: Spread,
}

/// Measures and prints them, also with LLVM's headers of some folders.
///
/// # Errors
/// If these cannot be compiled.
pub(super) fn measure(llvm: &[impl AsRef<Path>]) -> Result<Value> {
    let mut all = Vec::new();
    for version in Version::ALL {
        let layout = Layout::new(version, PORTS)?;
        let who = format!("spinneret, layout of LLVM {}", version.number());
        for (threads, run) in [(1, one_thread as fn(Layout) -> Result<f64>), (2, two_threads)] {
            all.push(Measured {
                who: who.clone(),
                threads,
                runs: (0..RUNS).map(|_| run(layout)).collect::<Result<_>>()?,
            });
        }
    }
    for folder in llvm {
        all.extend(with_headers(folder.as_ref())?);
    }
    let mut sheet = Sheet::new([
        ("who", "an increment"),
        ("threads", "threads"),
        ("median_ns", "median ns"),
        ("least_ns", "least"),
        ("most_ns", "most"),
        ("runs", "runs"),
    ]);
    for Measured { who, threads, runs } in &all {
        let [median, least, most] = runs.range().map(|nanoseconds| Cell::Number(nanoseconds, 1));
        let count = Cell::Count(runs.values().len() as u64);
        sheet.add([
            who.as_str().into(),
            Cell::Count((*threads).into()),
            median,
            least,
            most,
            count,
        ]);
    }
    let rows = sheet.print();
    say(format_args!("{RUNS} runs of {CALLS} calls, {PORTS} ports"));
    Ok(json!({ "calls": CALLS, "ports": PORTS, "increment": rows }))
}

fn server<M: Memory<Error = Infallible>>(memory: M, layout: Layout) -> Server<M> {
    let mut server = Server::new(memory, layout).expect("the memory is as long as the layout");
    server.add(opcode::LIBC, Rc::new(TestCalls));
    server
}

/// Returns the nanoseconds per call; `serve` runs between sending and receiving.
fn increments<M: Memory<Error = Infallible>>(memory: M, layout: Layout, mut serve: impl FnMut()) -> f64 {
    let client = Client::new(memory, layout).expect("the memory is as long as the layout");
    let start = Instant::now();
    for call in 0..u64::from(CALLS) {
        let mut answer = [0];
        let Ok(mut port) = client.open(opcode::TEST_INCREMENT);
        port.send(&[call]).expect("no mailbox is wrong");
        serve();
        port.receive(&mut answer).expect("no mailbox is wrong");
        let Ok(()) = port.close();
        assert_eq!(answer, [call + 1]);
    }
    start.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

fn one_thread(layout: Layout) -> Result<f64> {
    let buffer = Buffer::new(layout.bytes());
    let mut server = server(buffer.words(), layout);
    Ok(increments(buffer.words(), layout, || {
        let Ok(_) = server.poll();
    }))
}

fn two_threads(layout: Layout) -> Result<f64> {
    let buffer = Arc::new(Buffer::new(layout.bytes()));
    let memory = Arc::clone(&buffer);
    let running = Running::start(move || server(memory, layout))?;
    let figure = increments(buffer, layout, || ());
    let Ok(_) = running.stop();
    Ok(figure)
}

/// Compiles the same calls with LLVM's headers, and runs them.
fn with_headers(folder: &Path) -> Result<[Measured; 2]> {
    let scratch = tempfile::tempdir()?;
    let program = scratch.path().join("bench");
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "g++".into());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rpc/tests/llvm_headers/bench.cpp");
    let header = folder.join("shared/rpc.h");
    let text = fs::read_to_string(&header).with_context(|| header.display().to_string())?;
    let compiled = Command::new(&compiler)
        .args(["-std=c++17", "-O2", "-w", "-pthread", "-I"])
        .arg(folder)
        .arg("-o")
        .arg(&program)
        .arg(source)
        .status();
    ensure!(
        compiled.is_ok_and(|status| status.success()),
        "{} does not compile LLVM's {}: set CXX to a compiler of C++17",
        compiler.display(),
        header.display()
    );
    let output = Command::new(&program)
        .args([PORTS.to_string(), RUNS.to_string(), CALLS.to_string()])
        .output()?;
    let lines = String::from_utf8_lossy(&output.stdout);
    let generation = match text.contains("Doorbell") {
        true => Version::V23,
        false => Version::V22,
    };
    let who = format!("LLVM {}'s own headers, in C++", generation.number());
    Ok([(1, "one "), (2, "two ")].map(|(threads, name)| {
        let figures = lines
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        Measured {
            who: who.clone(),
            threads,
            runs: figures.collect(),
        }
    }))
}
