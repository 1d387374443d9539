//! The report of a run: progress, messages, summary, traces and plots.
//!
//! ```text
//! main loop: frames, events of the cluster, counters
//!      |
//!      v
//!  Recorder -+-> Progress, messages about faults, lines of handlers      while it runs
//!            +-> Trace                                                   streamed to its file
//!            +-> Page                                                    to a browser, and saved at the end
//!            +-> Tally, Plot --- finish --> Summary: tables or JSON; SVG
//! ```
//!
//! No data is kept per completed packet: times go into histograms, curves are decimated, traces are
//! streamed. `docs/run/spinneret.md` describes the figures.
//!
//! ```
//! use spinneret_cluster::{Cluster, Event, digest};
//! use spinneret_nic::nic::NicConfig;
//! use spinneret_nic::report::{End, Options, Recorder};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = NicConfig::default();
//! let mut recorder = Recorder::new(Options::silent(), None, &config)?;
//! // The main loop tells what happens...
//! let ping = [0x5a; 98];
//! let handler = Some(0x1d00_0400);
//! recorder.received(1_000_000, &ping, handler);
//! let came = Event::Arrived { clock: 60, packet: 0, message: 0, size: 98, digest: digest(&ping), handler };
//! for event in [came, Event::Freed { clock: 100, packet: 0 }] {
//!     recorder.event(&event, |clock| clock * config.cluster_ps);
//! }
//! recorder.sent(2_400_000, ping.len(), false);
//! // ... and what it took, at the end.
//! let end = End { simulated_ps: 3_000_000, ..End::default() };
//! let finished = recorder.finish(&end, None);
//! assert!(finished.failures.is_empty());
//! assert_eq!(finished.summary.latencies.total_ns.map(|total| total.max), Some(1500));
//! print!("{}", finished.summary);
//! # Ok(())
//! # }
//! ```

mod fault_text;
mod faults;
mod options;
mod page;
mod pairing;
mod plot;
mod summary;
mod symbols;
mod tables;
mod tally;
mod trace;

pub use faults::{BrokenHpu, FaultKind};
pub use options::Options;
pub use page::PageOptions;
pub use summary::{
    ContextReport, Distribution, End, FORMAT, HandlerCounter, HandlerReport, Histogram, HpuReport, Latencies,
    Occupancy, StageReport, Summary, Time,
};
pub use symbols::{FunctionCost, LineCost, Place, ProfileReport, Symbols};
pub use tables::{Live, ShowProgress};
pub use tally::Traffic;
pub use trace::Call;

use crate::nic::NicConfig;
use faults::Faults;
use options::{Files, Messages};
use page::{Page, PageServer, Stage};
use pairing::{Destination, Pairing};
use spinneret_cluster::{Event, Profile, Program, Run, digest};
use spinneret_host::Lines;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use tables::Progress;
use tally::Tally;
use trace::{Packet, Parallel, Serial};

/// A packet in the cluster.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    /// Number of the frame, and its arrival time, if known.
    wire: Option<(u64, u64)>,
    came_ps: u64,
    packet: Packet,
    /// A handler has run on it.
    is_begun: bool,
}

/// Records a run. See the [module](self) for how it is used.
#[derive(Debug)]
pub struct Recorder {
    symbols: Symbols,
    pairing: Pairing,
    flights: HashMap<u64, InFlight>,
    tally: Tally,
    faults: Faults,
    console: Lines,
    progress: Progress,
    messages: Messages,
    files: Files,
    page: Option<Page>,
    config: NicConfig,
    host_data: Option<u32>,
}

/// The result of a run.
#[derive(Debug)]
pub struct Finished {
    /// All figures.
    pub summary: Summary,
    /// Files that could not be written.
    pub failures: Vec<ReportError>,
    page: Option<PageServer>,
}

impl Finished {
    /// Serves the page while a browser shows it, or until `is_over`.
    pub fn linger(&self, is_over: impl Fn() -> bool) {
        if let Some(page) = &self.page {
            page.linger(is_over);
        }
    }
}

