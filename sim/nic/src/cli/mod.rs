//! The `spinneret` command.
//!
//! Exit codes: 0 success; 1 the work began and failed (a damaged capture, handlers that failed, hardware that disagrees
//! with its model); 2 the work could not begin as asked (arguments, rule files, missing or foreign captures, outputs
//! that cannot be created); 130 Ctrl-C before it began. Nothing is written in the last two cases.

mod boards;
pub mod match_cmd;
mod service;

pub use match_cmd::{Report, RuleSetReport};

use crate::fabric::FabricArguments;
use crate::installed;
use crate::net::Interrupt;
use crate::run::{ReceiveArguments, RunArguments, ServeArguments, ShareArguments};
use crate::terminal::{Failure, megabits, print, print_folded, seconds, tell_failure};
use anyhow::{Context as _, anyhow};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use spinneret_manual::ManualArguments;
use spinneret_slmp::wire::PORT;
use spinneret_slmp::{Mode, Sender, SenderConfig, Statistics, udp};
use std::fs;
use std::fs::Permissions;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    the work started and failed: a damaged capture, an invalid packet, hardware that disagrees with its model,
       handlers that failed or were refused something (without --allow-faults)
  2    the work could not start: invalid arguments, rule file, capture or outputs; nothing was written
  130  Ctrl-C before the work started, nothing was written; or a second Ctrl-C";

/// The compiler of the models determines the speed, so `--version` shows it.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nmodels of the hardware compiled by ",
    env!("SPINNERET_MODEL_COMPILER")
);

/// Runs packets through the simulated hardware of spinneret, an open sPIN network card.
#[derive(Debug, Parser)]
#[command(name = "spinneret", version, long_version = LONG_VERSION, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sort the packets of a capture by rules, as the matching engine does
    Match(match_cmd::MatchArguments),
    /// Run handlers on the NIC with packets from a capture, a generator or a network interface
    Run(Box<RunArguments>),
    /// Serve a NIC to programs in other processes, or to a virtual machine
    Serve(Box<ServeArguments>),
    /// Share the card of this machine among programs in several processes
    Share(ShareArguments),
    /// List the boards that answer at a network interface
    Boards(boards::BoardsArguments),
    /// Simulate many NICs that are connected by cables and switches
    Fabric(Box<FabricArguments>),
    /// Send a file to an SLMP receiver over the network of this machine
    Send(SendArguments),
    /// Receive files over SLMP, with handlers on the NIC or at a UDP port
    Receive(Box<ReceiveArguments>),
    /// Create a folder with a handler, rules, a Makefile and a test
    New(NewArguments),
    /// Write stubs for handlers from annotated prototypes in C, and a C file that registers the functions
    Service(service::ServiceArguments),
    /// Print the folder of the headers, the linker script and the example handlers
    Where,
    /// Write manual pages and completions for shells
    #[command(hide = true)]
    Manual(ManualArguments),
}

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Command::Match(arguments) => match_cmd::run(arguments),
        Command::Run(arguments) => crate::run::run(arguments),
        Command::Serve(arguments) => crate::run::serve(arguments),
        Command::Share(arguments) => crate::run::share(arguments),
        Command::Boards(arguments) => boards::run(arguments),
        Command::Fabric(arguments) => crate::fabric::fabric(arguments),
        Command::Send(arguments) => send(arguments),
        Command::Receive(arguments) => crate::run::receive(arguments),
        Command::New(arguments) => run_new(arguments),
        Command::Service(arguments) => service::run(arguments),
        Command::Where => tell_where(),
        Command::Manual(arguments) => {
            spinneret_manual::write(&Arguments::command(), "spinneret", &arguments.share)
                .map_err(|error| Failure::Work(anyhow!("{error}")))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            tell_failure(&failure);
            failure.exit_code()
        }
    }
}

/// Placeholder of the handler's name in names and texts of files.
const NAME: &str = "NAME";

