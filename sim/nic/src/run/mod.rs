//! `spinneret run` and its relatives: the NIC with packets from somewhere, and handlers or a program that brings them.

mod embedded;
pub(crate) mod faults;
pub(crate) mod handlers;
pub(crate) mod host;
pub(crate) mod main_loop;
mod receive;
mod serve;
mod session;
pub(crate) mod setup;
mod wave;

pub use embedded::{Embedded, Outcome};
pub use handlers::{BuildError, program};
pub use host::HostPing;
pub use receive::{ReceiveArguments, receive};
pub use serve::{ServeArguments, serve};
pub use session::run;

use crate::gdb::DebugArguments;
use crate::terminal::{Files, megahertz, seconds};
use clap::{ArgGroup, Args};
use spinneret_fabric::{Ps, units};
use std::path::PathBuf;
use std::time::Duration;

/// Longest time to host memory and back in nanoseconds: hundreds of times what any bus takes.
const MAX_HOST_LATENCY: u64 = 1_000_000;

/// Arguments of `spinneret run`.
#[derive(Clone, Debug, Args)]
#[command(override_usage = "spinneret run [OPTIONS] <--pcap|--generate|--tap|--attach> <HANDLERS>")]
#[command(group(ArgGroup::new("packets").required(true).multiple(true).args(["pcap", "generate", "tap", "attach"])))]
pub struct RunArguments {
    /// Handlers: a folder with a Makefile, which is built first, or an ELF file
    #[arg(value_name = "HANDLERS")]
    pub target: PathBuf,
    /// Rules that packets are matched by [default: rules.toml in the folder of the handlers]
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Handlers for rulesets that have no handlers of their own name: what stands before _hh, _ph and _th
    #[arg(long, value_name = "NAME")]
    pub handler: Option<String>,
    /// Packets
    #[command(flatten)]
    pub packets: PacketArguments,
    /// Be the program on the host that `host_ping` needs: answer the pings that its handlers hand over
    #[arg(long, help_heading = "Packets")]
    pub host_ping: bool,
    /// Answer the calls of handlers (spin_rpc.h): their text comes to standard error, files only with a folder, and nowhere else
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, conflicts_with = "host_ping", help_heading = "Packets")]
    pub services: Option<Option<PathBuf>>,
    /// Hardware
    #[command(flatten)]
    pub hardware: HardwareArguments,
    /// Results
    #[command(flatten)]
    pub results: ResultArguments,
    /// Succeed all the same if handlers fail, are refused something, or are not there for a packet
    #[arg(long, help_heading = "Results")]
    pub allow_faults: bool,
    /// Debugging
    #[command(flatten)]
    pub debug: DebugArguments,
}

/// Where packets come from and go to.
#[derive(Clone, Debug, Default, Args)]
pub struct PacketArguments {
    /// Packets from a capture: pcap or pcapng, Ethernet
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tap", "attach"], help_heading = "Packets")]
    pub pcap: Option<PathBuf>,
    /// Packets of a capture as fast as the wire carries them, instead of at their times
    #[arg(long, requires = "pcap", help_heading = "Packets")]
    pub back_to_back: bool,
    /// Packets made up, such as udp,size=64..1500,rate=10Gbps,count=1e5
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["pcap", "tap", "attach"], help_heading = "Packets")]
    pub generate: Option<String>,
    /// The interface, and how long
    #[command(flatten)]
    pub live: LiveArguments,
    /// Write the frames that leave for the wire to this pcap file
    #[arg(long, value_name = "FILE", help_heading = "Packets")]
    pub out: Option<PathBuf>,
    /// Write the packets that go to the host to this pcap file
    #[arg(long, value_name = "FILE", help_heading = "Packets")]
    pub out_host: Option<PathBuf>,
}

/// The interface that packets come from, if it is one, and how long they may come.
#[derive(Clone, Debug, Default, Args)]
pub struct LiveArguments {
    /// Make a network interface of that name, which is the NIC as this machine sees it
    #[arg(long, value_name = "NAME", help_heading = "Packets")]
    pub tap: Option<String>,
    /// Take an existing network interface for the wire
    #[arg(long, value_name = "NAME", help_heading = "Packets")]
    pub attach: Option<String>,
    /// End after that many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = "Packets")]
    pub duration: Option<Duration>,
}

/// The simulated hardware.
#[derive(Clone, Debug, Args)]
pub struct HardwareArguments {
    /// Clusters of HPUs
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8), help_heading = "Hardware")]
    pub clusters: u8,
    /// HPUs of each cluster
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=8), help_heading = "Hardware")]
    pub hpus: u8,
    /// Clock of the clusters
    #[arg(long = "cluster-mhz", value_name = "MHZ", default_value = "40", value_parser = megahertz, allow_negative_numbers = true, help_heading = "Hardware")]
    pub cluster_ps: u64,
    /// Clock of everything else
    #[arg(long = "core-mhz", value_name = "MHZ", default_value = "250", value_parser = megahertz, allow_negative_numbers = true, help_heading = "Hardware")]
    pub core_ps: u64,
    /// Time to host memory and back, at most a millisecond
    #[arg(long, value_name = "NS", default_value_t = 450, value_parser = clap::value_parser!(u64).range(..=MAX_HOST_LATENCY), help_heading = "Hardware")]
    pub host_latency: u64,
    /// Clocks after which a handler is ended
    #[arg(
        long,
        value_name = "CLOCKS",
        default_value_t = 1_000_000,
        help_heading = "Hardware"
    )]
    pub watchdog: u64,
    /// Give the cluster the defects of the public one, which docs/cluster/model.md lists; it has no watchdog
    #[arg(long, help_heading = "Hardware")]
    pub strict_pspin: bool,
    /// Simulate every clock, also those in which nothing happens
    #[arg(long, help_heading = "Hardware")]
    pub no_skip: bool,
}

/// What is written about a run.
#[derive(Clone, Debug, Args)]
pub struct ResultArguments {
    /// Print the result as JSON
    #[arg(long, help_heading = "Results")]
    pub json: bool,
    /// Write what happened when, for ui.perfetto.dev
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub trace: Option<PathBuf>,
    /// Write a waveform (FST) of the hardware
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub wave: Option<PathBuf>,
    /// Only this part of it: an instance of a module, such as u_ingress, or a signal; points are between names
    #[arg(long, value_name = "NAME", requires = "wave", help_heading = "Results")]
    pub wave_scope: Option<String>,
    /// Only from this simulated time on, such as 20us
    #[arg(long, value_name = "TIME", requires = "wave", value_parser = units::time, help_heading = "Results")]
    pub wave_from: Option<Ps>,
    /// Only up to this simulated time, such as 1.5ms
    #[arg(long, value_name = "TIME", requires = "wave", value_parser = units::time, help_heading = "Results")]
    pub wave_until: Option<Ps>,
    /// Draw latency and load over time (SVG)
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub plot: Option<PathBuf>,
    /// Show the run in a browser while it goes; the page is on this machine only, at that port or any that is free
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0", help_heading = "Results")]
    pub watch: Option<u16>,
    /// Write the same page, as it is at the end, to one HTML file
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub report: Option<PathBuf>,
    /// Tell where in the handlers the time goes
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
