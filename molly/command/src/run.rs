//! `molly run` and `molly check`: a program on threads or under MPI, timed or compared with the serial run.

use crate::Failure;
use crate::args::{CheckArguments, RunArguments, named};
use crate::plan::print;
use crate::programs::{Builtin, Ran, Serial, Setup, all, join};
use anyhow::anyhow;
use molly::mpi::{Mpi, ranks};
use molly::random::Case;
use molly::{Network, Options, Plan, Traffic};
use serde::Serialize;
use spinneret_mpi::library::Config;
use std::time::Duration;

/// After how long a rank gives up waiting for another one.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a program on all ranks; what each did, or under MPI what this one did.
pub(crate) fn execute(
    builtin: &Builtin,
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
                (builtin.run)(rank, setup, gathers)
            })
        }
        Some(mpi) if let Some(nics) = &setup.nics => {
            let name = nics.folder.join(format!("nic{}", mpi.world().rank()));
            let nic = (&*format!("unix:{}", name.display()), &nics.program);
            let ended = molly_nic::ranks(mpi, &setup.geometry, nic, Config::default(), |rank| {
                (builtin.run)(rank, setup, gathers)
            })?;
            Ok(vec![Ran {
                placed: Some(ended.placed),
                ..ended.result
            }])
        }
        Some(mpi) => ranks(mpi, &setup.geometry, PATIENCE, |rank| {
            (builtin.run)(rank, setup, gathers).map(|ran| vec![ran])
        }),
    }
}

#[derive(Debug, Serialize)]
struct RunResult<'a> {
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
    let builtin = named(&arguments.program)?;
    let mut setup = arguments.asked.setup(&builtin, builtin.size, mpi, true)?;
    setup.check_room(&(builtin.program)().element_bytes, 1, mpi)?;
    setup.nics = arguments.nics.setup(mpi)?;
    setup.repeats = arguments.repeat;
    setup.latency = Duration::from_micros(arguments.latency);
    let ran = execute(&builtin, &setup, false, mpi)?;
    if mpi.is_some_and(|mpi| mpi.world().rank() != 0) {
        return Ok(());
    }
    let seconds = ran.iter().map(|ran| ran.seconds).fold(0.0, f64::max);
    let sum = |of: fn(&Ran) -> u64| ran.iter().map(of).sum();
    let points = setup.shape.iter().product::<i64>() as f64;
    let result = RunResult {
        program: builtin.name,
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
        let text = serde_json::to_string_pretty(&result).map_err(Failure::work)?;
        return print(&(text + "\n"));
    }
    let whose = if mpi.is_some() { "rank 0" } else { "all ranks" };
    print(&format!(
        "{}, {} on {} ({}): planned in {:.3} s, ran in {:.3} s\n\
         {:.1} million points a second; {whose} sent {} messages, {} elements, {} B\n",
        builtin.name,
        join(&setup.shape),
        setup.geometry,
        result.transport,
        result.planning_s,
        result.seconds,
        result.updates_per_s / 1e6,
        result.messages,
        result.elements,
        result.bytes
    ))
}

// `molly check`: ranks against the serial program, bit by bit.

/// The result of a comparison.
#[derive(Debug, Serialize)]
struct Compared {
    program: String,
    size: Vec<i64>,
    geometry: String,
    messages: u64,
    /// Messages that the NIC of rank 0 has put into its place.
    placed_here: u64,
}

pub(crate) fn check(arguments: &CheckArguments, mpi: Option<&Mpi>) -> Result<(), Failure> {
    let compared = match (arguments.random, &arguments.program) {
        (Some(cases), _) => random(arguments, cases, mpi)?,
        (None, Some(name)) => vec![one(&named(name)?, arguments, mpi)?],
        (None, None) => all()
            .iter()
            .map(|builtin| one(builtin, arguments, mpi))
            .collect::<Result<_, _>>()?,
    };
    if mpi.is_some_and(|mpi| mpi.world().rank() != 0) {
        return Ok(());
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&compared).map_err(Failure::work)?;
        return print(&(text + "\n"));
    }
    let lines: Vec<String> = match arguments.random {
        Some(cases) => vec![format!(
            "{cases} random programs from seed {} on: all ranks read what a serial run reads, in {} messages\n",
            arguments.seed,
            compared.iter().map(|one| one.messages).sum::<u64>()
        )],
        None => compared
            .iter()
            .map(|one| {
                let placed = match &arguments.nics.nic {
                    Some(_) => format!("; {} put in place by the NIC of rank 0", one.placed_here),
                    None => String::new(),
                };
                format!(
                    "{:<14} {:>12} on {:<9} the bits of the serial run, {} messages{placed}\n",
                    one.program,
                    join(&one.size),
                    one.geometry,
                    one.messages
                )
            })
            .collect(),
    };
    print(&lines.concat())
}

