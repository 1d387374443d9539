//! `./dev bench fabric`: how fast many NICs are, on threads, on ranks of MPI, and idle; a token on a ring.

use crate::harness::{Cell, Sheet, Spinneret, memory_bytes};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::{Value, json};
use spinneret_fabric::topology::{Simple, SwitchConfig, Table as Addresses, mac_of};
use spinneret_fabric::{NodeExit, Settings};
use spinneret_nic::Simulated;
use spinneret_nic::fabric::{Hosted, run_programs};
use spinneret_nic::installed::example;
use spinneret_nic::nic::{Nic, NicConfig, NicError};
use spinneret_table::bench::{Bars, Spread, machine};
use spinneret_table::{figures, say};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::Command;
use std::time::Instant;

/// Runs; the median counts.
const RUNS: usize = 5;
/// Simulated time of traffic.
const UNTIL: &str = "600 us";
/// Ways to simulate a fabric: name, launcher with its arguments, threads of each process.
const WAYS: [(&str, &[&str], &str); 4] = [
    ("1 thread", &[], "1"),
    ("2 threads", &[], "2"),
    (
        "2 ranks (mpirun.openmpi)",
        &["mpirun.openmpi", "--oversubscribe", "-n", "2"],
        "1",
    ),
    ("2 ranks (mpirun.mpich)", &["mpirun.mpich", "-n", "2"], "1"),
];
/// Numbers of NICs, and whether all are busy.
const FABRICS: [(usize, bool); 6] = [
    (2, true),
    (4, true),
    (8, true),
    (16, true),
    (2, false),
    (16, false),
];

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    spinneret: Spinneret,
    /// NICs on the ring
    #[arg(long, value_name = "N", default_value_t = 1000)]
    ring_nics: usize,
}

pub(crate) fn run(arguments: &Arguments, _: &mut Bars) -> Result<Value> {
    let spinneret = arguments.spinneret.path()?;
    let folder = tempfile::tempdir()?;
    let mut sheet = Sheet::new([
        ("fabric", "fabric"),
        ("clocks_per_second", "clocks/s"),
        ("least", "least"),
        ("most", "most"),
        ("ratio", "against the first"),
    ]);
    for (nics, is_busy) in FABRICS {
        let file = folder.path().join(format!("{nics}-{is_busy}.toml"));
        std::fs::write(&file, traffic(nics, is_busy)?)?;
        let kind = match is_busy {
            true => "busy",
            false => "one busy pair, the others idle",
        };
        let mut base: Option<Measured> = None;
        for (how, launcher, threads) in WAYS {
            // Ranks are measured where threads are, on two NICs.
            if !launcher.is_empty() && (nics, is_busy) != (2, true) {
                continue;
            }
            let mut words: Vec<&OsStr> = launcher.iter().map(OsStr::new).collect();
            words.extend([spinneret.as_os_str(), "fabric".as_ref(), file.as_os_str()]);
            words.extend(["--threads", threads, "--until", UNTIL, "--json"].map(OsStr::new));
            let measured = measure(&words).with_context(|| how)?;
            let Some(measured) = measured else {
                let program = words[0].display();
                say(format_args!("{how} are left out: {program} is not installed"));
                continue;
            };
            let ratio = base
                .as_ref()
                .map_or(1.0, |base| measured.rate.median() / base.rate.median());
            if let Some(base) = &base {
                ensure!(
                    base.digest == measured.digest,
                    "results differ: {nics} NICs, {how}"
                );
            }
            let name = format!("{nics} NICs, {kind}, {how}");
            let [median, least, most] = measured.rate.range().map(|rate| Cell::Number(rate, 0));
            sheet.add([name.as_str().into(), median, least, most, Cell::Number(ratio, 2)]);
            base.get_or_insert(measured);
        }
    }
    let rows = sheet.print();
    say(format_args!(
        "Clocks of the core of all NICs together in a second: median of {RUNS} runs, least and most."
    ));
    let ring = rings(arguments.ring_nics)?;
    Ok(json!({ "machine": machine(), "traffic": rows, "ring": ring }))
}

/// Clocks of all NICs a second in some runs of one fabric, and the digest of its results.
struct Measured {
    rate: Spread,
    digest: String,
}

/// Pairs of NICs that ping each other at full rate, around a switch; two are on one cable. If not all are to be busy, the
/// first pair is.
fn traffic(nics: usize, is_busy: bool) -> Result<String> {
    let handlers = example("icmp_ping")?;
    let mut text = String::new();
    for nic in 0..nics {
        text += &format!("[[nic]]\nname = 'n{nic}'\n");
        if is_busy || nic < 2 {
            let to = nic ^ 1;
            text += &format!(
                "handlers = '{}'\ntransmit = 'icmp,size=512,rate=100Gbps'\nto = 'n{to}'\nafter = '350 us'\n",
                handlers.display()
            );
        }
        if nics > 2 {
            text += &format!("[[cable]]\nbetween = ['n{nic}', 's']\n");
        }
    }
    text += match nics {
        2 => "[[cable]]\nbetween = ['n0', 'n1']\n",
        _ => "[[switch]]\nname = 's'\ntable = 'static'\n",
    };
    Ok(text)
}

