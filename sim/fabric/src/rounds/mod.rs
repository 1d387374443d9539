//! Rounds: everybody goes on to the same moment, and what was sent meanwhile is exchanged.

pub(crate) mod crew;
mod gather;
mod local;

use crate::capture::{Capture, Passed};
use crate::meeting::{Left, Outside};
use crate::number::Way;
use crate::port::Port;
use crate::ranks::{Own, Ranks, RanksError};
use crate::report::{Report, Sample};
use crate::topology::{NicConfig, Topology};
use crate::{Delivery, Ps};
use crew::Crew;
use local::Local;
use spinneret_packets::capture::CaptureError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a NIC may wait for somebody outside before it is named.
const PATIENCE: Duration = Duration::from_secs(2);

/// What runs a NIC; it has the port from the NIC's time 0 on until the NIC is gone.
pub type Member<'m> = Box<dyn FnOnce(Port) -> Result<(), Left> + Send + 'm>;

/// How a fabric is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// NICs that run at once in this process.
    pub threads: usize,
    /// When it ends, if nothing else ends it.
    pub until_ps: Ps,
    /// Between two samples of all queues, if they are wanted.
    pub sample_ps: Option<Ps>,
}

impl Default for Settings {
    /// One NIC at once, without an end and without samples.
    fn default() -> Self {
        Self {
            threads: 1,
            until_ps: Ps::MAX,
            sample_ps: None,
        }
    }
}

/// Who looks at a fabric from outside while it runs.
pub trait Watch {
    /// Whether somebody wants an end.
    fn is_over(&mut self) -> bool {
        false
    }

    /// These NICs hold all others, because they wait for somebody outside.
    fn held(&mut self, by: &[(&str, Outside)]) {
        let _ = by;
    }

    /// Time goes on to that moment.
    fn time(&mut self, to_ps: Ps) {
        let _ = to_ps;
    }
}

/// Nobody looks.
impl Watch for () {}

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
    /// Another process has failed, and has said why.
    #[error("another rank has failed")]
    Elsewhere,
}