/// Files of a new folder: names, texts, and whether they are programs.
const FILES: [(&str, &str, bool); 6] = [
    ("NAME.c", include_str!("new/handler.c"), false),
    ("rules.toml", include_str!("new/rules.toml"), false),
    ("Makefile", include_str!("new/Makefile"), false),
    ("test.sh", include_str!("new/test.sh"), true),
    ("README.md", include_str!("new/README.md"), false),
    (".gitignore", "build/\n", false),
];

/// Arguments of `spinneret new`.
#[derive(Clone, Debug, Args)]
struct NewArguments {
    /// Folder to create; its last component is the name of the handler
    #[arg(value_name = "NAME")]
    path: PathBuf,
}

/// Makes a folder with a handler that runs, its rules, a Makefile and a test.
///
/// # Errors
/// If the name is no name of a handler, or the folder exists or cannot be created; no files are left then.
fn run_new(arguments: &NewArguments) -> Result<(), Failure> {
    let path = &arguments.path;
    let name = name(path).map_err(Failure::Usage)?;
    fs::create_dir(path)
        .with_context(|| format!("{} cannot be made", path.display()))
        .map_err(|error| Failure::Usage(anyhow!("{error:#}")))?;
    if let Err(error) = fill(path, name) {
        // The folder was created here.
        let _ = fs::remove_dir_all(path);
        return Err(Failure::Work(anyhow!("{error:#}")));
    }
    let shown = path.display();
    print_folded(format_args!(
        "{shown} has a handler that answers UDP packets to port 9000; try\n  make -C {shown} test\n  \
         spinneret run {shown} --generate udp,dport=9000,rate=10Gbps,count=1000\n"
    ))
    .map_err(Failure::Work)
}

/// Prints where the headers, the linker script and the examples are.
///
/// # Errors
/// If they are nowhere.
fn tell_where() -> Result<(), Failure> {
    let runtime = installed::runtime().map_err(Failure::usage)?;
    print(format_args!("{}\n", runtime.display())).map_err(Failure::Work)
}

/// The name of the handler: the functions that are called begin with it.
fn name(path: &Path) -> anyhow::Result<&str> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic());
    anyhow::ensure!(
        begins && name.chars().all(is_word),
        "`{name}` cannot be the name of a C function: take letters, digits and _, a letter first"
    );
    Ok(name)
}

fn fill(path: &Path, name: &str) -> anyhow::Result<()> {
    for (file, text, is_program) in FILES {
        let file = path.join(file.replace(NAME, name));
        let write = || {
            fs::write(&file, text.replace(NAME, name))?;
            match is_program {
                true => fs::set_permissions(&file, Permissions::from_mode(0o755)),
                false => Ok(()),
            }
        };
        write().with_context(|| format!("{} cannot be written", file.display()))?;
    }
    Ok(())
}

/// Arguments of `spinneret send`.
#[derive(Clone, Debug, Args)]
struct SendArguments {
    /// File to send
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Receiver: an IPv4 address, with a port if it is not 9330
    #[arg(long, value_name = "ADDR[:PORT]", value_parser = address)]
    to: SocketAddrV4,
    /// Reliability
    #[arg(long, value_enum, default_value_t = Reliability::Window)]
    mode: Reliability,
    /// Maximum number of unacknowledged segments
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    window: u16,
    /// Payload of a segment in bytes
    #[arg(long, value_name = "BYTES", default_value_t = SenderConfig::default().segment_bytes)]
    segment: usize,
    /// Maximum rate in Mbit/s
    #[arg(long, value_name = "MBIT/S", value_parser = megabits, allow_negative_numbers = true)]
    rate: Option<u64>,
    /// Give up after this time in seconds without an acknowledgement
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds, allow_negative_numbers = true)]
    give_up: Duration,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The level of reliability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Reliability {
    /// The receiver acknowledges all segments, and lost ones are sent again
    Window,
    /// The receiver acknowledges the first and the last segment; if one is missing, all are sent again
    Message,
    /// No acknowledgements: the file may be lost without notice
    None,
}