impl Recorder {
    /// Starts to record; without a program, addresses are shown in place of names.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn new(options: Options, program: Option<&Program>, config: &NicConfig) -> Result<Self, ReportError> {
        Ok(Self {
            files: Files::create(&options, config)?,
            symbols: program.map_or_else(Symbols::none, Symbols::new),
            pairing: Pairing::default(),
            flights: HashMap::new(),
            tally: Tally::default(),
            faults: Faults::new(options.faults_in_full, &config.cluster),
            console: Lines::default(),
            progress: Progress::new(options.progress),
            page: Page::open(&options.page, config)?,
            messages: Messages::new(options.messages),
            config: config.clone(),
            host_data: program.and_then(|program| program.host_data),
        })
    }

    /// Where the counters of the program's handlers are, if it has any: the address of the variable `__host_data`.
    pub fn host_data(&self) -> Option<u32> {
        self.host_data
    }

    /// Where the page of the run is served, if it is.
    pub fn page_address(&self) -> Option<&str> {
        self.page.as_ref().and_then(Page::address)
    }

    /// Sets the program for names.
    pub fn add_program(&mut self, program: &Program) {
        self.symbols.add(program);
        self.host_data = program.host_data;
    }

    /// A frame was received from the wire; `handler` is set if it matches.
    pub fn received(&mut self, at_ps: u64, bytes: &[u8], handler: Option<u32>) {
        self.tally.matched(handler);
        let frame = self.pairing.came(at_ps, digest(bytes), handler);
        self.tally.wire_in.add(bytes.len());
        self.tally.begins(at_ps);
        self.passed(at_ps, Stage::WireIn);
        let packet = Packet::frame(Some(frame), bytes.len());
        self.files
            .trace(|trace| trace.pass(Serial::WireIn, at_ps, "frame", packet));
    }

    /// A frame went to the host: one that matched nothing, or one that a handler passed.
    pub fn to_host(&mut self, at_ps: u64, bytes: &[u8]) {
        let frame = self.pairing.went(Destination::Host, digest(bytes));
        if let Some((_, since_ps)) = frame {
            self.tally.bypass.add(at_ps.saturating_sub(since_ps) / 1000);
        } else {
            self.tally.passed.add(bytes.len());
        }
        self.tally.to_host.add(bytes.len());
        self.tally.ends(at_ps);
        self.passed(at_ps, Stage::ToHost);
        let packet = Packet::frame(frame.map(|(number, _)| number), bytes.len());
        let name = if frame.is_some() { "to host" } else { "passed" };
        self.files
            .trace(|trace| trace.pass(Serial::ToHost, at_ps, name, packet));
    }

    /// The host sends a frame.
    pub fn from_host(&mut self, at_ps: u64, bytes: usize) {
        self.tally.from_host.add(bytes);
        self.tally.begins(at_ps);
        let packet = Packet::frame(None, bytes);
        self.files
            .trace(|trace| trace.pass(Serial::FromHost, at_ps, "from host", packet));
    }

    /// A frame left for the wire: one of the host's, or a handler's.
    pub fn sent(&mut self, at_ps: u64, bytes: usize, is_host: bool) {
        let (traffic, name) = match is_host {
            true => (&mut self.tally.sent_host, "of the host"),
            false => (&mut self.tally.sent, "of a handler"),
        };
        traffic.add(bytes);
        self.tally.ends(at_ps);
        self.passed(at_ps, Stage::Sent);
        let packet = Packet::frame(None, bytes);
        self.files
            .trace(|trace| trace.pass(Serial::Egress, at_ps, name, packet));
    }

    /// A call of a handler to the host was answered.
    pub fn call(&mut self, call: &Call) {
        self.files.trace(|trace| trace.call(call));
    }

    /// An event of the cluster; `clock_to_ps` converts its clock.
    pub fn event(&mut self, event: &Event, clock_to_ps: impl Fn(u64) -> u64) {
        match *event {
            Event::Arrived {
                clock,
                packet,
                message,
                size,
                digest,
                handler,
            } => {
                self.tally.taken(handler);
                self.came(clock_to_ps(clock), packet, (message, size), digest);
            }
            Event::Finished(ref run) => self.ran(run, [run.begun, run.ended].map(clock_to_ps)),
            Event::Moved { message, path, bytes } => self.tally.moved(message, path, bytes),
            Event::Freed { clock, packet } => self.freed(clock_to_ps(clock), packet),
            Event::Failed(ref fault) => {
                let text = self.faults.failed(fault, &self.symbols);
                self.say(text);
            }
            Event::Refused(ref fault) => {
                let text = self.faults.refused(fault, &self.symbols);
                self.say(text);
            }
            Event::Halted { hpu, trap, pc } => {
                let text = self.faults.broken(hpu, trap, pc, &self.symbols);
                self.say(Some(text));
            }
        }
    }

    /// Current counters of the hardware, such as `ingress.matched`; the last call counts.
    pub fn counters(&mut self, counters: &[(String, u64)]) {
        self.tally.counters = counters.iter().cloned().collect();
    }

    /// A sample of the fill levels of the NIC.
    pub fn occupancy(&mut self, at_ps: u64, occupancy: &Occupancy) {
        self.files.trace(|trace| trace.occupancy(at_ps, occupancy));
        self.files.plot(|plot| plot.occupancy(at_ps, occupancy));
        if let Some(page) = &mut self.page {
            page.timeline().occupancy(at_ps, occupancy);
        }
    }

    /// Whether [`occupancy`](Self::occupancy) is used.
    pub fn wants_occupancy(&self) -> bool {
        self.files.is_any() || self.page.is_some()
    }

    /// A word of the standard output of handlers.
    pub fn stdout(&mut self, word: u32) {
        let line = self.console.word(word);
        self.say(line.map(|line| line.to_string()));
    }

    /// Shows progress, if it is due; `live` is called only then.
    pub fn progress(&mut self, live: impl FnOnce() -> Live) {
        if self.progress.is_due() {
            self.progress.show(&live(), &self.tally.counts());
        }
    }

    /// Updates the page, if a browser waits for it; `end` is called only then.
    pub fn watch(&mut self, end: impl FnOnce() -> End) {
        if self.page.as_ref().is_some_and(Page::is_due) {
            let summary = self.summary(&end());
            if let Some(page) = &mut self.page {
                page.publish(&summary);
            }
        }
    }

    /// Everything so far.
    fn summary(&self, end: &End) -> Summary {
        let troubles = self.faults.troubles();
        Summary {
            faults: troubles.faults,
            refusals: troubles.refusals,
            broken: troubles.broken,
            ..self
                .tally
                .summary(end, &self.config, &self.symbols, self.pairing.dropped())
        }
    }

    /// Completes files and returns the summary. `profile` is that of the cluster, if enabled.
    pub fn finish(mut self, end: &End, profile: Option<&Profile>) -> Finished {
        for line in self.console.rest() {
            self.say(Some(line.to_string()));
        }
        self.progress.finish();
        let mut summary = self.summary(end);
        summary.profile = profile.map(|profile| ProfileReport::new(profile, &self.symbols));
        let mut failures = self.files.finish();
        let (failure, page) = self.page.map_or((None, None), |page| page.finish(&summary));
        failures.extend(failure);
        Finished {
            summary,
            failures,
            page,
        }
    }

    fn came(&mut self, at_ps: u64, packet: u64, (message, size): (u32, u32), digest: u64) {
        let wire = self.pairing.went(Destination::Cluster, digest);
        let slice = Packet {
            frame: wire.map(|(frame, _)| frame),
            packet: Some(packet),
            message: Some(message),
            bytes: size.into(),
        };
        self.tally.came.add(size as usize);
        self.passed(at_ps, Stage::Taken);
        if let Some((_, since_ps)) = wire {
            self.tally.ingress.add(at_ps.saturating_sub(since_ps) / 1000);
            self.files
                .trace(|trace| trace.stay(Parallel::Ingress, [since_ps, at_ps], slice));
        }
        let flight = InFlight {
            wire,
            came_ps: at_ps,
            packet: slice,
            is_begun: false,
        };
        self.flights.insert(packet, flight);
    }

    fn ran(&mut self, run: &Run, times_ps: [u64; 2]) {
        let cycles = run.ended.saturating_sub(run.begun);
        self.tally.ran(run, cycles);
        let text = self.faults.ended(run, &self.symbols);
        self.say(text);
        let mut slice = Packet {
            frame: None,
            packet: Some(run.packet),
            message: Some(run.message),
            bytes: run.size.into(),
        };
        if let Some(flight) = self.flights.get_mut(&run.packet) {
            slice = flight.packet;
            if !std::mem::replace(&mut flight.is_begun, true) {
                let waited = [flight.came_ps, times_ps[0]];
                self.tally.queue.add(waited[1].saturating_sub(waited[0]) / 1000);
                self.files
                    .trace(|trace| trace.stay(Parallel::Queue, waited, slice));
            }
        }
        self.files.plot(|plot| plot.handler(times_ps[1], cycles));
        if let Some(page) = &mut self.page {
            let hpu = run.hpu.cluster * self.config.cluster.hpus + run.hpu.core;
            page.timeline().ran(hpu, times_ps);
        }
        let symbols = &self.symbols;
        self.files.trace(|trace| {
            let name = symbols.name(run.handler);
            trace.handler(run.hpu, times_ps, &name, slice, (cycles, run.ending.to_string()))
        });
    }

    fn freed(&mut self, at_ps: u64, packet: u64) {
        self.tally.freed += 1;
        self.tally.ends(at_ps);
        self.passed(at_ps, Stage::Freed);
        let Some(flight) = self.flights.remove(&packet) else {
            return;
        };
        if !flight.is_begun {
            let stay = [flight.came_ps, at_ps];
            self.files
                .trace(|trace| trace.stay(Parallel::Queue, stay, flight.packet));
        }
        if let Some((_, since_ps)) = flight.wire {
            let latency_ps = at_ps.saturating_sub(since_ps);
            self.tally.total.add(latency_ps / 1000);
            self.files.plot(|plot| plot.latency(at_ps, latency_ps));
            if let Some(page) = &mut self.page {
                page.timeline().latency(at_ps, latency_ps);
            }
        }
    }

    /// A packet passed a point of the NIC.
    fn passed(&mut self, at_ps: u64, stage: Stage) {
        if let Some(page) = &mut self.page {
            page.timeline().passed(at_ps, stage);
        }
    }

    /// Shows no progress any more, so that others may tell something.
    pub fn end_progress(&self) {
        self.progress.finish();
    }

    /// Tells the user something, without disturbing the progress.
    fn say(&mut self, text: Option<String>) {
        if let Some(text) = text {
            if let Some(page) = &mut self.page {
                page.line(&text);
            }
            self.progress.aside(|| self.messages.write(&text));
        }
    }
}

/// Why a file of a record is not there.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// It cannot be written.
    #[error("the {what} cannot be written to {path}: {source}")]
    Write {
        /// Trace, plot or report.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The page cannot be served.
    #[error(
        "cannot serve the page at port {port} of localhost: {source}; use another port, or no number for a free one"
    )]
    Page {
        /// Opens the port, if one was given.
        port: u16,
        /// The reason.
        source: io::Error,
    },
    /// The picture cannot be drawn.
    #[error("the plot for {path} cannot be drawn: {reason}")]
    Draw {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl ReportError {
    fn write(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Write {
            what,
            path: path.to_owned(),
            source,
        }
    }
}
