//! Where packets come from and go to, as the arguments say.

use super::args::RunArguments;
use crate::cli::Failure;
use crate::net::{
    Generator, PacketSocket, PcapSink, PcapSource, Recipe, Sink, Source, Tap, TapConfig, Timing,
};
use std::os::fd::AsFd;

/// Both sides of the NIC.
pub(super) struct Ends {
    /// Frames from the wire.
    pub(super) source: Box<dyn Source>,
    /// Frames of the host, where there is one.
    pub(super) host_source: Option<Box<dyn Source>>,
    /// Who takes what leaves for the wire.
    pub(super) wire: Vec<Box<dyn Sink>>,
    /// Who takes what goes to the host.
    pub(super) host: Vec<Box<dyn Sink>>,
    /// What to wait for while nothing is to be done.
    pub(super) wakes: Vec<Box<dyn AsFd>>,
}

/// Opens everything that was asked for.
///
/// # Errors
/// If something is missing or cannot be used.
pub(super) fn open(arguments: &RunArguments) -> Result<Ends, Failure> {
    let mut ends = Ends {
        source: source(arguments)?,
        host_source: None,
        wire: Vec::new(),
        host: Vec::new(),
        wakes: Vec::new(),
    };
    if let Some(name) = &arguments.tap {
        tap(name, arguments, &mut ends)?;
    }
    if let Some(name) = &arguments.attach {
        let socket = PacketSocket::attach(name).map_err(Failure::usage)?;
        ends.source = Box::new(socket.source());
        ends.wire.push(Box::new(socket.sink()));
        ends.wakes.push(Box::new(socket));
    }
    for (file, sinks) in [
        (&arguments.out, &mut ends.wire),
        (&arguments.out_host, &mut ends.host),
    ] {
        if let Some(file) = file {
            sinks.push(Box::new(PcapSink::create(file).map_err(Failure::usage)?));
        }
    }
    Ok(ends)
}

/// A capture or made-up packets; otherwise none, and a live source takes its place.
fn source(arguments: &RunArguments) -> Result<Box<dyn Source>, Failure> {
    if let Some(file) = &arguments.pcap {
        let timing = match arguments.back_to_back {
            true => Timing::BackToBack,
            false => Timing::Recorded,
        };
        return Ok(Box::new(PcapSource::open(file, timing).map_err(Failure::usage)?));
    }
    let text = arguments.generate.as_deref().unwrap_or("udp,count=0");
    let recipe: Recipe = text.parse().map_err(|error| {
        Failure::usage(anyhow::Error::new(error).context(format!("--generate {text} cannot be understood")))
    })?;
    Ok(Box::new(Generator::new(recipe)))
}

/// The host's interface; without another wire, the other end of the cable as well.
fn tap(name: &str, arguments: &RunArguments, ends: &mut Ends) -> Result<(), Failure> {
    let config = TapConfig::new(name);
    let tap = Tap::create(&config).map_err(Failure::usage)?;
    ends.host_source = Some(Box::new(tap.host.source()));
    ends.host.push(Box::new(tap.host.sink()));
    ends.wakes.push(Box::new(tap.host.clone()));
    if arguments.attach.is_none() {
        ends.source = Box::new(tap.wire.source());
        ends.wire.push(Box::new(tap.wire.sink()));
        eprintln!(
            "{} is the NIC ({}), {} the other end of its cable; try in another terminal:\n  {}",
            config.name,
            config.host,
            config.wire_name(),
            config.ping_command()
        );
    }
    ends.wakes.push(Box::new(tap.wire.clone()));
    Ok(())
}
