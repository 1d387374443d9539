//! The command: from arguments to a fabric, and from results to output.

use super::node::{Application, Outcome, Plan, check_clocks};
use super::output::Shown;
use super::{FabricArguments, Programs, build_programs, output};
use crate::net::{Generator, Interrupt, Recipe};
use crate::nic::NicConfig;
use crate::report::{Options, Recorder, ShowProgress};
use crate::run::setup;
use crate::terminal::{Failure, print, print_folded, tell};
use anyhow::{Context as _, anyhow};
use spinneret_fabric::topology::{Topology, ip_of, mac_of};
use spinneret_fabric::{
    Alone, ExternalWait, FabricError, MpiRanks, NodeExit, NodeTask, Observer, Port, Ps, Ranks, Settings, run,
    topology,
};
use spinneret_host::Address;
use spinneret_host::device::socket::Server;
use spinneret_mpi_sys::{Mpi, launched};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Samples of all queues in a picture.
const SAMPLE_PS: Ps = 1_000_000;

/// Runs the command and prints its result. With `mpirun`, each process simulates some of the NICs.
///
/// # Errors
/// If an argument cannot be used, or the fabric or a handler fails. An interrupted fabric does not
/// fail.
pub fn fabric(arguments: &FabricArguments) -> Result<(), Failure> {
    match launched().filter(|launcher| launcher.size > 1) {
        None => simulate(arguments, &mut Alone),
        Some(_) => {
            let mpi = Mpi::init().map_err(Failure::usage)?;
            let ended = MpiRanks::new(&mpi)
                .map_err(Failure::work)
                .and_then(|mut ranks| simulate(arguments, &mut ranks));
            // The others would wait for this one.
            mpi.or_abort(ended);
            Ok(())
        }
    }
}

/// The part of this process.
fn simulate(arguments: &FabricArguments, ranks: &mut dyn Ranks) -> Result<(), Failure> {
    let interrupt = Interrupt::catch().map_err(Failure::usage)?;
    let topology = arguments.topology()?;
    let config = setup::config(&arguments.hardware)?;
    check_clocks(&config)?;
    let places = topology.ranks(ranks.size());
    let (places, rank) = (&places, ranks.rank());
    let own = || topology.nics().filter(move |(node, ..)| places[*node] == rank);
    let programs = build_programs(arguments, &topology, own(), config.cluster.clusters)?;
    let parts = arguments.trace.as_deref().map(output::Parts::beside).transpose();
    let parts = parts.map_err(|error| Failure::usage(anyhow!("--trace: {error}")))?;
    let mut plans = HashMap::new();
    for (_, name, nic) in own() {
        if interrupt.is_set() {
            return Err(Failure::Interrupted);
        }
        let plan = plan(arguments, (name, nic), &config, &programs, parts.as_ref())?;
        plans.insert(nic.number, plan);
    }
    tell_where(arguments, &plans);
    let settings = Settings {
        threads: arguments.threads(),
        until_ps: arguments.until.unwrap_or(Ps::MAX),
        sample_ps: arguments.plot.is_some().then_some(SAMPLE_PS),
    };
    let outcomes = Mutex::new(BTreeMap::new());
    let mut watch = Look::new(interrupt, &topology);
    let begun = Instant::now();
    let member = |_: &str, nic: &topology::NicConfig| -> NodeTask<'_> {
        let (plan, number, outcomes) = (plans.remove(&nic.number), nic.number, &outcomes);
        Box::new(move |port| work(plan, port, number, outcomes))
    };
    let report = match run(&topology, settings, ranks, &mut watch, member) {
        // The rank that failed has printed the reason.
        Err(FabricError::Elsewhere) => return Ok(()),
        Err(error @ FabricError::NoCapture(_)) => return Err(Failure::usage(error)),
        report => report.map_err(Failure::work)?,
    };
    let outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Some(outcomes) = gather(ranks, outcomes).map_err(Failure::Work)? else {
        return Ok(());
    };
    let shown = Shown::new(report, outcomes, begun.elapsed());
    if let Some(file) = &arguments.plot {
        output::draw(file, &shown.report).map_err(Failure::Work)?;
    }
    if let Some(parts) = parts {
        parts.join(&shown.report).map_err(Failure::Work)?;
    }
    let printed = match arguments.json {
        true => print(shown.to_json().map_err(Failure::work)? + "\n"),
        false => print_folded(&shown),
    };
    printed.map_err(Failure::Work)?;
    match shown.trouble() {
        Some(trouble) => Err(Failure::Work(anyhow!(trouble))),
        None => Ok(()),
    }
}

/// Gathers the results of the NICs of all ranks at rank 0.
fn gather(
    ranks: &mut dyn Ranks,
    own: BTreeMap<usize, Outcome>,
) -> anyhow::Result<Option<BTreeMap<usize, Outcome>>> {
    let rank = ranks.rank();
    let all = ranks.gather(serde_json::to_vec(&own)?)?;
    let mut whole = BTreeMap::new();
    for part in all {
        whole.extend(serde_json::from_slice::<BTreeMap<usize, Outcome>>(&part)?);
    }
    Ok((rank == 0).then_some(whole))
}

