//! `molly run`: a program on threads or under MPI, with its time.

use crate::args::{RunArguments, named};
use crate::failure::Failure;
use crate::known::{Known, Ran};
use crate::plan::print;
use crate::setup::{Setup, join};
use molly::Network;
use molly::mpi::{Mpi, ranks};
use serde::Serialize;
use spinneret_mpi::library::Config;
use std::time::Duration;

/// After how long a rank gives up waiting for another one.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a program on all ranks; what each did, or under MPI what this one did.
pub(crate) fn execute(
    known: &Known,
    setup: &Setup,
    gathers: bool,
    mpi: Option<&Mpi>,
) -> molly::Result<Vec<Ran>> {
    match mpi {
        None => {
            let network = Network {
                patience: PATIENCE,
                latency: setup.latency,
                ..Network::default()
            };
            molly::threads(&setup.geometry, &network, |rank| {
                (known.run)(rank, setup, gathers)
            })
        }
        Some(mpi) if let Some(nics) = &setup.nics => {
            let name = nics.folder.join(format!("nic{}", mpi.world().rank()));
            let nic = (&*format!("unix:{}", name.display()), &nics.program);
            let ended = molly_nic::ranks(mpi, &setup.geometry, nic, Config::default(), |rank| {
                (known.run)(rank, setup, gathers)
            })?;
            Ok(vec![Ran {
                placed: Some(ended.placed),
                ..ended.result
            }])
        }
        Some(mpi) => ranks(mpi, &setup.geometry, PATIENCE, |rank| {
            (known.run)(rank, setup, gathers).map(|ran| vec![ran])
        }),
    }
}

#[derive(Debug, Serialize)]
struct Shown<'a> {
    program: &'a str,
    size: &'a [i64],
    steps: i64,
    geometry: String,
    transport: &'a str,
    planning_s: f64,
    seconds: f64,
    updates_per_s: f64,
    /// Sent by this process's ranks.
    messages: u64,
    elements: u64,
    bytes: u64,
    /// Bytes that they copied to buffers before they sent them, and out of buffers.
    packed: u64,
    unpacked: u64,
}

pub(crate) fn run(arguments: &RunArguments, mpi: Option<&Mpi>) -> Result<(), Failure> {
    let known = named(&arguments.program)?;
    let mut setup = arguments.asked.setup(&known, known.size, mpi, true)?;
    setup.check_room(&(known.program)().element_bytes, 1, mpi)?;
    setup.nics = arguments.nics.setup(mpi)?;
    setup.repeats = arguments.repeat;
    setup.latency = Duration::from_micros(arguments.latency);
    let ran = execute(&known, &setup, false, mpi)?;
    if mpi.is_some_and(|mpi| mpi.world().rank() != 0) {
        return Ok(());
    }
    let seconds = ran.iter().map(|ran| ran.seconds).fold(0.0, f64::max);
    let sum = |of: fn(&Ran) -> u64| ran.iter().map(of).sum();
    let points = setup.shape.iter().product::<i64>() as f64;
    let shown = Shown {
        program: known.name,
        size: &setup.shape,
        steps: setup.steps,
        geometry: setup.geometry.to_string(),
        transport: match (&setup.nics, mpi) {
            (Some(_), _) => "NICs",
            (None, Some(_)) => "MPI",
            (None, None) => "threads",
        },
        planning_s: ran.iter().map(|ran| ran.planning_s).fold(0.0, f64::max),
        seconds,
        updates_per_s: points * setup.steps as f64 / seconds,
        messages: sum(|ran| ran.traffic.messages),
        elements: sum(|ran| ran.traffic.elements),
        bytes: sum(|ran| ran.traffic.bytes),
        packed: sum(|ran| ran.traffic.packed),
        unpacked: sum(|ran| ran.traffic.unpacked),
    };
    if arguments.json {
        let text = serde_json::to_string_pretty(&shown).map_err(Failure::work)?;
        return print(&(text + "\n"));
    }
    let whose = if mpi.is_some() { "rank 0" } else { "all ranks" };
    print(&format!(
        "{}, {} on {} ({}): planned in {:.3} s, ran in {:.3} s\n\
         {:.1} million points a second; {whose} sent {} messages, {} elements, {} B\n",
        known.name,
        join(&setup.shape),
        setup.geometry,
        shown.transport,
        shown.planning_s,
        shown.seconds,
        shown.updates_per_s / 1e6,
        shown.messages,
        shown.elements,
        shown.bytes
    ))
}
