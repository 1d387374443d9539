//! `spinneret run` and related commands: a NIC with sources of packets, and handlers.

mod embedded;
mod ether;
pub(crate) mod handlers;
pub(crate) mod host;
pub(crate) mod main_loop;
mod receive;
mod serve;
mod session;
pub(crate) mod setup;
mod share;
mod wave;

pub use embedded::{Embedded, HandlerFiles, Outcome};
pub use handlers::{BuildError, Hpus, program, program_for};
pub use host::{HostPing, reply};
pub use receive::{ReceiveArguments, receive};
pub use serve::{ServeArguments, serve};
pub use session::run;
pub use share::{ShareArguments, share};

use crate::gdb::DebugArguments;
use crate::nic::Backend;
use crate::report::{FaultKind, Summary};
use crate::terminal::{Failure, Files, megahertz, seconds};
use anyhow::anyhow;
use clap::{ArgGroup, Args};
use spinneret_fabric::{Ps, units};
use std::path::PathBuf;
use std::time::Duration;

/// Maximum round-trip latency to host memory in nanoseconds: hundreds of times that of any bus.
const MAX_HOST_LATENCY: u64 = 1_000_000;

/// Arguments of `spinneret run`.
#[derive(Clone, Debug, Args)]
#[command(override_usage = "spinneret run [OPTIONS] <--pcap|--generate|--tap|--attach> <HANDLERS>")]
#[command(group(ArgGroup::new("packets").required(true).multiple(true).args(["pcap", "generate", "tap", "attach"])))]
pub struct RunArguments {
    /// Handlers: a folder with a Makefile, which is built first, or an ELF file
    #[arg(value_name = "HANDLERS")]
    pub target: PathBuf,
    /// Rules that select packets for handlers [default: rules.toml in the folder of the handlers]
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Handlers for rulesets without handlers of the same name: the prefix before _hh, _ph and _th
    #[arg(long, value_name = "NAME")]
    pub handler: Option<String>,
    /// Packets
    #[command(flatten)]
    pub packets: PacketArguments,
    /// Answer the pings that the handlers of `host_ping` pass to the host
    #[arg(long, help_heading = "Packets")]
    pub host_ping: bool,
    /// Answer calls of handlers (spin_rpc.h): print their text on standard error, and open files only in DIR, if given
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, conflicts_with = "host_ping", help_heading = "Packets")]
    pub services: Option<Option<PathBuf>>,
    /// Hardware
    #[command(flatten)]
    pub hardware: HardwareArguments,
    /// Results
    #[command(flatten)]
    pub results: ResultArguments,
    /// Exit with success even if handlers fail, are refused something, or are missing for a packet
    #[arg(long, help_heading = "Results")]
    pub allow_faults: bool,
    /// Debugging
    #[command(flatten)]
    pub debug: DebugArguments,
}

/// Where packets come from and go to.
#[derive(Clone, Debug, Default, Args)]
pub struct PacketArguments {
    /// Packets of a capture (pcap or pcapng, Ethernet)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tap", "attach"], help_heading = "Packets")]
    pub pcap: Option<PathBuf>,
    /// Send the packets of a capture as fast as possible instead of at their recorded times
    #[arg(long, requires = "pcap", help_heading = "Packets")]
    pub back_to_back: bool,
    /// Generated packets, for example udp,size=64..1500,rate=10Gbps,count=1e5
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["pcap", "tap", "attach"], help_heading = "Packets")]
    pub generate: Option<String>,
    /// The interface, and how long
    #[command(flatten)]
    pub live: LiveArguments,
    /// Write the frames to the wire to a pcap file
    #[arg(long, value_name = "FILE", help_heading = "Packets")]
    pub out: Option<PathBuf>,
    /// Write the packets to the host to a pcap file
    #[arg(long, value_name = "FILE", help_heading = "Packets")]
    pub out_host: Option<PathBuf>,
}

/// The interface that packets come from, if it is one, and how long they may come.
#[derive(Clone, Debug, Default, Args)]
pub struct LiveArguments {
    /// Create a network interface with this name; it is the host side of the NIC
    #[arg(long, value_name = "NAME", help_heading = "Packets")]
    pub tap: Option<String>,
    /// Use an existing network interface as the wire
    #[arg(long, value_name = "NAME", help_heading = "Packets")]
    pub attach: Option<String>,
    /// End after this time in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = "Packets")]
    pub duration: Option<Duration>,
}