/// A builtin program.
fn one(builtin: &Builtin, arguments: &CheckArguments, mpi: Option<&Mpi>) -> Result<Compared, Failure> {
    let mut setup = arguments.asked.setup(builtin, builtin.small, mpi, true)?;
    // Fields of the ranks, fields that rank 0 gathers, fields of the serial function, and the last two again as bytes.
    setup.check_room(&(builtin.program)().element_bytes, 5, mpi)?;
    setup.nics = arguments.nics.setup(mpi)?;
    let sizes = (builtin.sizes)(&setup);
    let plan = Plan::new(&(builtin.program)(), &sizes, &setup.geometry, setup.options);
    let plan = plan.map_err(Failure::usage)?;
    let messages = plan
        .check_progress(None)
        .map_err(|stuck| Failure::Work(anyhow!("{}: {stuck}", builtin.name)))?;
    let ran = execute(builtin, &setup, true, mpi)?;
    if mpi.is_none() {
        let sent: u64 = ran.iter().map(|ran| ran.traffic.messages).sum();
        if sent != messages {
            return Err(Failure::Work(anyhow!(
                "{}: {sent} messages were sent, and {messages} are planned",
                builtin.name
            )));
        }
    }
    for placed in ran.iter().filter_map(|ran| ran.placed) {
        let by_host = ran.iter().map(|ran| ran.traffic.unpacked).sum::<u64>() + placed.unpacked;
        if by_host > 0 {
            return Err(Failure::Work(anyhow!(
                "{}: the host has put messages in place that its NIC should have: {placed:?}",
                builtin.name
            )));
        }
    }
    let Serial { fields: serial, sums } = (builtin.serial)(&setup);
    for (here, expected) in ran.iter().flat_map(|ran| ran.sums.iter().zip(&sums)) {
        if !expected.is_near(*here) {
            let (found, serial) = (here.value, expected.value);
            return Err(Failure::Work(anyhow!(
                "{} on {}: a sum is {found}, and {serial} after a serial run",
                builtin.name,
                setup.geometry
            )));
        }
    }
    // Rank 0 has all of it, and the others nothing.
    if mpi.is_none_or(|mpi| mpi.world().rank() == 0)
        && let Some(field) = (0..serial.len()).find(|&field| ran[0].fields.get(field) != Some(&serial[field]))
    {
        return Err(Failure::Work(anyhow!(
            "{} on {}: `{}` has other bits than after a serial run",
            builtin.name,
            setup.geometry,
            (builtin.program)().fields[field]
        )));
    }
    Ok(Compared {
        program: builtin.name.to_owned(),
        size: setup.shape,
        geometry: setup.geometry.to_string(),
        messages,
        placed_here: ran
            .iter()
            .filter_map(|ran| ran.placed)
            .map(|placed| placed.messages)
            .sum(),
    })
}

/// Random programs. Under MPI all of them run on its ranks.
fn random(arguments: &CheckArguments, cases: u64, mpi: Option<&Mpi>) -> Result<Vec<Compared>, Failure> {
    let patience = Duration::from_secs(60);
    let (mut compared, seed) = (Vec::new(), arguments.seed);
    let options = Options {
        columns: arguments.asked.columns.columns(),
        ..Options::default()
    };
    for seed in seed..seed.saturating_add(cases) {
        let case = Case::new(seed, mpi.map(|mpi| mpi.world().size()));
        let traffic = match mpi {
            Some(mpi) => ranks(mpi, &case.grid, patience, |rank| {
                rank.set_options(options);
                case.check(rank).map(|one| vec![one])
            }),
            None => {
                let plan = Plan::new(&case.program, &case.sizes, &case.grid, Options::default());
                let checked = case.check_plan(&plan.map_err(Failure::usage)?);
                checked.map_err(|wrong| Failure::Work(anyhow!(wrong)))?;
                let network = Network {
                    delays: Some(seed),
                    patience,
                    ..Network::default()
                };
                molly::threads(&case.grid, &network, |rank| case.check(rank))
            }
        };
        let traffic: Vec<Traffic> = traffic.map_err(Failure::work)?;
        compared.push(Compared {
            program: case.program.name.clone(),
            size: case.sizes.shapes[0].clone(),
            geometry: case.grid.to_string(),
            messages: traffic.iter().map(|one| one.messages).sum(),
            placed_here: 0,
        });
    }
    Ok(compared)
}