fn work(
    plan: Option<Plan>,
    port: Port,
    number: usize,
    outcomes: &Mutex<BTreeMap<usize, Outcome>>,
) -> Result<(), NodeExit> {
    let plan = plan.ok_or_else(|| NodeExit::Failed("there is no plan for it".to_owned()))?;
    let outcome = plan.run(port)?;
    let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
    outcomes.insert(number, outcome);
    Ok(())
}

/// Prepares a NIC.
fn plan(
    arguments: &FabricArguments,
    (name, nic): (&str, &topology::NicConfig),
    config: &NicConfig,
    programs: &Programs,
    parts: Option<&output::Parts>,
) -> Result<Plan, Failure> {
    let application = match nic.application {
        true => Some(Application::at(bind(arguments.sockets()?, name)?, nic.when_gone)),
        false => None,
    };
    let handlers = programs.of(nic);
    let options = Options {
        trace: parts.map(|parts| parts.part(nic.number, name)),
        progress: ShowProgress::No,
        messages: Box::new(Named(format!("{name}: "), io::stderr())),
        ..Options::default()
    };
    let program = handlers.as_ref().map(|handlers| &handlers.program);
    Ok(Plan {
        config: config.clone(),
        address: Address {
            mac: nic.mac(),
            ip: nic.ip(),
        },
        application,
        transmit: transmit(name, nic)?,
        tap: nic.tap.clone(),
        recorder: Recorder::new(options, program, config).map_err(Failure::usage)?,
        // Applications check the errors of their own handlers.
        fails_with_handlers: handlers.is_some() && !arguments.allow_faults,
        handlers,
    })
}

fn bind(folder: &Path, name: &str) -> Result<Server, Failure> {
    let socket = folder.join(name);
    let bound = std::fs::create_dir_all(folder).and_then(|()| Server::bind(&socket));
    let bound = bound.with_context(|| format!("cannot listen at {}", socket.display()));
    bound.map_err(|error| Failure::Usage(anyhow!("{error:#}")))
}

/// The frames of the host of a NIC, with the NIC's own addresses as the sender's.
fn transmit(name: &str, nic: &topology::NicConfig) -> Result<Option<Generator>, Failure> {
    let Some(text) = &nic.transmit else {
        return Ok(None);
    };
    let recipe: Result<Recipe, _> = text.parse();
    let mut recipe =
        recipe.map_err(|error| Failure::Usage(anyhow!("{name}: transmit = \"{text}\": {error}")))?;
    if !text.contains("smac=") {
        recipe.smac = nic.mac();
    }
    if !text.contains("src=") {
        recipe.src = nic.ip();
    }
    if let Some(to) = nic.to {
        recipe.mac = mac_of(to);
        recipe.dst = ip_of(to);
    }
    Ok(Some(Generator::new(recipe).starting_at(nic.after_ps)))
}

fn tell_where(arguments: &FabricArguments, plans: &HashMap<usize, Plan>) {
    let waiting = plans.values().filter(|plan| plan.application.is_some()).count();
    if let (Some(folder), 1..) = (&arguments.sockets, waiting) {
        let folder = folder.display();
        tell(format_args!(
            "{waiting} NICs wait for applications at unix:{folder}/NAME; simulated time starts when all are connected"
        ));
    }
}

/// Observer of the fabric.
struct Look {
    interrupt: Interrupt,
    /// A host is this machine, so simulated time must not run ahead of real time.
    is_live: bool,
    begun: Instant,
}

impl Look {
    fn new(interrupt: Interrupt, topology: &Topology) -> Self {
        Self {
            interrupt,
            is_live: topology.nics().any(|(_, _, nic)| nic.tap.is_some()),
            begun: Instant::now(),
        }
    }
}

impl Observer for Look {
    fn is_over(&mut self) -> bool {
        self.interrupt.is_set()
    }

    fn held(&mut self, by: &[(&str, ExternalWait)]) {
        for (why, what) in [
            (ExternalWait::ApplicationToConnect, "no application has opened"),
            (
                ExternalWait::ApplicationToAct,
                "simulated time waits for the application of",
            ),
        ] {
            let names: Vec<&str> = by
                .iter()
                .filter(|(_, held)| *held == why)
                .map(|(name, _)| *name)
                .collect();
            if !names.is_empty() {
                tell(format_args!("{what} {}", names.join(", ")));
            }
        }
    }

    fn time(&mut self, to_ps: Ps) {
        if self.is_live {
            let due = self.begun + Duration::from_nanos(to_ps / 1000);
            match due.checked_duration_since(Instant::now()) {
                Some(ahead) => std::thread::sleep(ahead),
                // Lag of the simulation is not caught up.
                None => self.begun = Instant::now() - Duration::from_nanos(to_ps / 1000),
            }
        }
    }
}

/// Prefixes each message with a name.
struct Named<W>(String, W);

impl<W: Write> Write for Named<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.flush()
    }

    /// `writeln!` of a whole message ends here.
    fn write_fmt(&mut self, text: std::fmt::Arguments<'_>) -> io::Result<()> {
        self.1.write_all(format!("{}{text}", self.0).as_bytes())
    }
}
