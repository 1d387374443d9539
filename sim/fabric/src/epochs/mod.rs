//! Lockstep epochs: all nodes simulate to the same time, then exchange frames.

mod partition;
pub(crate) mod workers;

use crate::cable::LinkDirection;
use crate::capture::{Capture, Passed};
use crate::port::Port;
use crate::ranks::{Local, Ranks, RanksError};
use crate::report::{Report, Sample};
use crate::topology::{NicConfig, Topology};
use crate::{Delivery, ExternalWait, NodeExit, Ps};
use partition::Partition;
use spinneret_packets::capture::CaptureError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use workers::WorkerPool;

/// Time a NIC may wait for its application before the others report that it blocks them.
const PATIENCE: Duration = Duration::from_secs(2);

/// Code that drives a NIC through its port, from time 0 to the end.
pub type NodeTask<'m> = Box<dyn FnOnce(Port) -> Result<(), NodeExit> + Send + 'm>;

/// How a fabric is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// NICs that run at once in this process.
    pub threads: usize,
    /// End of the simulation, unless it stops earlier.
    pub until_ps: Ps,
    /// Between two samples of all queues, if they are wanted.
    pub sample_ps: Option<Ps>,
}

impl Default for Settings {
    /// One NIC at a time, no end, no samples.
    fn default() -> Self {
        Self {
            threads: 1,
            until_ps: Ps::MAX,
            sample_ps: None,
        }
    }
}

/// Observes a fabric while it runs.
pub trait Observer {
    /// Returns whether to stop.
    fn is_over(&mut self) -> bool {
        false
    }

    /// Called when these NICs block all others, because they wait for something outside of the simulation.
    fn held(&mut self, by: &[(&str, ExternalWait)]) {
        let _ = by;
    }

    /// Called when time advances.
    fn time(&mut self, to_ps: Ps) {
        let _ = to_ps;
    }
}

/// No observer.
impl Observer for () {}

/// Why a fabric does not go on.
#[derive(Debug, thiserror::Error)]
pub enum FabricError {
    /// A NIC has failed.
    #[error("{nic}: {why}")]
    Nic {
        /// Its name.
        nic: String,
        /// Why, as a sentence.
        why: String,
    },
    /// A capture cannot be begun, and nothing was simulated.
    #[error("{0}")]
    NoCapture(CaptureError),
    /// A capture cannot be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Other processes.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// Another process failed and has reported why.
    #[error("another rank has failed")]
    Elsewhere,
}

/// Simulates a fabric, or the part of it that belongs to this rank. `member` returns the code that drives a NIC.
///
/// The first rank returns the report of all ranks; every other rank returns its own.
///
/// # Errors
/// If a NIC, a capture or another rank fails.
pub fn run<'m>(
    topology: &Topology,
    settings: Settings,
    ranks: &mut dyn Ranks,
    watch: &mut dyn Observer,
    mut member: impl FnMut(&str, &NicConfig) -> NodeTask<'m>,
) -> Result<Report, FabricError> {
    let mut partition = Partition::new(topology, ranks.rank(), ranks.size());
    let pool = Arc::new(WorkerPool::new(partition.nics().len(), settings.threads));
    let failures = Mutex::new(Vec::new());
    let captures = captures(topology, &partition).map_err(FabricError::NoCapture)?;
    let (ended, captures) = std::thread::scope(|scope| {
        for (place, node) in partition.nics().iter().enumerate() {
            let (name, config) = partition.nic(*node);
            let (member, name) = (member(name, config), name.to_owned());
            let (cable, notes) = partition.cable(*node);
            let port = Port::new(place, Arc::clone(&pool), cable, notes);
            let (pool, failures) = (&pool, &failures);
            let work = move || {
                if pool.begin().is_ok()
                    && let Err(NodeExit::Failed(why)) = member(port)
                {
                    let mut failures = failures.lock().unwrap_or_else(PoisonError::into_inner);
                    failures.push(FabricError::Nic { nic: name, why });
                    pool.stop();
                }
            };
            std::thread::Builder::new()
                .name(format!("nic {place}"))
                .spawn_scoped(scope, work)
                .unwrap_or_else(|error| panic!("a thread for a NIC cannot be started: {error}"));
        }
        let mut rounds = EpochLoop {
            pool: &pool,
            settings,
            partition: &mut partition,
            captures,
            report: Report::default(),
            next_sample_ps: 0,
            outgoing: (0..ranks.size()).map(|_| Vec::new()).collect(),
        };
        let ended = rounds.go(ranks, watch);
        pool.stop();
        let EpochLoop { captures, report, .. } = rounds;
        (ended.map(|ended| (ended, report)), captures)
    });
    let failure = failures
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .into_iter()
        .next();
    let (is_elsewhere, mut report) = match (ended, failure) {
        (_, Some(failure)) | (Err(failure), None) => return Err(failure),
        (Ok(ended), None) => ended,
    };
    partition.take(pool.gather(|_| {}), &mut |_| {});
    captures
        .into_iter()
        .try_for_each(|(_, capture)| capture.finish())?;
    if is_elsewhere {
        return Err(FabricError::Elsewhere);
    }
    partition.report(&mut report);
    partition::gather(ranks, topology, report)
}