/// The simulated hardware.
#[derive(Clone, Debug, Args)]
pub struct HardwareArguments {
    /// Clusters
    #[arg(
        long = "cluster",
        value_name = "WHICH",
        value_enum,
        default_value_t,
        help_heading = "Hardware"
    )]
    pub backend: Backend,
    /// Number of clusters
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8), help_heading = "Hardware")]
    pub clusters: u8,
    /// HPUs per cluster
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=8), help_heading = "Hardware")]
    pub hpus: u8,
    /// Clock frequency of the clusters [default: 40; with --cluster rtl that of everything else]
    #[arg(long = "cluster-mhz", value_name = "MHZ", value_parser = megahertz, allow_negative_numbers = true, help_heading = "Hardware")]
    pub cluster_ps: Option<u64>,
    /// Clock frequency of everything else
    #[arg(long = "core-mhz", value_name = "MHZ", default_value = "250", value_parser = megahertz, allow_negative_numbers = true, help_heading = "Hardware")]
    pub core_ps: u64,
    /// Round-trip latency to host memory in nanoseconds, at most 1000000
    #[arg(long, value_name = "NS", default_value_t = 450, value_parser = clap::value_parser!(u64).range(..=MAX_HOST_LATENCY), help_heading = "Hardware")]
    pub host_latency: u64,
    /// Time limit of a handler in cluster clocks. The watchdog ends a handler after that; with --strict-pspin nothing does, and
    /// the limit only names the handler that keeps a run from ending
    #[arg(
        long,
        value_name = "CLOCKS",
        default_value_t = 1_000_000,
        help_heading = "Hardware"
    )]
    pub watchdog: u64,
    /// Simulate the defects of PsPIN's cluster, listed in docs/cluster/model.md; it has no watchdog
    #[arg(long, help_heading = "Hardware")]
    pub strict_pspin: bool,
    /// Simulate every clock, including idle ones
    #[arg(long, help_heading = "Hardware")]
    pub no_skip: bool,
}

/// Outputs of a run.
#[derive(Clone, Debug, Args)]
pub struct ResultArguments {
    /// Print the result as JSON
    #[arg(long, help_heading = "Results")]
    pub json: bool,
    /// Write a timeline for ui.perfetto.dev
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub trace: Option<PathBuf>,
    /// Write a waveform of the hardware (FST)
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub wave: Option<PathBuf>,
    /// Restrict the waveform to an instance, such as u_ingress, or a signal; dots separate names
    #[arg(long, value_name = "NAME", requires = "wave", help_heading = "Results")]
    pub wave_scope: Option<String>,
    /// Start of the waveform in simulated time, for example 20us
    #[arg(long, value_name = "TIME", requires = "wave", value_parser = units::time, help_heading = "Results")]
    pub wave_from: Option<Ps>,
    /// End of the waveform in simulated time, for example 1.5ms
    #[arg(long, value_name = "TIME", requires = "wave", value_parser = units::time, help_heading = "Results")]
    pub wave_until: Option<Ps>,
    /// Draw latency and load over time (SVG)
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub plot: Option<PathBuf>,
    /// Show the run live in a browser, at this port of localhost [default: a free port]
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0", help_heading = "Results")]
    pub watch: Option<u16>,
    /// Write the final page to an HTML file
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub report: Option<PathBuf>,
    /// Print where handlers spend their time
    #[arg(long, help_heading = "Results")]
    pub profile: bool,
}

impl PacketArguments {
    /// The files that are named here.
    fn files(&self, files: Files) -> Files {
        files
            .reads("--pcap", self.pcap.as_deref())
            .writes("--out", self.out.as_deref())
            .writes("--out-host", self.out_host.as_deref())
    }
}

impl ResultArguments {
    /// The files that are named here.
    fn files(&self, files: Files) -> Files {
        files
            .writes("--trace", self.trace.as_deref())
            .writes("--wave", self.wave.as_deref())
            .writes("--plot", self.plot.as_deref())
            .writes("--report", self.report.as_deref())
    }
}

/// The counter of packets without a program.
const NO_CONTEXT: &str = "no_context";

