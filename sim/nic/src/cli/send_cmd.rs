//! `spinneret send`: a file as an SLMP message, over this machine's network.

use crate::net::Interrupt;
use crate::terminal::{Failure, megabits, print, print_folded, seconds};
use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use spinneret_slmp::wire::PORT;
use spinneret_slmp::{Mode, Sender, SenderConfig, Statistics, udp};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Arguments of `spinneret send`.
#[derive(Clone, Debug, Args)]
pub struct SendArguments {
    /// What to send
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// To whom: an IPv4 address, with a port if it is not 9330
    #[arg(long, value_name = "ADDR[:PORT]", value_parser = address)]
    pub to: SocketAddrV4,
    /// Which segments the receiver acknowledges
    #[arg(long, value_enum, default_value_t = Reliability::Window)]
    pub mode: Reliability,
    /// Segments without acknowledgement at a time
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    pub window: u16,
    /// Payload of a segment in bytes
    #[arg(long, value_name = "BYTES", default_value_t = SenderConfig::default().segment_bytes)]
    pub segment: usize,
    /// Send at most so many megabits a second
    #[arg(long, value_name = "MBIT/S", value_parser = megabits, allow_negative_numbers = true)]
    pub rate: Option<u64>,
    /// Give up when nothing was acknowledged for so long
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds, allow_negative_numbers = true)]
    pub give_up: Duration,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// How sure the sender wants to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Reliability {
    /// All segments are acknowledged, and sent again if they are lost
    Window,
    /// The first and the last segment are acknowledged, and everything sent again if something is missing
    Message,
    /// Nothing is acknowledged: the file may not arrive, and nobody will know
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
/// If the file cannot be read or is not delivered.
pub fn run(arguments: &SendArguments) -> Result<(), Failure> {
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

/// The file, if it can be a message.
fn read(path: &Path, config: SenderConfig) -> anyhow::Result<Vec<u8>> {
    let found = std::fs::metadata(path)?;
    // Devices and pipes may have no end.
    anyhow::ensure!(found.is_file(), "it is no file");
    Sender::new(config, 0, found.len())?;
    Ok(std::fs::read(path)?)
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
        Reliability::None => "sent, and nobody knows whether it arrived",
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
