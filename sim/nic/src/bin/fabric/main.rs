//! `./dev bench fabric`: how fast many NICs are, on threads, on ranks of MPI, and idle.

mod ring;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Parser;
use ring::{ring, rings};
use serde_json::{Value, json};
use spinneret_table::{figures, say};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Runs of which the median counts.
const RUNS: usize = 5;
/// Simulated time of traffic.
const UNTIL: &str = "600 us";

/// Measures fabrics of simulated NICs: threads, ranks, cost per NIC, a token on a ring
#[derive(Debug, Parser)]
#[command(name = "bench fabric")]
struct Arguments {
    /// Where the figures go as JSON
    #[arg(long, value_name = "FILE", default_value = "target/bench/fabric.json")]
    json: PathBuf,
    /// The command that is measured
    #[arg(long, value_name = "FILE", default_value = "target/debug/spinneret")]
    spinneret: PathBuf,
    /// NICs on the ring
    #[arg(long, value_name = "N", default_value_t = 1000)]
    ring_nics: usize,
    /// Only a token on a ring of so many NICs: its figures as JSON
    #[arg(long, value_name = "N", hide = true)]
    ring: Option<usize>,
}

/// Figures of some runs of one fabric.
struct Measured {
    /// Clocks of all NICs a second: the median, the least and the most.
    rate: [f64; 3],
    digest: String,
}

fn main() -> ExitCode {
    spinneret_table::failed(work().map(|()| ExitCode::SUCCESS))
}

fn work() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(nics) = arguments.ring {
        println!("{}", ring(nics)?);
        return Ok(());
    }
    ensure!(
        arguments.spinneret.exists(),
        "{} is not there: `cargo build --workspace --bins` makes it",
        arguments.spinneret.display()
    );
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    let machine = format!(
        "{} processors; clocks of the core of all NICs together in a second, median of {RUNS} runs (least to most)",
        std::thread::available_parallelism().map_or(1, usize::from)
    );
    say(format_args!("{machine}"));
    let mut table = figures(["fabric", "clocks/s", "least", "most", "against the first"], &[0]);
    for (nics, is_busy) in [
        (2, true),
        (4, true),
        (8, true),
        (16, true),
        (2, false),
        (16, false),
    ] {
        let file = folder.path().join(format!("{nics}-{is_busy}.toml"));
        std::fs::write(&file, traffic(nics, is_busy))?;
        let kind = if is_busy {
            "busy"
        } else {
            "one busy pair, the others idle"
        };
        let mut base: Option<Measured> = None;
        for how in [
            How::Threads(1),
            How::Threads(2),
            How::Ranks("mpirun.openmpi"),
            How::Ranks("mpirun.mpich"),
        ] {
            // Ranks are measured where threads are, on two NICs.
            let is_left_out = match how {
                How::Ranks(_) => nics != 2 || !is_busy,
                How::Threads(_) => false,
            };
            if is_left_out {
                continue;
            }
            let Some(measured) = measure(&arguments.spinneret, &file, how)? else {
                continue;
            };
            if let Some(base) = &base {
                ensure!(
                    base.digest == measured.digest,
                    "results differ: {} NICs, {how:?}",
                    nics
                );
            }
            let ratio = base.as_ref().map_or(1.0, |base| measured.rate[0] / base.rate[0]);
            let name = format!("{nics} NICs, {kind}, {}", how.name());
            let [median, least, most] = measured.rate;
            table.add_row([
                name.clone(),
                format!("{median:.0}"),
                format!("{least:.0}"),
                format!("{most:.0}"),
                format!("{ratio:.2}"),
            ]);
            rows.push(json!({"fabric": name, "clocks_per_second": median, "least": least, "most": most, "ratio": ratio}));
            base.get_or_insert(measured);
        }
    }
    println!("{}", table);
    let ring = rings(arguments.ring_nics)?;
    let figures = json!({"machine": machine, "traffic": rows, "ring": ring});
    let parent = arguments.json.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
    std::fs::write(&arguments.json, format!("{figures:#}\n"))
        .with_context(|| format!("{} cannot be written", arguments.json.display()))?;
    say(format_args!("figures: {}", arguments.json.display()));
    Ok(())
}

/// How a fabric is simulated.
#[derive(Clone, Copy, Debug)]
enum How {
    Threads(usize),
    Ranks(&'static str),
}

impl How {
    fn name(self) -> String {
        match self {
            Self::Threads(1) => "1 thread".to_owned(),
            Self::Threads(count) => format!("{count} threads"),
            Self::Ranks(mpirun) => format!("2 ranks ({mpirun})"),
        }
    }

    fn command(self, spinneret: &Path) -> Command {
        match self {
            Self::Threads(count) => {
                let mut command = Command::new(spinneret);
                command.args(["fabric", "--threads", &count.to_string()]);
                command
            }
            Self::Ranks(mpirun) => {
                let mut command = Command::new(mpirun);
                command.args(["-n", "2"]);
                if mpirun.ends_with("openmpi") {
                    command.arg("--oversubscribe");
                    command.envs([
                        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                    ]);
                }
                command.arg(spinneret).args(["fabric", "--threads", "1"]);
                command
            }
        }
    }
}

/// Pairs of NICs that ping each other at full rate, around a switch; two are on one cable. If not all are to be busy, the
/// first pair is.
fn traffic(nics: usize, is_busy: bool) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/examples/icmp_ping");
    let mut text = String::new();
    for nic in 0..nics {
        text += &format!("[[nic]]\nname = 'n{nic}'\n");
        if is_busy || nic < 2 {
            let to = nic ^ 1;
            text += &format!(
                "handlers = '{}'\ntransmit = 'icmp,size=512,rate=100Gbps'\nto = 'n{to}'\nafter = '350 us'\n",
                examples.display()
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
    text
}

/// Figures of a fabric, unless this machine has not what it takes.
fn measure(spinneret: &Path, file: &Path, how: How) -> Result<Option<Measured>> {
    let mut rates = Vec::new();
    let mut digest = String::new();
    for _ in 0..RUNS {
        let output = how
            .command(spinneret)
            .arg(file)
            .args(["--until", UNTIL, "--json"])
            .output();
        let output = match output {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                say(format_args!("{} is left out: it is not installed", how.name()));
                return Ok(None);
            }
            output => output?,
        };
        if !output.status.success() {
            bail!("{}: {}", how.name(), String::from_utf8_lossy(&output.stderr));
        }
        let result: Value = serde_json::from_slice(&output.stdout)?;
        let nics = result["nics"].as_object().context("the result has NICs")?;
        let clocks: u64 = nics
            .values()
            .filter_map(|nic| nic["simulated_clocks"].as_u64())
            .sum();
        let wall = result["wall_seconds"].as_f64().context("the result has a time")?;
        rates.push(clocks as f64 / wall);
        digest = result["digest"].as_str().unwrap_or_default().to_owned();
    }
    rates.sort_by(f64::total_cmp);
    Ok(Some(Measured {
        rate: [rates[RUNS / 2], rates[0], rates[RUNS - 1]],
        digest,
    }))
}