/// An address, with a port or without.
fn address(text: &str) -> Result<SocketAddrV4, String> {
    let address = text
        .parse::<Ipv4Addr>()
        .map(|address| SocketAddrV4::new(address, PORT));
    address
        .or_else(|_| text.parse())
        .map_err(|_| "write an IPv4 address such as 10.9.0.1, or with a port 10.9.0.1:9330".to_owned())
}

/// Runs the command and prints its result.
///
/// # Errors
/// If the file cannot be read or delivered.
fn send(arguments: &SendArguments) -> Result<(), Failure> {
    let config = config(arguments);
    let message = read(&arguments.file, config)
        .with_context(|| format!("{} cannot be sent", arguments.file.display()))
        .map_err(|error| Failure::Usage(anyhow!("{error:#}")))?;
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(Failure::work)?;
    let interrupt = Interrupt::catch().map_err(Failure::work)?;
    let bar = progress_bar(message.len() as u64);
    let begun = Instant::now();
    let sent = udp::send(&socket, arguments.to, &message, config, |statistics| {
        bar.set_position(statistics.acknowledged_bytes);
        bar.set_message(format!("{} sent again", statistics.retransmissions));
        match interrupt.is_set() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    bar.finish_and_clear();
    let statistics = sent.map_err(|error| {
        let file = arguments.file.display();
        Failure::Work(anyhow!("{file} was not delivered: {error}"))
    })?;
    show(arguments, message.len(), &statistics, begun.elapsed()).map_err(Failure::Work)?;
    Ok(())
}

/// Reads the file, if it can be a message.
fn read(path: &Path, config: SenderConfig) -> anyhow::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    // Devices and pipes may be endless.
    anyhow::ensure!(found.is_file(), "not a regular file");
    Sender::new(config, 0, found.len())?;
    Ok(fs::read(path)?)
}

fn config(arguments: &SendArguments) -> SenderConfig {
    SenderConfig {
        mode: match arguments.mode {
            Reliability::Window => Mode::Window(arguments.window),
            Reliability::Message => Mode::Message,
            Reliability::None => Mode::None,
        },
        segment_bytes: arguments.segment,
        rate_bits_per_s: arguments.rate,
        give_up: arguments.give_up,
        ..SenderConfig::default()
    }
}

fn progress_bar(bytes: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bytes} of {total_bytes} {bar:30} {bytes_per_sec} {msg}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(bytes).with_style(style)
}

fn show(
    arguments: &SendArguments,
    bytes: usize,
    statistics: &Statistics,
    took: Duration,
) -> anyhow::Result<()> {
    let mbits = bytes as f64 * 8.0 / took.as_secs_f64() / 1e6;
    let round_trip = statistics
        .smoothed_round_trip
        .map(|time| time.as_secs_f64() * 1e6);
    if arguments.json {
        let result = json!({
            "bytes": bytes, "seconds": took.as_secs_f64(), "mbits_per_second": mbits,
            "segments": statistics.segments, "retransmissions": statistics.retransmissions,
            "timeouts": statistics.timeouts, "acks": statistics.acks, "duplicate_acks": statistics.duplicate_acks,
            "round_trip_us": round_trip,
        });
        return print(format_args!("{result:#}\n"));
    }
    let what = match arguments.mode {
        Reliability::None => "sent without acknowledgements",
        _ => "delivered",
    };
    print_folded(format_args!(
        "{} {what}: {bytes} bytes in {:.3} s, {mbits:.1} Mb/s; {} segments, {} sent again{}\n",
        arguments.file.display(),
        took.as_secs_f64(),
        statistics.segments,
        statistics.retransmissions,
        round_trip
            .map(|time| format!(", round trip {time:.0} us"))
            .unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_c_functions() {
        assert_eq!(
            name(Path::new("some/folder/echo_2")).expect("it is one"),
            "echo_2"
        );
        for wrong in ["", "2x", "a-b", "_a", "é", "a b", "x/.."] {
            let said = name(Path::new(wrong)).expect_err(wrong).to_string();
            assert!(said.contains("cannot be the name of a C function"), "{said}");
        }
    }
}