/// Captures of nodes of this rank.
fn captures(
    topology: &Topology,
    partition: &Partition<'_>,
) -> Result<Vec<(LinkDirection, Capture)>, CaptureError> {
    let here = topology
        .captures
        .iter()
        .filter(|capture| partition.has(capture.node));
    let captures = here.map(|config| {
        let ends = topology.cables[config.cable].ends;
        let direction = LinkDirection {
            cable: config.cable as u32,
            from: u8::from(ends[1] == config.node),
        };
        Ok((direction, Capture::create(config)?))
    });
    captures.collect()
}

/// EpochLoop of this rank.
struct EpochLoop<'r, 't> {
    pool: &'r WorkerPool,
    settings: Settings,
    partition: &'r mut Partition<'t>,
    /// Each with the direction of the cable that leaves from where it is.
    captures: Vec<(LinkDirection, Capture)>,
    report: Report,
    next_sample_ps: Ps,
    /// Frames for other ranks.
    outgoing: Vec<Vec<Delivery>>,
}

impl EpochLoop<'_, '_> {
    /// Runs until no event is left or an observer or rank stops the simulation. Returns whether another rank stopped it.
    fn go(&mut self, ranks: &mut dyn Ranks, watch: &mut dyn Observer) -> Result<bool, FabricError> {
        let lookahead_ps = self.partition.topology().lookahead_ps();
        loop {
            self.wait_for_pool(watch);
            let is_over = self.pool.is_stopped() || watch.is_over();
            let outgoing: Vec<_> = self.outgoing.iter_mut().map(std::mem::take).collect();
            let met = ranks.exchange(Local {
                next_ps: self.next_ps(&outgoing),
                is_over,
                frames: outgoing,
            })?;
            if met.is_over {
                return Ok(!is_over);
            }
            for delivery in met.frames {
                self.partition.arrive(delivery);
            }
            if met.next_ps == Ps::MAX || met.next_ps >= self.settings.until_ps {
                return Ok(false);
            }
            self.round(met.next_ps, met.next_ps + lookahead_ps)?;
            watch.time(met.next_ps);
        }
    }

    /// Waits until all NICs reach their horizon, and collects the frames they sent.
    fn wait_for_pool(&mut self, watch: &mut dyn Observer) {
        let mut named = false;
        let names = self.partition.names();
        let told = self.pool.gather(|outside| {
            let is_late = |since: Instant| since.elapsed() >= PATIENCE;
            let out = || {
                outside
                    .iter()
                    .zip(&names)
                    .filter_map(|(outside, name)| Some((name, (*outside)?)))
            };
            if !named && out().any(|(_, (_, since))| is_late(since)) {
                let all: Vec<_> = out().map(|(name, (why, _))| (&**name, why)).collect();
                watch.held(&all);
                named = true;
            }
            if watch.is_over() {
                self.pool.stop();
            }
        });
        let captures = &mut self.captures;
        let sent = self.partition.take(told, &mut |passed| note(captures, passed));
        self.pass_on(sent);
    }

    /// Frames to where they go.
    fn pass_on(&mut self, sent: Vec<Delivery>) {
        for delivery in sent {
            match self.partition.rank_of(&delivery) {
                None => self.partition.arrive(delivery),
                Some(rank) => self.outgoing[rank].push(delivery),
            }
        }
    }

    /// Returns the time of the next event, here or caused by frames to other ranks.
    fn next_ps(&self, outgoing: &[Vec<Delivery>]) -> Ps {
        let sent = outgoing
            .iter()
            .flatten()
            .map(|delivery| self.partition.seen_ps(delivery));
        sent.chain([self.partition.next_ps()]).min().unwrap_or(Ps::MAX)
    }

    /// Lets all nodes with an event before `until_ps` proceed.
    fn round(&mut self, from_ps: Ps, until_ps: Ps) -> Result<(), FabricError> {
        self.report.rounds += 1;
        self.report.time_ps = from_ps;
        self.captures
            .iter_mut()
            .try_for_each(|(_, capture)| capture.write(from_ps))?;
        self.sample(from_ps);
        let captures = &mut self.captures;
        let sent = self
            .partition
            .run_switches(until_ps, &mut |passed| note(captures, passed));
        self.pass_on(sent);
        let captures = &mut self.captures;
        let grants = self
            .partition
            .grants(until_ps, &mut |passed| note(captures, passed));
        self.pool.grant(grants);
        Ok(())
    }

    fn sample(&mut self, at_ps: Ps) {
        let Some(every_ps) = self.settings.sample_ps else {
            return;
        };
        if at_ps >= self.next_sample_ps {
            self.next_sample_ps = at_ps + every_ps;
            let (ports, nics) = (self.partition.queues(at_ps), self.partition.came());
            self.report.samples.push(Sample { at_ps, ports, nics });
        }
    }
}

/// Passes a frame to the captures of its direction.
fn note(captures: &mut [(LinkDirection, Capture)], passed: Passed<'_>) {
    let here = captures.iter_mut().filter(|(at, _)| *at == passed.direction);
    here.for_each(|(_, capture)| capture.note(passed));
}