/// Figures of a command; none if it is not installed.
fn measure(words: &[&OsStr]) -> Result<Option<Measured>> {
    let mut rates = Vec::new();
    let mut digest = String::new();
    for _ in 0..RUNS {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).envs([
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ]);
        let output = match command.output() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            output => output?,
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{errors}");
        let result: Value = serde_json::from_slice(&output.stdout)?;
        let nics = result["nics"].as_object().context("the result has no NICs")?;
        let clocks = nics.values().filter_map(|nic| nic["simulated_clocks"].as_u64());
        let wall = result["wall_seconds"].as_f64();
        rates.push(clocks.sum::<u64>() as f64 / wall.context("the result has no time")?);
        digest = result["digest"].as_str().unwrap_or_default().to_owned();
    }
    let rate = rates.into_iter().collect();
    Ok(Some(Measured { rate, digest }))
}

/// A token on rings of 1, 10 and many NICs, each in a process of its own, as its memory counts.
fn rings(nics: usize) -> Result<Vec<Value>> {
    let headings = [
        "NICs on a ring",
        "made in s",
        "token round in s",
        "memory, MB",
        "MB a NIC",
    ];
    let mut table = figures(headings, &[0]);
    let mut rows = Vec::new();
    for nics in [1, 10, nics] {
        let output = Command::new(std::env::current_exe()?)
            .args(["ring", &nics.to_string()])
            .output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "a ring of {nics} NICs: {errors}");
        let row: Value = serde_json::from_slice(&output.stdout)?;
        let figure = |name: &str| row[name].as_f64().unwrap_or(0.0);
        let memory = figure("memory_bytes") / 1e6;
        table.add_row([
            nics.to_string(),
            format!("{:.2}", figure("made_seconds")),
            format!("{:.3}", figure("round_seconds")),
            format!("{memory:.1}"),
            format!("{:.2}", memory / nics as f64),
        ]);
        rows.push(row);
    }
    println!("{table}");
    Ok(rows)
}

/// Prints the figures of one ring as JSON.
///
/// # Errors
/// If the token does not reach every NIC exactly once.
pub(crate) fn ring(nics: usize) -> Result<()> {
    println!("{}", if nics == 1 { alone()? } else { around(nics)? });
    Ok(())
}

/// A single NIC.
fn alone() -> Result<Value> {
    let begun = Instant::now();
    let _nic = Nic::new(NicConfig::default())?;
    let made = begun.elapsed();
    Ok(json!({
        "nics": 1,
        "made_seconds": made.as_secs_f64(),
        "round_seconds": 0.0,
        "memory_bytes": memory()?,
    }))
}

/// Passes a token once around NICs at a switch.
fn around(nics: usize) -> Result<Value> {
    let begun = Instant::now();
    let topology = Simple {
        nics,
        switch: SwitchConfig {
            table: Addresses::Static,
            ..SwitchConfig::default()
        },
        ..Simple::default()
    };
    let topology = topology.topology()?;
    let (made, times) = std::sync::mpsc::channel();
    let programs = (0..nics).map(|number| {
        let made = made.clone();
        let program: Hosted<'_> = Box::new(move |nic: &Simulated| {
            let _ = made.send(Instant::now());
            pass_on(nic, number, nics)
        });
        program
    });
    let settings = Settings {
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        ..Settings::default()
    };
    let report = run_programs(&topology, &NicConfig::default(), settings, programs.collect())?;
    let ended = Instant::now();
    ensure!(
        report.nics.iter().all(|nic| nic.received == 1),
        "the token was not everywhere once"
    );
    let made = times.try_iter().max().context("no NIC was made")?;
    Ok(json!({
        "nics": nics,
        "made_seconds": made.duration_since(begun).as_secs_f64(),
        "round_seconds": ended.duration_since(made).as_secs_f64(),
        "simulated_us": report.time_ps as f64 / 1e6,
        "rounds": report.rounds,
        "memory_bytes": memory()?,
    }))
}

/// The first NIC sends the token, and every other one passes it on when it has it.
fn pass_on(nic: &Simulated, number: usize, nics: usize) -> Result<(), NodeExit> {
    let failed = |error: NicError| NodeExit::Failed(error.to_string());
    while number != 0 && nic.borrow_mut().take_host().is_none() {
        nic.borrow_mut().step(u64::MAX).map_err(failed)?;
    }
    let token = [
        &mac_of((number + 1) % nics)[..],
        &mac_of(number),
        &[0x88, 0xb5],
        &[7; 50],
    ];
    nic.borrow_mut().transmit(token.concat());
    Ok(())
}

/// Most memory that this process ever had, in bytes.
fn memory() -> Result<u64> {
    memory_bytes(std::process::id(), "VmHWM")
}
