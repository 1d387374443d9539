//! Runs for a program in the same process: it gives packets and takes what comes out, and has the NIC's memory afterwards.

use super::handlers::{HOST_BYTES, contexts_of, contexts_on, names};
use super::host::{HostProgram, HostStep};
use super::session::Session;
use super::setup::{PacketIo, Setup};
use super::{HardwareArguments, setup};
use crate::device::Simulated;
use crate::net::{Interrupt, Sink, Source};
use crate::nic::NicConfig;
use crate::report::{Options, Recorder, ShowProgress, Summary};
use crate::terminal::Files;
use anyhow::{Result, anyhow, ensure};
use spinneret_cluster::Program;
use spinneret_host::Context;
use spinneret_rules::{MatcherParams, RuleFile};
use std::collections::BTreeMap;
use std::io;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All figures.
    pub summary: Summary,
    /// Output of handlers and messages about faults, as on standard error of the command.
    pub messages: String,
}

/// A NIC for a program in the same process.
#[derive(Debug)]
pub struct Embedded {
    nic: Simulated,
    /// The NIC for programs of several owners.
    shared: Option<spinneret_host::Nic<Simulated>>,
    config: NicConfig,
    /// Programs that were loaded, for names in reports.
    programs: Vec<Program>,
    /// Counters of the hardware before the run.
    counted: BTreeMap<String, u64>,
    is_broken: bool,
}

/// Handlers of an owner: the file or folder, a rule file if it is not the one in the folder, and the name of handlers for rulesets without one.
#[derive(Clone, Copy, Debug)]
pub struct HandlerFiles<'f> {
    /// Folder or ELF file.
    pub target: &'f Path,
    /// Rules.
    pub rules: Option<&'f Path>,
    /// Handlers.
    pub handler: Option<&'f str>,
}

impl HandlerFiles<'_> {
    /// Builds and reads them.
    fn read(&self, config: &NicConfig) -> Result<(Program, RuleFile)> {
        let rules = setup::rules_of(self.target, self.rules);
        let (_, program) =
            setup::handlers(self.target, config, Files::default()).map_err(|failure| anyhow!("{failure}"))?;
        let rules = RuleFile::read(&rules, &MatcherParams::BOARD)?;
        names(&program, &rules.rulesets, self.handler)?;
        Ok((program, rules))
    }
}

impl Embedded {
    /// A NIC whose handlers are of one program, and its contexts, one for each ruleset.
    ///
    /// # Errors
    /// If something is missing, or the handlers do not start; the message has what they said.
    pub fn open(
        files: HandlerFiles<'_>,
        hardware: &HardwareArguments,
    ) -> Result<(Self, Vec<Context<Simulated>>)> {
        let config = setup::config(hardware).map_err(|failure| anyhow!("{failure}"))?;
        let (program, rules) = files.read(&config)?;
        let embedded = Self::on(config, |_| Ok(None))?;
        let nic = &embedded.nic;
        let contexts = contexts_on(nic, &program, &rules.rulesets, files.handler)
            .map_err(anyhow::Error::from)
            .and_then(|contexts| setup::wait_for_hpus(nic).map(|()| contexts));
        let contexts = contexts.or_else(|error| {
            let messages = Messages::default();
            let mut recorder = Recorder::new(messages.options(), Some(&program), &embedded.config)?;
            setup::tell_start(nic, &mut recorder);
            Err(anyhow!("{error}\n{}", messages.text()))
        })?;
        Ok((embedded, contexts))
    }

    /// A NIC without handlers, for programs of several owners.
    ///
    /// # Errors
    /// If the hardware fails.
    pub fn shared(hardware: &HardwareArguments) -> Result<Self> {
        let config = setup::config(hardware).map_err(|failure| anyhow!("{failure}"))?;
        Self::on(config, |nic| Ok(Some(spinneret_host::Nic::shared(nic)?)))
    }

    fn on(
        config: NicConfig,
        share: impl FnOnce(Simulated) -> Result<Option<spinneret_host::Nic<Simulated>>>,
    ) -> Result<Self> {
        let nic = Simulated::new(config.clone())?;
        Ok(Self {
            shared: share(nic.clone())?,
            nic,
            config,
            programs: Vec::new(),
            counted: BTreeMap::new(),
            is_broken: false,
        })
    }

    /// Opens contexts of another program, one for each ruleset, while those of others are there.
    ///
    /// # Errors
    /// The NIC was opened for one program, has no room, or something is missing.
    pub fn add(&self, files: HandlerFiles<'_>) -> Result<Vec<Context<Simulated>>> {
        let nic = self.shared.as_ref().ok_or_else(|| {
            anyhow!(
                "this NIC has handlers of its own: create one without handlers, and open each program on it"
            )
        })?;
        let (program, rules) = files.read(&self.config)?;
        let options = spinneret_host::Options {
            host_bytes: HOST_BYTES,
            ..spinneret_host::Options::default()
        };
        Ok(contexts_of(
            &nic.another_owner(),
            &program,
            &rules.rulesets,
            files.handler,
            &options,
        )?)
    }

    /// The NIC.
    pub fn nic(&self) -> &Simulated {
        &self.nic
    }

    /// Lets packets come until there are no more, and all is done with. Frames that leave for the wire and those that go to the
    /// host have a sink each; `goes_on` is asked now and then. Times are picoseconds since the run began.
    ///
    /// # Errors
    /// If source, sinks or `goes_on` refuse something, packets are stuck, or the hardware fails. No other run is possible then.
    pub fn run(
        &mut self,
        source: Box<dyn Source>,
        [wire, host]: [Box<dyn Sink>; 2],
        goes_on: impl FnMut() -> Result<()> + 'static,
    ) -> Result<Outcome> {
        ensure!(
            !self.is_broken,
            "this NIC still holds packets of an aborted run: create a new one"
        );
        self.is_broken = true;
        let messages = Messages::default();
        self.programs.extend(self.nic.borrow_mut().take_loaded());
        let mut recorder = Recorder::new(messages.options(), None, &self.config)?;
        self.programs
            .iter()
            .for_each(|program| recorder.add_program(program));
        let setup = Setup {
            nic: self.nic.clone(),
            ends: PacketIo {
                wire: vec![wire],
                host: vec![host],
                ..PacketIo::new(source)
            },
            recorder,
            wave: None,
            gdb: None,
            host: Some(Box::new(PollHook(goes_on))),
        };
        let session = Session::new(setup, None, Interrupt::never()?).counting_from(self.counted.clone());
        let (finished, verdict) = session.through()?;
        verdict?;
        for (name, count) in &finished.summary.counters {
            *self.counted.entry(name.clone()).or_default() += count;
        }
        self.is_broken = false;
        Ok(Outcome {
            summary: finished.summary,
            messages: messages.text(),
        })
    }
}

/// Messages of a recorder, as text.
#[derive(Clone, Debug, Default)]
struct Messages(Arc<Mutex<Vec<u8>>>);

impl Messages {
    fn options(&self) -> Options {
        Options {
            progress: ShowProgress::No,
            messages: Box::new(self.clone()),
            ..Options::default()
        }
    }

    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Messages {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// PollHook the program now and then.
struct PollHook<F>(F);

impl<F: FnMut() -> Result<()>> HostProgram for PollHook<F> {
    fn poll(&mut self, _: &Simulated) -> Result<HostStep> {
        (self.0)().map(|()| HostStep::Idle)
    }
}
