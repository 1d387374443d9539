//! `./dev bench fabric`: how fast many NICs are, on threads, on ranks of MPI, and idle.

mod ring;

pub(crate) use ring::ring;

use crate::harness::Spinneret;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::{Value, json};
use spinneret_nic::installed::example;
use spinneret_table::bench::{Bars, Spread, cells, machine};
use spinneret_table::{figures, say};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::Command;

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
    let mut rows = Vec::new();
    let mut table = figures(["fabric", "clocks/s", "least", "most", "against the first"], &[0]);
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
            let [median, least, most] = measured.rate.range();
            let ratio = base.as_ref().map_or(1.0, |base| median / base.rate.median());
            if let Some(base) = &base {
                ensure!(
                    base.digest == measured.digest,
                    "results differ: {nics} NICs, {how}"
                );
            }
            let name = format!("{nics} NICs, {kind}, {how}");
            let mut row = vec![name.clone()];
            row.extend(cells([median, least, most], 0));
            row.push(format!("{ratio:.2}"));
            table.add_row(row);
            rows.push(json!({
                "fabric": name, "clocks_per_second": median, "least": least, "most": most, "ratio": ratio
            }));
            base.get_or_insert(measured);
        }
    }
    println!("{table}");
    say(format_args!(
        "Clocks of the core of all NICs together in a second: median of {RUNS} runs, least and most."
    ));
    let ring = ring::rings(arguments.ring_nics)?;
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