/// Simulates a fabric, or the part of it that is this rank's. `member` gives who runs a NIC of this rank.
///
/// What comes back is the report of all ranks at the first, and of this one at the others.
///
/// # Errors
/// If a NIC, a capture or another rank fails.
pub fn run<'m>(
    topology: &Topology,
    settings: Settings,
    ranks: &mut dyn Ranks,
    watch: &mut dyn Watch,
    mut member: impl FnMut(&str, &NicConfig) -> Member<'m>,
) -> Result<Report, FabricError> {
    let mut local = Local::new(topology, ranks.rank(), ranks.size());
    let crew = Arc::new(Crew::new(local.nics().len(), settings.threads));
    let failures = Mutex::new(Vec::new());
    let captures = captures(topology, &local).map_err(FabricError::NoCapture)?;
    let (ended, captures) = std::thread::scope(|scope| {
        for (place, node) in local.nics().iter().enumerate() {
            let (name, config) = local.nic(*node);
            let (member, name) = (member(name, config), name.to_owned());
            let (cable, notes) = local.cable(*node);
            let port = Port::new(place, Arc::clone(&crew), cable, notes);
            let (crew, failures) = (&crew, &failures);
            let work = move || {
                if crew.begin().is_ok()
                    && let Err(Left::Failed(why)) = member(port)
                {
                    let mut failures = failures.lock().unwrap_or_else(PoisonError::into_inner);
                    failures.push(FabricError::Nic { nic: name, why });
                    crew.stop();
                }
            };
            std::thread::Builder::new()
                .name(format!("nic {place}"))
                .spawn_scoped(scope, work)
                .unwrap_or_else(|error| panic!("a thread for a NIC cannot be started: {error}"));
        }
        let mut rounds = Rounds {
            crew: &crew,
            settings,
            local: &mut local,
            captures,
            report: Report::default(),
            next_sample_ps: 0,
            outgoing: (0..ranks.size()).map(|_| Vec::new()).collect(),
        };
        let ended = rounds.go(ranks, watch);
        crew.stop();
        let Rounds { captures, report, .. } = rounds;
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
    local.take(crew.gather(|_| {}), &mut |_| {});
    captures
        .into_iter()
        .try_for_each(|(_, capture)| capture.finish())?;
    if is_elsewhere {
        return Err(FabricError::Elsewhere);
    }
    local.report(&mut report);
    gather::gather(ranks, topology, report)
}

/// Captures of nodes of this rank.
fn captures(topology: &Topology, local: &Local<'_>) -> Result<Vec<(Way, Capture)>, CaptureError> {
    let here = topology.captures.iter().filter(|capture| local.has(capture.node));
    let captures = here.map(|config| {
        let ends = topology.cables[config.cable].ends;
        let way = Way {
            cable: config.cable as u32,
            from: u8::from(ends[1] == config.node),
        };
        Ok((way, Capture::create(config)?))
    });
    captures.collect()
}

/// Rounds of this rank.
struct Rounds<'r, 't> {
    crew: &'r Crew,
    settings: Settings,
    local: &'r mut Local<'t>,
    /// Each with the direction of the cable that leaves from where it is.
    captures: Vec<(Way, Capture)>,
    report: Report,
    next_sample_ps: Ps,
    /// Frames for other ranks.
    outgoing: Vec<Vec<Delivery>>,
}

impl Rounds<'_, '_> {
    /// Until nothing happens any more, or somebody wants an end: whether that is somebody else.
    fn go(&mut self, ranks: &mut dyn Ranks, watch: &mut dyn Watch) -> Result<bool, FabricError> {
        let lookahead_ps = self.local.topology().lookahead_ps();
        loop {
            self.wait_for_crew(watch);
            let is_over = self.crew.is_stopped() || watch.is_over();
            let outgoing: Vec<_> = self.outgoing.iter_mut().map(std::mem::take).collect();
            let met = ranks.meet(Own {
                next_ps: self.next_ps(&outgoing),
                is_over,
                frames: outgoing,
            })?;
            if met.is_over {
                return Ok(!is_over);
            }
            for delivery in met.frames {
                self.local.arrive(delivery);
            }
            if met.next_ps == Ps::MAX || met.next_ps >= self.settings.until_ps {
                return Ok(false);
            }
            self.round(met.next_ps, met.next_ps + lookahead_ps)?;
            watch.time(met.next_ps);
        }
    }

    /// Waits until all NICs have come as far as they may, and takes what they have sent.
    fn wait_for_crew(&mut self, watch: &mut dyn Watch) {
        let mut named = false;
        let names = self.local.names();
        let told = self.crew.gather(|outside| {
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
                self.crew.stop();
            }
        });
        let captures = &mut self.captures;
        let sent = self.local.take(told, &mut |passed| note(captures, passed));
        self.pass_on(sent);
    }

    /// Frames to where they go.
    fn pass_on(&mut self, sent: Vec<Delivery>) {
        for delivery in sent {
            match self.local.rank_of(&delivery) {
                None => self.local.arrive(delivery),
                Some(rank) => self.outgoing[rank].push(delivery),
            }
        }
    }

    /// When something happens next, here or by what goes to others.
    fn next_ps(&self, outgoing: &[Vec<Delivery>]) -> Ps {
        let sent = outgoing
            .iter()
            .flatten()
            .map(|delivery| self.local.seen_ps(delivery));
        sent.chain([self.local.next_ps()]).min().unwrap_or(Ps::MAX)
    }

    /// Lets everybody go on who has something to do before `until_ps`.
    fn round(&mut self, from_ps: Ps, until_ps: Ps) -> Result<(), FabricError> {
        self.report.rounds += 1;
        self.report.time_ps = from_ps;
        self.captures
            .iter_mut()
            .try_for_each(|(_, capture)| capture.write(from_ps))?;
        self.sample(from_ps);
        let captures = &mut self.captures;
        let sent = self
            .local
            .run_switches(until_ps, &mut |passed| note(captures, passed));
        self.pass_on(sent);
        let captures = &mut self.captures;
        let grants = self.local.grants(until_ps, &mut |passed| note(captures, passed));
        self.crew.grant(grants);
        Ok(())
    }

    fn sample(&mut self, at_ps: Ps) {
        let Some(every_ps) = self.settings.sample_ps else {
            return;
        };
        if at_ps >= self.next_sample_ps {
            self.next_sample_ps = at_ps + every_ps;
            let (ports, nics) = (self.local.queues(at_ps), self.local.came());
            self.report.samples.push(Sample { at_ps, ports, nics });
        }
    }
}

/// Notes a frame where somebody wants it.
fn note(captures: &mut [(Way, Capture)], passed: Passed<'_>) {
    let here = captures.iter_mut().filter(|(at, _)| *at == passed.way);
    here.for_each(|(_, capture)| capture.note(passed));
}