/// Fails after faults of handlers without `--allow-faults`.
///
/// # Errors
/// [`fault_message`], as a failure of the work.
fn check_faults(summary: &Summary, allow_faults: bool) -> Result<(), Failure> {
    match fault_message(summary).filter(|_| !allow_faults) {
        Some(trouble) => Err(Failure::Work(anyhow!(trouble))),
        None => Ok(()),
    }
}

/// A message about faults of handlers that names the most frequent case; the summary has the others.
pub(crate) fn fault_message(summary: &Summary) -> Option<String> {
    let no_context = summary.drops.get(NO_CONTEXT).copied().unwrap_or(0);
    let others = summary.refused_commands.saturating_sub(count(&summary.refusals));
    let troubles = [
        kinds("handlers failed", &summary.faults),
        summary.broken.first().map(|hpu| {
            let (core, others) = (format!("{}.{}", hpu.cluster, hpu.core), summary.broken.len() - 1);
            let others = if others > 0 {
                format!(", and so did {others} others")
            } else {
                String::new()
            };
            format!("HPU {core} stopped after {} in {}{others}", hpu.cause, hpu.place)
        }),
        kinds("handlers were refused something", &summary.refusals),
        (others > 0).then(|| format!("{others} commands or copies without a handler were refused")),
        (no_context > 0)
            .then(|| format!("{no_context} packets were dropped because no handlers were loaded for them")),
    ];
    let troubles: Vec<String> = troubles.into_iter().flatten().collect();
    (!troubles.is_empty()).then(|| {
        let troubles = troubles.join("; ");
        format!("{troubles}. Use --allow-faults to exit with success")
    })
}

fn count(kinds: &[FaultKind]) -> u64 {
    kinds.iter().map(|kind| kind.count).sum()
}

/// Count, and the most frequent case.
fn kinds(what: &str, kinds: &[FaultKind]) -> Option<String> {
    let first = kinds.first()?;
    let times = match count(kinds) {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    let place = [&first.handler, &first.source].map(String::as_str);
    let place: Vec<&str> = place.into_iter().filter(|place| !place.is_empty()).collect();
    let which = if kinds.len() > 1 { ", most often" } else { ":" };
    Some(format!(
        "{what} {times}{which} {} in {}",
        first.cause,
        place.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::BrokenHpu;

    fn kind(handler: &str, cause: &str, count: u64) -> FaultKind {
        FaultKind {
            handler: handler.to_owned(),
            source: "app.c:4".to_owned(),
            cause: cause.to_owned(),
            count,
            ..FaultKind::default()
        }
    }

    #[test]
    fn each_kind_of_fault_is_reported_and_fails_unless_allowed() {
        let broken = BrokenHpu {
            cluster: 1,
            core: 2,
            place: "start".to_owned(),
            pc: 0,
            cause: "store".to_owned(),
        };
        let cases = [
            (
                Summary {
                    faults: vec![kind("a_ph", "load", 2), kind("a_th", "trap", 1)],
                    ..Summary::default()
                },
                "handlers failed 3 times, most often load in a_ph, app.c:4. ",
            ),
            (
                Summary {
                    broken: vec![broken],
                    ..Summary::default()
                },
                "HPU 1.2 stopped after store in start. ",
            ),
            (
                Summary {
                    refusals: vec![kind("a_ph", "packet", 1)],
                    refused_commands: 3,
                    ..Summary::default()
                },
                "handlers were refused something once: packet in a_ph, app.c:4; 2 commands or copies without a handler were refused",
            ),
            (
                Summary {
                    drops: [(NO_CONTEXT.to_owned(), 4)].into(),
                    ..Summary::default()
                },
                "4 packets were dropped because no handlers were loaded for them. ",
            ),
        ];
        for (summary, begin) in cases {
            let failure = check_faults(&summary, false).expect_err(begin).to_string();
            assert!(failure.starts_with(begin), "{failure}");
            assert!(failure.contains("--allow-faults"), "{failure}");
            assert!(check_faults(&summary, true).is_ok(), "{begin}");
        }
        // Packets that were dropped by overload are no fault of the program.
        let overload = Summary {
            drops: [("overload".to_owned(), 9), ("no_slot".to_owned(), 9)].into(),
            ..Summary::default()
        };
        assert!(check_faults(&overload, false).is_ok());
    }
}
