//! Where packets come from and go to, as the arguments say.

use super::args::PacketArguments;
use crate::net::generator::RecipeError;
use crate::net::{
    Generator, NetError, Next, PacketSocket, PcapSink, PcapSource, Recipe, Sink, Source, Tap, TapConfig,
    TapEnd, Timing,
};
use crate::terminal::{Failure, tell};
use anyhow::anyhow;
use std::os::fd::AsFd;
use std::path::Path;

/// Both sides of the NIC.
pub(crate) struct Ends {
    /// Frames from the wire.
    pub(crate) source: Box<dyn Source>,
    /// Frames of the host.
    pub(crate) host_sources: Vec<Box<dyn Source>>,
    /// Who takes what leaves for the wire.
    pub(crate) wire: Vec<Box<dyn Sink>>,
    /// Who takes what goes to the host.
    pub(crate) host: Vec<Box<dyn Sink>>,
    /// What to wait for while nothing is to be done.
    pub(crate) wakes: Vec<Box<dyn AsFd>>,
}

/// Opens everything that was asked for, which is something.
///
/// # Errors
/// If something is missing or cannot be used.
pub(super) fn open(arguments: &PacketArguments) -> Result<Ends, Failure> {
    let live = &arguments.live;
    let interfaces = [&live.tap, &live.attach, &arguments.generate];
    match arguments.pcap.is_none() && interfaces.into_iter().all(Option::is_none) {
        true => Err(Failure::usage(anyhow!("there are no packets"))),
        false => open_if_any(arguments),
    }
}

/// Opens what was asked for; without any packets, the wire is silent.
///
/// # Errors
/// If something is missing or cannot be used.
pub(super) fn open_if_any(arguments: &PacketArguments) -> Result<Ends, Failure> {
    let mut ends = match (
        &arguments.pcap,
        &arguments.generate,
        &arguments.live.attach,
        &arguments.live.tap,
    ) {
        (Some(file), ..) => Ends::new(capture(file, arguments.back_to_back)?),
        (_, Some(text), ..) => Ends::new(Box::new(Generator::new(recipe(text)?))),
        (_, _, Some(name), _) => attach(name)?,
        (.., Some(name)) => return tap(name, arguments),
        (None, None, None, None) => Ends::silent(),
    };
    if let Some(name) = &arguments.live.tap {
        let cable = Tap::create(&TapConfig::new(name)).map_err(Failure::usage)?;
        ends.take_host(&cable);
    }
    ends.write_captures(arguments)?;
    Ok(ends)
}

/// A wire on which nothing comes.
#[derive(Debug)]
struct Silence;

impl Source for Silence {
    fn next(&mut self, _now_ps: u64) -> Result<Next, NetError> {
        Ok(Next::End)
    }
}

impl Ends {
    /// A source of packets, and nobody who takes any.
    pub(super) fn new(source: Box<dyn Source>) -> Self {
        Self {
            source,
            host_sources: Vec::new(),
            wire: Vec::new(),
            host: Vec::new(),
            wakes: Vec::new(),
        }
    }

    /// A wire on which nothing comes.
    pub(crate) fn silent() -> Self {
        Self::new(Box::new(Silence))
    }

    /// The host is an interface of this machine.
    pub(crate) fn add_host(&mut self, end: &TapEnd) {
        self.host_sources.push(Box::new(end.clone()));
        self.host.push(Box::new(end.clone()));
    }

    /// The host is at one end of a cable.
    fn take_host(&mut self, cable: &Tap) {
        self.add_host(&cable.host);
        self.wakes.push(Box::new(cable.host.clone()));
        // Nobody listens to the other end, but it lives as long as this one.
        self.wakes.push(Box::new(cable.wire.clone()));
    }

    fn write_captures(&mut self, arguments: &PacketArguments) -> Result<(), Failure> {
        for (file, sinks) in [
            (&arguments.out, &mut self.wire),
            (&arguments.out_host, &mut self.host),
        ] {
            if let Some(file) = file {
                sinks.push(Box::new(PcapSink::create(file).map_err(Failure::usage)?));
            }
        }
        Ok(())
    }
}

fn capture(file: &Path, back_to_back: bool) -> Result<Box<dyn Source>, Failure> {
    let timing = match back_to_back {
        true => Timing::BackToBack,
        false => Timing::Recorded,
    };
    Ok(Box::new(PcapSource::open(file, timing).map_err(Failure::usage)?))
}

fn recipe(text: &str) -> Result<Recipe, Failure> {
    text.parse()
        .map_err(|error: RecipeError| Failure::usage(anyhow!("--generate {text}: {error}")))
}

/// An existing interface as the wire.
fn attach(name: &str) -> Result<Ends, Failure> {
    let socket = PacketSocket::attach(name).map_err(Failure::usage)?;
    let mut ends = Ends::new(Box::new(socket.clone()));
    ends.wire.push(Box::new(socket.clone()));
    ends.wakes.push(Box::new(socket));
    Ok(ends)
}

/// A cable between the host and a namespace of its own, with the NIC in between.
fn tap(name: &str, arguments: &PacketArguments) -> Result<Ends, Failure> {
    let config = TapConfig::new(name);
    let cable = Tap::create(&config).map_err(Failure::usage)?;
    let mut ends = Ends::new(Box::new(cable.wire.clone()));
    ends.wire.push(Box::new(cable.wire.clone()));
    ends.take_host(&cable);
    ends.write_captures(arguments)?;
    tell(format_args!(
        "{} is the NIC ({}), {} ({}) the other end of its cable; try in another terminal:\n  {}",
        config.name,
        config.host,
        config.wire_name(),
        config.wire,
        config.ping_command()
    ));
    Ok(ends)
}
